"""Kinds of secrets, one a line, as their issuers document them; the values are made up at run time.

``{hex:32}`` stands for 32 random characters of that alphabet. A kind without a name is known by its shape and is
put into each place without a word about what it is; the others are called by their name, as people call them.
"""

from __future__ import annotations

import re
import string
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

_ALNUM = string.ascii_letters + string.digits
ALPHABETS = {
    "alnum": _ALNUM,
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "digit": string.digits,
    "url": _ALNUM + "-_",
    "b64": _ALNUM + "+/",
    "b32": "abcdefghijklmnopqrstuvwxyz234567",
    "bech": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "b58": "".join(sorted(set(_ALNUM) - set("0OIl"))),
    "crypt": _ALNUM + "./",
    "tilde": _ALNUM + "_.~-",
    "strong": _ALNUM + "!@#%^*_+-",
}
_FIELD = re.compile(r"\{(\w+)(?::(\d+))?\}")

SHAPES = r"""
AWS key id                        AKIA{upper:16}
AWS temporary key id              ASIA{upper:16}
AWS Bedrock key                   ABSK{b64:128}
GitHub personal                   ghp_{alnum:36}
GitHub OAuth                      gho_{alnum:36}
GitHub user-to-server             ghu_{alnum:36}
GitHub server-to-server           ghs_{alnum:36}
GitHub refresh                    ghr_{alnum:36}
GitHub fine-grained               github_pat_{alnum:22}_{alnum:59}
GitLab personal                   glpat-{url:20}
GitLab routable                   glpat-{url:27}.01.{lower:9}
GitLab deploy                     gldt-{url:20}
GitLab runner                     glrt-{url:20}
GitLab pipeline trigger           glptt-{hex:40}
GitLab feed                       glft-{url:20}
GitLab incoming mail              glimt-{url:25}
GitLab agent                      glagent-{url:50}
GitLab OAuth application          gloas-{hex:64}
GitLab runner registration        GR1348941{url:20}
Slack bot                         xoxb-{digit:12}-{digit:13}-{alnum:24}
Slack user                        xoxp-{digit:12}-{digit:12}-{digit:13}-{hex:32}
Slack app                         xapp-1-A{upper:10}-{digit:13}-{hex:64}
Slack rotating                    xoxe.xoxp-1-{alnum:160}
Slack refresh                     xoxe-1-{alnum:146}
Slack webhook                     https://hooks.slack.com/services/T{upper:10}/B{upper:10}/{alnum:24}
Discord webhook                   https://discord.com/api/webhooks/{digit:18}/{url:68}
Discord bot                       M{alnum:23}.{alnum:6}.{url:27}
Telegram bot                      {digit:10}:AA{url:33}
Stripe secret                     sk_live_{alnum:24}
Stripe test                       sk_test_{alnum:99}
Stripe restricted                 rk_live_{alnum:24}
Stripe webhook                    whsec_{alnum:32}
OpenAI                            sk-{alnum:20}T3BlbkFJ{alnum:20}
OpenAI project                    sk-proj-{url:74}T3BlbkFJ{url:74}
OpenAI service account            sk-svcacct-{url:74}T3BlbkFJ{url:74}
OpenAI admin                      sk-admin-{url:74}T3BlbkFJ{url:58}
Anthropic                         sk-ant-api03-{url:93}AA
Anthropic admin                   sk-ant-admin01-{url:93}AA
Anthropic OAuth                   sk-ant-oat01-{url:93}AA
OpenRouter                        sk-or-v1-{hex:64}
DeepSeek                          sk-{hex:32}
Langfuse                          sk-lf-{uuid}
Groq                              gsk_{alnum:52}
xAI                               xai-{alnum:80}
Perplexity                        pplx-{alnum:48}
Replicate                         r8_{alnum:37}
Hugging Face                      hf_{alnum:34}
Hugging Face organisation         api_org_{alnum:34}
NVIDIA                            nvapi-{url:64}
Cerebras                          csk-{lower:48}
ElevenLabs                        sk_{hex:48}
Pinecone                          pcsk_{alnum:6}_{alnum:63}
LangSmith                         lsv2_pt_{hex:32}_{hex:10}
Tavily                            tvly-dev-{alnum:32}
Jina                              jina_{hex:32}{alnum:28}
Fireworks                         fw_{alnum:24}
Voyage                            pa-{url:43}
E2B                               e2b_{hex:40}
Firecrawl                         fc-{hex:32}
Apify                             apify_api_{alnum:36}
Google API                        AIza{url:35}
Google OAuth secret               GOCSPX-{url:28}
Google access token               ya29.{url:180}
Google refresh token              1//0{url:100}
npm                               npm_{alnum:36}
PyPI                              pypi-AgEIcHlwaS5vcmc{url:140}
RubyGems                          rubygems_{hex:48}
crates.io                         cio{alnum:32}
Clojars                           CLOJARS_{hex:60}
NuGet                             oy2{lower:43}
Docker Hub                        dckr_pat_{url:27}
Docker organisation               dckr_oat_{url:32}
JFrog reference                   cmVmdGtu{alnum:56}
Artifactory                       AKCp{alnum:69}
Vault service                     hvs.{url:95}
Vault batch                       hvb.{url:140}
Vault recovery                    hvr.{url:95}
Terraform Cloud                   {alnum:14}.atlasv1.{url:67}
Tailscale auth                    tskey-auth-{alnum:11}CNTRL-{alnum:32}
Tailscale API                     tskey-api-{alnum:11}CNTRL-{alnum:32}
Tailscale client                  tskey-client-{alnum:11}CNTRL-{alnum:32}
Sentry organisation               sntrys_eyJ{alnum:80}={alnum:3}_{b64:43}
Sentry user                       sntryu_{hex:64}
Grafana service account           glsa_{alnum:32}_{hex:8}
Grafana cloud                     glc_eyJ{alnum:100}
New Relic user                    NRAK-{upper:27}
New Relic licence                 {hex:36}NRAL
New Relic insights                NRII-{url:32}
Notion                            ntn_{digit:11}{alnum:35}
Notion legacy                     secret_{alnum:43}
Heroku                            HRKU-{uuid}
Heroku long                       HRKU-AA{url:58}
Supabase personal                 sbp_{hex:40}
Supabase secret                   sb_secret_{url:31}
Figma                             figd_{url:40}
Pulumi                            pul-{hex:40}
Postman                           PMAK-{hex:24}-{hex:34}
Doppler personal                  dp.pt.{alnum:43}
Doppler service                   dp.st.dev_main.{alnum:43}
Doppler CLI                       dp.ct.{alnum:43}
Dynatrace                         dt0c01.{upper:24}.{upper:64}
PlanetScale token                 pscale_tkn_{url:43}
PlanetScale password              pscale_pw_{url:43}
PlanetScale OAuth                 pscale_oauth_{url:43}
HubSpot                           pat-na1-{uuid}
HubSpot Europe                    pat-eu1-{uuid}
Brevo                             xkeysib-{hex:64}-{alnum:16}
Brevo SMTP                        xsmtpsib-{hex:64}-{alnum:16}
Sonar project                     sqp_{hex:40}
Sonar user                        squ_{hex:40}
Sonar global                      sqa_{hex:40}
Airtable                          pat{alnum:14}.{hex:64}
Shopify access                    shpat_{hex:32}
Shopify shared secret             shpss_{hex:32}
Shopify custom app                shpca_{hex:32}
Shopify private app               shppa_{hex:32}
Azure client secret               {alnum:3}8Q~{tilde:34}
DigitalOcean personal             dop_v1_{hex:64}
DigitalOcean OAuth                doo_v1_{hex:64}
DigitalOcean refresh              dor_v1_{hex:64}
Linear                            lin_api_{alnum:40}
Linear OAuth                      lin_oauth_{hex:64}
Atlassian                         ATATT3xFfGF0{url:180}
Bitbucket app                     ATBB{alnum:24}{HEX:8}
Square secret                     sq0csp-{url:43}
Square access                     EAAA{url:60}
PayPal Braintree                  access_token$production${lower:16}${hex:32}
Plaid                             access-production-{uuid}
Shippo                            shippo_live_{hex:40}
EasyPost                          EZAK{alnum:54}
Duffel                            duffel_live_{url:43}
Flutterwave                       FLWSECK-{hex:32}-X
Paddle                            pdl_live_apikey_01{lower:24}_{alnum:22}_{alnum:3}
Razorpay                          rzp_live_{alnum:14}
Mapbox secret                     sk.eyJ{alnum:80}.{url:22}
Mailgun                           key-{hex:32}
Mailchimp                         {hex:32}-us12
SendGrid                          SG.{url:22}.{url:43}
Resend                            re_{alnum:8}_{alnum:24}
Twilio                            SK{hex:32}
CircleCI                          CCIPAT_{alnum:22}_{hex:40}
Buildkite                         bkua_{hex:40}
Netlify                           nfp_{alnum:36}
Render                            rnd_{alnum:28}
Fly.io                            FlyV1 fm2_{b64:300}
Fly.io macaroon                   fm2_{b64:300}
Cloudflare origin CA              v1.0-{hex:24}-{hex:146}
LaunchDarkly SDK                  sdk-{uuid}
Contentful                        CFPAT-{url:43}
Typeform                          tfp_{url:44}_{url:14}
Segment                           sgp_{alnum:64}
PostHog                           phx_{alnum:43}
Databricks                        dapi{hex:32}
Neon                              napi_{lower:64}
Prefect                           pnu_{alnum:36}
dbt                               dbtc_{url:43}
1Password                         ops_eyJ{url:400}
Honeycomb                         hcaik_{lower:58}
Axiom                             xaat-{uuid}
Checkly                           cu_{hex:32}
Readme                            rdme_{lower:70}
ClickUp                           pk_{digit:8}_{upper:32}
Asana                             1/{digit:16}:{hex:32}
Scalingo                          tk-us-{url:48}
Alibaba                           LTAI{alnum:20}
Tencent                           AKID{alnum:32}
Yandex Cloud                      AQVN{url:36}
Yandex OAuth                      y0_{url:55}
VK                                vk1.a.{url:160}
Facebook                          EAA{alnum:160}
Twitter bearer                    AAAAAAAAAAAAAAAAAAAAA{alnum:30}%3D{alnum:50}
Dropbox                           sl.{url:136}
Backblaze                         K005{b64:27}
Stytch                            secret-live-{url:36}
Nostr                             nsec1{bech:58}
age                               AGE-SECRET-KEY-1{upper:58}
JSON web token                    eyJ{url:33}.eyJ{url:60}.{url:43}
bcrypt                            $2b$12${crypt:53}
SHA-512 crypt                     $6${crypt:16}${crypt:86}
SHA-256 crypt                     $5$rounds=5000${crypt:16}${crypt:43}
MD5 crypt                         $1${crypt:8}${crypt:22}
Apache MD5                        $apr1${crypt:8}${crypt:22}
yescrypt                          $y$j9T${crypt:22}${crypt:43}
argon2                            $argon2id$v=19$m=65536,t=3,p=4${b64:22}${b64:43}
Django hash                       pbkdf2_sha256$600000${alnum:22}${b64:43}=
LDAP hash                         {SSHA}{b64:32}
phpass                            $P$B{crypt:30}
Kubernetes key data               LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ{b64:400}
"""

