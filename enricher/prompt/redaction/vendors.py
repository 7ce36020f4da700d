"""List the prefixes of vendors' tokens, one row for each kind of token, so that adding a vendor takes one line.

A row is (prefixes, kind, characters of the body, minimum length of the body).
"""

from __future__ import annotations

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DIGITS = b"0123456789"
ALNUM = DIGITS + _LETTERS
HEX = b"0123456789abcdefABCDEF"
HEX_DASH = HEX + b"-"
UPPER = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = b"0123456789abcdefghijklmnopqrstuvwxyz"
URL = ALNUM + b"_-"
DOTTED = URL + b"."
BASE64 = URL + b"+/=%"
HASH = ALNUM + b"./$=,+-_"


Row = tuple[bytes, str, bytes, int]


def _by_prefix(*rows: Row) -> list[Row]:
    """Return the given rows, split so that each row has only one prefix."""
    return [(prefix, kind, body, least) for prefixes, kind, body, least in rows for prefix in prefixes.split()]


ANYWHERE = _by_prefix(
    (b"ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", "github_token", URL, 12),
    (b"glpat-", "gitlab_token", DOTTED, 12),
    (b"xoxb- xoxp- xoxa- xoxe- xoxo- xoxr- xoxs- xapp-", "slack_token", URL, 8),
    (b"sk_live_ sk_test_ rk_live_ rk_test_", "stripe_key", URL, 8),
    (b"AGE-SECRET-KEY-1", "age_key", UPPER, 20),
)
"""Prefixes that occur in no ordinary word, so that a token is recognised even directly after other letters."""

AT_A_WORD = _by_prefix(
    (b"sk-ant-", "anthropic_key", URL, 10),
    (b"sk-proj- sk-svcacct-", "openai_key", URL, 16),
    (b"sk-admin-", "openai_key", URL, 20),
    (b"sess-", "openai_key", ALNUM, 40),
    (b"sk-or-v1-", "openrouter_key", HEX, 32),
    (b"sk-lf-", "langfuse_key", HEX_DASH, 32),
    (b"sk-helicone-", "helicone_key", URL, 20),
    (b"sk-", "openai_key", ALNUM, 14),
    (b"sk_", "elevenlabs_key", ALNUM, 32),
    (b"csk-", "cerebras_key", LOWER, 40),
    (b"xai-", "xai_key", ALNUM, 40),
    (b"pplx-", "perplexity_key", ALNUM, 32),
    (b"gsk_", "groq_key", ALNUM, 28),
    (b"r8_", "replicate_token", ALNUM, 30),
    (b"hf_ api_org_", "huggingface_token", ALNUM, 28),
    (b"nvapi-", "nvidia_key", URL, 40),
    (b"pcsk_", "pinecone_key", URL, 40),
    (b"lsv2_", "langsmith_key", URL, 32),
    (b"tvly-", "tavily_key", URL, 20),
    (b"jina_", "jina_key", ALNUM, 40),
    (b"fw_", "fireworks_key", ALNUM, 22),
    (b"tgp_v1_", "together_key", URL, 32),
    (b"pa-", "voyage_key", URL, 40),
    (b"e2b_", "e2b_key", HEX, 40),
    (b"fc-", "firecrawl_key", HEX, 32),
    (b"apify_api_", "apify_token", ALNUM, 30),
    (b"AIza", "google_key", URL, 30),
    (b"GOCSPX-", "google_key", URL, 16),
    (b"npm_", "npm_token", ALNUM, 30),
    (b"pypi-", "pypi_token", URL, 16),
    (b"rubygems_", "rubygems_key", HEX, 40),
    (b"cio", "crates_token", ALNUM, 32),
    (b"CLOJARS_", "clojars_token", HEX, 50),
    (b"oy2", "nuget_key", LOWER, 43),
    (b"dckr_pat_ dckr_oat_", "docker_token", URL, 16),
    (b"AKC", "artifactory_token", ALNUM, 40),
    (b"cmVmdGtu", "artifactory_token", ALNUM, 50),
    (b"whsec_", "stripe_key", BASE64, 16),
    (b"gldt- glrt- glrtr- glptt- glft- glimt- glagent- gloas- glffct- glsoat- glcbt-", "gitlab_token", DOTTED, 16),
    (b"GR1348941", "gitlab_token", URL, 20),
    (b"tskey-", "tailscale_key", URL, 24),
    (b"sntrys_", "sentry_token", BASE64, 40),
    (b"sntryu_", "sentry_token", HEX, 40),
    (b"glsa_", "grafana_token", URL, 32),
    (b"glc_ eyJrIjoi", "grafana_token", BASE64, 40),
    (b"NRAK-", "newrelic_key", UPPER, 24),
    (b"NRII- NRIQ- NRRA-", "newrelic_key", URL, 28),
    (b"ntn_ secret_", "notion_token", ALNUM, 40),
    (b"HRKU-", "heroku_key", URL, 32),
    (b"sbp_", "supabase_key", ALNUM, 36),
    (b"sb_secret_", "supabase_key", URL, 20),
    (b"figd_ figo_", "figma_token", URL, 32),
    (b"pul-", "pulumi_token", HEX, 40),
    (b"PMAK-", "postman_key", HEX_DASH, 50),
    (b"pscale_tkn_ pscale_pw_ pscale_oauth_", "planetscale_token", DOTTED, 28),
    (b"pat-na1- pat-na2- pat-eu1- pat-ap1-", "hubspot_token", HEX_DASH, 32),
    (b"xkeysib- xsmtpsib-", "brevo_key", URL, 64),
    (b"sqp_ squ_ sqa_", "sonar_token", HEX, 40),
    (b"shpat_ shpss_ shpca_ shppa_", "shopify_token", ALNUM, 28),
    (b"dop_v1_ doo_v1_ dor_v1_", "digitalocean_token", HEX, 32),
    (b"lin_api_ lin_oauth_", "linear_key", ALNUM, 24),
    (b"ATATT3 ATCTT3", "atlassian_token", BASE64, 24),
    (b"ATBB", "atlassian_token", ALNUM, 28),
    (b"sq0csp- sq0atp-", "square_key", URL, 16),
    (b"EAAA", "square_key", URL, 56),
    (b"EAA", "facebook_token", ALNUM, 100),
    (b"access-production- access-development- access-sandbox-", "plaid_token", HEX_DASH, 32),
    (b"shippo_live_ shippo_test_", "shippo_token", HEX, 40),
    (b"EZAK EZTK", "easypost_key", ALNUM, 54),
    (b"duffel_live_ duffel_test_", "duffel_token", BASE64, 40),
    (b"FLWSECK-", "flutterwave_key", URL, 32),
    (b"FLWSECK_TEST-", "flutterwave_key", URL, 12),
    (b"pdl_live_ pdl_sdbx_", "paddle_key", URL, 40),
    (b"rzp_live_ rzp_test_", "razorpay_key", ALNUM, 14),
    (b"re_", "resend_key", URL, 30),
    (b"CCIPAT_ CCIPRJ_", "circleci_token", URL, 40),
    (b"bkua_", "buildkite_token", HEX, 40),
    (b"nfp_", "netlify_token", ALNUM, 30),
    (b"rnd_", "render_key", ALNUM, 26),
    (b"fo1_", "fly_token", URL, 40),
    (b"sdk-", "launchdarkly_key", HEX_DASH, 36),
    (b"CFPAT-", "contentful_token", URL, 32),
    (b"tfp_", "typeform_token", URL, 40),
    (b"sgp_", "segment_token", URL, 40),
    (b"phx_ phs_", "posthog_key", ALNUM, 32),
    (b"dapi", "databricks_token", HEX, 32),
    (b"napi_", "neon_key", LOWER, 40),
    (b"pnu_", "prefect_key", ALNUM, 36),
    (b"dbtc_ dbtu_", "dbt_token", URL, 32),
    (b"ops_eyJ", "onepassword_token", URL, 100),
    (b"hcaik_ hcxik_", "honeycomb_key", LOWER, 50),
    (b"xaat- xapt-", "axiom_token", HEX_DASH, 36),
    (b"cu_", "checkly_key", HEX, 32),
    (b"rdme_", "readme_key", LOWER, 60),
    (b"tk-us-", "scalingo_token", URL, 40),
    (b"LTAI", "alibaba_key", ALNUM, 16),
    (b"AKID", "tencent_key", ALNUM, 32),
    (b"AQVN", "yandex_key", URL, 35),
    (b"y0_", "yandex_token", URL, 50),
    (b"AAAAAAAAAAAAAAAAAAAAA", "twitter_token", BASE64, 40),
    (b"secret-live- secret-test-", "stytch_secret", BASE64, 32),
    (b"nsec1", "nostr_key", LOWER, 58),
    (b"LS0tLS1CRUdJTiBSU0EgUFJJ LS0tLS1CRUdJTiBQUklWQVRF LS0tLS1CRUdJTiBFQyBQUklW", "private_key", BASE64, 40),
    (b"LS0tLS1CRUdJTiBPUEVOU1NI LS0tLS1CRUdJTiBFTkNSWVBU", "private_key", BASE64, 40),
)
"""Prefixes that ordinary names may have, too, so a token must begin with one and go on with random characters."""