NAMED = r"""
AWS secret                        {b64:40}              aws_secret_access_key
AWS session                       {b64:200}             aws_session_token
Datadog                           {hex:32}              datadog_api_key
Datadog application               {hex:40}              dd_app_key
Algolia                           {hex:32}              algolia_admin_key
Mistral                           {alnum:32}            mistral_api_key
Cohere                            {alnum:40}            co_api_key
Deepgram                          {hex:40}              deepgram_api_key
Weights and Biases                {hex:40}              wandb_api_key
Vercel                            {alnum:24}            vercel_token
Railway                           {uuid}                railway_token
Cloudflare                        {url:40}              cloudflare_api_token
Cloudflare global                 {hex:37}              cf_api_key
Heroku legacy                     {uuid}                heroku_api_key
Azure storage                     {b64:86}==            account_key
Azure DevOps                      {b32:52}              azure_devops_pat
Azure OpenAI                      {hex:32}              azure_openai_api_key
Azure function                    {url:54}==            function_key
Azure tenant secret               {strong:32}           client_secret
Consul                            {uuid}                consul_http_token
Okta                              00{url:40}            okta_api_token
Fastly                            {url:32}              fastly_api_token
Linode                            {hex:64}              linode_token
Vultr                             {upper:36}            vultr_api_key
Hetzner                           {alnum:64}            hcloud_token
Twitch                            {lower:30}            twitch_client_secret
Spotify                           {hex:32}              spotify_client_secret
Twilio auth                       {hex:32}              twilio_auth_token
PagerDuty                         {url:20}              pagerduty_api_key
Rollbar                           {hex:32}              rollbar_access_token
Etherscan                         {upper:34}            etherscan_api_key
Ethereum                          0x{hex:64}            private_key
WireGuard                         {b64:43}=             private_key
Rails                             {hex:32}              rails_master_key
Django                            {strong:50}           secret_key
Laravel                           base64:{b64:43}=      app_key
Symfony                           {hex:32}              app_secret
NextAuth                          {b64:43}=             nextauth_secret
JWT secret                        {alnum:32}            jwt_secret
Session secret                    {hex:64}              session_secret
Encryption                        {b64:43}=             encryption_key
Signing                           {hex:64}              signing_secret
Database password                 {strong:16}           db_password
Short database password           {alnum:12}            db_pass
Postgres password                 {alnum:24}            pgpassword
MySQL password                    {strong:20}           mysql_root_password
Redis password                    {hex:32}              redis_password
SMTP password                     {lower:16}            smtp_password
Wi-Fi passphrase                  {alnum:14}            wifi_passphrase
Weak password                     {word}{digit:2}       password
Passwd                            {alnum:10}            admin_passwd
Pwd                               {strong:12}           sql_pwd
Refresh token                     {url:64}              refresh_token
Access token                      {alnum:40}            access_token
CSRF                              {url:43}              csrf_token
Bot token                         {alnum:48}            bot_token
Deploy token                      {url:32}              deploy_token
SAS                               {b64:43}=             sig
Session cookie                    {hex:32}              sessionid
PHP session                       {lower:26}            phpsessid
Java session                      {HEX:32}              jsessionid
Webhook secret                    {hex:40}              webhook_secret
Service account                   {url:40}              service_account_key
Maps                              {alnum:32}            maps_api_key
Master key                        {url:43}              meili_master_key
Shared key                        {b64:43}=             shared_access_key
Bearer                            {url:40}              bearer
Authorization                     {alnum:32}            authorization
Passcode                          {digit:6}             passcode
Personal access token             {lower:52}            personal_access_token
Credential                        {alnum:32}            gateway_credentials
Pre-shared key                    {alnum:32}            vpn_preshared_key
"""