WITH_A_SIGN = _by_prefix(
    (b"hvs. hvb. hvr.", "vault_token", URL, 24),
    (b"ya29.", "google_key", DOTTED, 20),
    (b"1//0", "google_key", URL, 40),
    (b"SG.", "sendgrid_key", DOTTED, 34),
    (b"dp.pt. dp.sa. dp.ct. dp.scim. dp.audit.", "doppler_token", URL, 40),
    (b"dp.st.", "doppler_token", DOTTED, 40),
    (b"dt0c01. dt0s01. dt0s02. dt0s16.", "dynatrace_token", DOTTED, 60),
    (b"sk.eyJ", "mapbox_token", DOTTED, 60),
    (b"sl.", "dropbox_token", URL, 100),
    (b"vk1.a.", "vk_token", URL, 60),
    (b"v1.0-", "cloudflare_key", HEX_DASH, 120),
    (b"access_token$production$ access_token$sandbox$", "braintree_token", LOWER + b"$", 40),
    (b"$1$ $apr1$", "password_hash", HASH, 24),
    (b"$2a$ $2b$ $2y$", "password_hash", HASH, 50),
    (b"$5$ $7$ $y$ $gy$", "password_hash", HASH, 43),
    (b"$6$", "password_hash", HASH, 86),
    (b"$P$ $H$", "password_hash", HASH, 30),
    (b"$argon2i$ $argon2d$ $argon2id$ $pbkdf2$ $pbkdf2-sha256$ $pbkdf2-sha512$ $scrypt$", "password_hash", HASH, 40),
    (b"pbkdf2_sha", "password_hash", HASH, 40),
    (b"scrypt:", "password_hash", HASH + b":", 60),
    (b"{SSHA}", "password_hash", BASE64, 28),
    (b"{SSHA256}", "password_hash", BASE64, 40),
    (b"{SSHA512}", "password_hash", BASE64, 80),
    (b"{CRYPT}", "password_hash", HASH, 20),
    (b"ABSK", "aws_key", BASE64, 100),
    (b"fm2_ fm1r_ fm1a_", "fly_token", BASE64, 40),
    (b"K005", "backblaze_key", BASE64, 27),
)
"""Like AT_A_WORD, but the prefix or what follows it may have characters other than letters, digits, "-" and "_"."""