_NOUNS = ("sunflower", "hunter", "pelican", "quartz", "monsoon", "velvet", "copper", "tangerine", "harbour", "falcon")


@dataclass(frozen=True, slots=True)
class Kind:
    """A documented form, and the name that it is called by where its shape says nothing."""

    title: str
    form: str
    name: str = ""

    def make(self, chance: random.Random) -> str:
        """Return a made-up secret of this kind."""
        return _FIELD.sub(lambda field: _field(field, chance), self.form)


def _field(field: re.Match[str], chance: random.Random) -> str:
    name, length = field[1], int(field[2] or 0)
    if name == "uuid":
        return str(uuid.UUID(int=chance.getrandbits(128), version=4))
    if name == "word":
        return chance.choice(_NOUNS).capitalize()
    if name not in ALPHABETS:
        return field[0]
    return "".join(chance.choice(ALPHABETS[name]) for _ in range(length))


def _rows(table: str) -> list[list[str]]:
    return [[line[:34].strip(), *line[34:].rsplit("  ", 1)] for line in table.strip().splitlines()]


KINDS: tuple[Kind, ...] = (
    *(Kind(title, "".join(form).strip()) for title, *form in _rows(SHAPES)),
    *(Kind(title, form.strip(), name.strip()) for title, form, name in _rows(NAMED)),
)
