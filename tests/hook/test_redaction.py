"""Secrets leave the prompt before anything else sees it; ordinary text stays as it was typed."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from detect_secrets.core.scan import scan_line
from detect_secrets.settings import transient_settings
from effort import processor_s
from fake_secrets import BASE64, LETTERS_AND_DIGITS, NAMED, SAID, VENDORS, draw, private_key
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from enricher.prompt.redaction import redact, redact_and_cap

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 65_536

SURROUNDINGS = [
    pytest.param("{}", id="alone"),
    pytest.param("please use {} for the tests, then go on", id="prose"),
    pytest.param("it says '{}'", id="quoted"),
    pytest.param("```\n$ run --with {}\n```", id="code block"),
    pytest.param("größer 漢字 {} 🎉", id="other alphabets"),
    pytest.param("f({}, x)", id="argument"),
]
VENDOR_CASES = [pytest.param(kind, make, id=name) for name, (kind, make) in VENDORS.items()]
# An escape before these would change the length that they are known by.
KNOWN_BY_LENGTH = {"twilio_key", "mailchimp_key", "discord_token", "telegram_token"}
NAMED_CASES = [pytest.param(kind, text, id=name) for name, kind, text in NAMED]
seeds = st.integers(0, 2**32)


@pytest.mark.parametrize("around", SURROUNDINGS)
@pytest.mark.parametrize(("kind", "make"), VENDOR_CASES)
def test_vendor_tokens_disappear(kind: str, make, around: str) -> None:
    secret = make(random.Random(kind))

    assert redact(around.format(secret)) == (around.format(f"[redacted:{kind}]"), (kind,))


@pytest.mark.parametrize(("kind", "make"), [case for case in VENDOR_CASES if case.values[0] not in KNOWN_BY_LENGTH])
def test_an_escaped_line_end_before_a_token_hides_nothing(kind: str, make) -> None:
    secret = make(random.Random(kind))

    assert redact(f"log:\\n{secret}\\nend") == (f"log:\\n[redacted:{kind}]\\nend", (kind,))


@given(seeds, st.sampled_from(sorted(VENDORS)))
@example(2166078, "Anthropic")  # "…1xxXX2…"
def test_every_vendor_token_disappears(seed: int, name: str) -> None:
    kind, make = VENDORS[name]
    secret = make(random.Random(seed))

    text, kinds = redact(f"first {secret} then")

    assert text == f"first [redacted:{kind}] then"
    assert kinds == (kind,)


@pytest.mark.parametrize(("kind", "text"), NAMED_CASES)
def test_values_called_a_secret_disappear(kind: str, text: str) -> None:
    value = draw(random.Random(text), LETTERS_AND_DIGITS, 24)

    assert redact(text.format(value)) == (text.format(f"[redacted:{kind}]"), (kind,))


@given(seeds, st.sampled_from(NAMED), st.integers(20, 60))
def test_every_value_called_a_secret_disappears(seed: int, case: tuple[str, str, str], size: int) -> None:
    _, kind, text = case
    value = draw(random.Random(seed), LETTERS_AND_DIGITS, size)

    assert redact(text.format(value)) == (text.format(f"[redacted:{kind}]"), (kind,))


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("hunter" + "2", id="short"),
        pytest.param("P@ss" + "w0rd!", id="special characters"),
        pytest.param("correct" + "horse", id="letters only"),
        pytest.param("1234" + "5678", id="digits only"),
        pytest.param("p#a$s%s^w&o*rd7", id="many special characters"),
        pytest.param("süß" + "es-Geheimnis7", id="not ASCII"),
    ],
)
@pytest.mark.parametrize("text", ["PASS" + "WORD={}", "pass" + 'word = "{}"', "pass" + "word: {}", "a://bob:{}@host/x"])
def test_weak_passwords_disappear_too(text: str, value: str) -> None:
    assert value not in redact(text.format(value))[0]


@pytest.mark.parametrize("value", ["abc123" + "XYZ", "Geh" + "eim7", "p#ss" + "9w@rd"])
@pytest.mark.parametrize("text", SAID)
def test_passwords_disappear_as_people_say_them_and_programs_take_them(text: str, value: str) -> None:
    once = text.format("[redacted:password]")

    assert redact(text.format(value)) == (once, ("password",))
    assert redact(once) == (once, ())


@pytest.mark.parametrize(
    "text",
    ["DB_PA" + "SS='{}'", "export DB_PA" + 'SS="{}" && make', "db_pa" + "ss = '{}' # x", "PASSWO" + "RD='{}'"],
)
def test_a_quoted_password_goes_to_its_closing_quote(text: str) -> None:
    assert redact(text.format("p@ss " + "w0rd")) == (text.format("[redacted:password]"), ("password",))


def test_a_quoted_value_never_goes_beyond_its_line() -> None:
    assert redact("DB_PA" + "SS='p@ss " + "w0rd\nthen it's done")[0].endswith("]\nthen it's done")


@pytest.mark.parametrize("text", ["aws k" + "ey: {} ok", "the aws k" + "ey {} leaked", "aws sec" + "ret is {}."])
def test_an_aws_secret_disappears_though_it_spells_words(text: str) -> None:
    assert len(redact(text.format("wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY"))[1]) == 1


EVALUATION = Path(os.environ.get("ENRICHER_EVAL") or ROOT.parent / "shared" / "eval") / "prompts_tune.jsonl"


@pytest.mark.skipif(not EVALUATION.exists(), reason="the labelled prompts are not at hand (ENRICHER_EVAL)")
def test_no_prompt_that_people_really_typed_loses_a_word() -> None:
    prompts = [json.loads(line) for line in EVALUATION.read_text(encoding="utf-8").splitlines()]

    assert [prompt["id"] for prompt in prompts if redact(prompt["text"])[1]] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("AK" + "IA" + "A" * 16, "[redacted:aws_key]", id="letters only, AWS"),
        pytest.param("gh" + "p_" + "a" * 36, "[redacted:github_token]", id="one letter, GitHub"),
        pytest.param("sk" + "-proj-abcdefghijklmnop", "[redacted:openai_key]", id="no digit, OpenAI"),
        pytest.param("TO" + "KEN=abcdefgh", "TO" + "KEN=[redacted:token]", id="a word in an env file"),
        pytest.param("sec" + "ret=topsec" + "ret", "sec" + "ret=[redacted:secret]", id="its own name in it"),
        pytest.param("a_to" + "ken=deadbeefdeadbeef", "a_to" + "ken=[redacted:token]", id="hexadecimal letters"),
        pytest.param("Authorization: Bea" + "rer abcdef", "Authorization: Bearer [redacted:authorization]", id="short"),
        pytest.param("SECRET_KEY_BA" + "SE=0a1b2c3d4e5f6a7b", "SECRET_KEY_BASE=[redacted:secret]", id="word inside"),
        pytest.param("PASS" + "WORD_MIN_LENGTH=12", "PASSWORD_MIN_LENGTH=12", id="a setting about passwords"),
        pytest.param("pass" + 'word = "corr' + 'ect horse battery"', 'password = "[redacted:password]"', id="phrase"),
        pytest.param("pass" + 'word: "Pass' + 'word is too short"', 'password: "Password is too short"', id="message"),
        pytest.param("<https://bob:s3" + "cret@x.org>", "<https://bob:[redacted:url_password]@x.org>", id="autolink"),
        pytest.param("a://bob:p#" + "1/2?3@x.org/y", "a://bob:[redacted:url_password]@x.org/y", id="not escaped"),
        pytest.param("a://x.org:80/y?z=b@c", "a://x.org:80/y?z=b@c", id="port, not password"),
        pytest.param("a://bob:${PW}@x.org", "a://bob:${PW}@x.org", id="variable in a URL"),
        pytest.param("to" + "ken=[redacted:token]", "token=[redacted:token]", id="redacted before"),
    ],
)
def test_what_counts_as_a_value(text: str, expected: str) -> None:
    assert redact(text)[0] == expected


@pytest.mark.parametrize("label", ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP "])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n", "\n    ", "\n> "])
def test_private_keys_disappear_whole(label: str, newline: str) -> None:
    key = private_key(random.Random(label), label, newline=newline)

    assert redact(f"look:\n{key}\nwhat is it?") == ("look:\n[redacted:private_key]\nwhat is it?", ("private_key",))


def test_a_private_key_without_its_end_goes_as_far_as_it_looks_like_one() -> None:
    key = private_key(random.Random(1)).rpartition("\n")[0]

    assert redact(f"{key}\nwhy is this refused?")[0] == "[redacted:private_key]\nwhy is this refused?"


@pytest.mark.parametrize("body", ["abc", "MIIB", "MIIE" + "aB3d" * 15 + "\nAb3="])
def test_a_private_key_may_be_short_or_torn(body: str) -> None:
    begin, end = (f"-----{word} RSA PRIVATE " + "KEY-----" for word in ("BEGIN", "END"))

    assert redact(f"{begin}\n{body}\n{end}")[0] == "[redacted:private_key]"
    assert redact(f"{begin}\n{body}")[0] == "[redacted:private_key]"


def test_a_private_key_without_its_beginning_goes_too() -> None:
    key = private_key(random.Random(1)).partition("\n")[2]

    assert redact(f"it ends like this:\n{key}\nok?")[0] == "it ends like this:\n[redacted:private_key]\nok?"


def test_a_public_certificate_stays() -> None:
    text = private_key(random.Random(1)).replace("RSA PRIVATE KEY", "CERTIFICATE")

    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a <private>b</private> c", "a [redacted:private] c", id="inline"),
        pytest.param("a <PRIVATE>b\nb</Private> c", "a [redacted:private] c", id="any case, any lines"),
        pytest.param("a <private>b <private>c</private> d</private> e", "a [redacted:private] e", id="nested"),
        pytest.param("a <private>b", "a [redacted:private]", id="left open"),
        pytest.param("<private>a</private><private>b</private>", "[redacted:private][redacted:private]", id="two"),
        pytest.param('a <private why="x">b</private> c', "a [redacted:private] c", id="with an attribute"),
        pytest.param("a </private> b", "a </private> b", id="close only"),
        pytest.param("a <privateer>b</privateer>", "a <privateer>b</privateer>", id="another tag"),
    ],
)
def test_private_blocks_disappear_whole(text: str, expected: str) -> None:
    assert redact(text)[0] == expected


@pytest.mark.parametrize(
    ("host", "kind"), [("hooks.slack.com/services", "slack"), ("discord.com/api/webhooks", "discord")]
)
def test_webhook_addresses_lose_their_path(host: str, kind: str) -> None:
    path = f"/{host}/".partition("/")[2] + "T0AB1CD2E/B0AB1CD2E/" + draw(random.Random(1), LETTERS_AND_DIGITS, 24)

    text, kinds = redact(f"post to https://{path} please")

    assert text.startswith(f"post to https://{host.partition('/')[0]}")
    assert text.endswith(f"[redacted:{kind}_webhook] please")
    assert kinds == (f"{kind}_webhook",)


ORDINARY = [
    "the token is invalid",
    "the access token: it expires too early",
    "fix password_reset_form.py and the PasswordResetForm",
    "why does the password have to be 8 characters long?",
    "the user's password must be hashed with argon2id",
    "Password: must be at least 8 characters",
    "add an api key: the user should enter it in the settings",
    "use sk-learn, not task-runner-2024-configuration-template",
    "set sk-estimator-doc-link-fitted-container-id-12 to hidden",
    "password=${PASSWORD} token=$TOKEN secret={{ secret }} key=%KEY%",
    "token: <your-token>",
    "api_key=YOUR_API_KEY and password=changeme",
    'password = os.environ["PASSWORD"]',
    "const password = req.body.password;",
    "password=self.password, token=get_token(), secret=config.secret",
    "def login(password: str, token: Optional[str] = None) -> bool:",
    "interface Login { password: string; token?: string }",
    'class Token: EOF = "EOF"; SEMICOLON = "SEMICOLON"',
    "password = None; token = True; secret: null",
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${token}",
    "auth: { user: process.env.USER, pass: process.env.PASS }",
    "secrets: inherit",
    "max_tokens = 4096, token_count: 1234567890",
    "bypass: true, compass: north, 12 pass: 14 fail: 0",
    "author: John Smith, authority: example.org",
    "cache_key = user-profile-data-v2-listing",
    "for key in keys: monkey.patch(key=key)",
    '"@octokit/auth-token": "^2.4.5"',
    "commit 3f2504e04f8911d39a0c0305e82c3301aabbccdd broke the token refresh",
    "request 3f2504e0-4f89-11d3-9a0c-0305e82c3301 has no key",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    '"integrity": "sha512-7Dx3mVkqNkdVtNWeXoFFzQkQnJT2tpjKVMRbRcZ0bBlqSA1cnzS0wU3fYPmRB0eJ2TkrlJgBbZ8+Nw=="',
    "git@github.com:owner/repository.git and https://github.com/owner/repository@v1.2",
    "https://example.org/@user/post?page=2#top",
    "docker run -u 1000:1000 and chown -u root:root",
    'import { useAuthToken2 } from "@/hooks/useAuthToken2"',
    "npm_config_registry, npm_package_version_long_name, hf_hub_download_with_retries",
    "the function handleOAuth2TokenRefreshForUser2 refreshes the token in tokenRefreshService",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    "/srv/app/secrets/token.txt, C:\\keys\\token.txt, token: ./secrets/token.txt",
    "the header -----BEGIN PRIVATE KEY----- is missing",
    "the <private-route> component, private key rotation, private: true",
    "Passwort ist falsch! Das Kennwort lautet anders. le mot de passe est oublié",
    "pw = sync_playwright().start(), pw: Page, pw=1280, npwd, desenha: abc123",
    "contraseñas: 12 nuevas; senha: obrigatória; la contraseña es incorrecta",
    "mysql -p mydb and mysql -p$PW and mysql -p${PW} and mysql -port 3306",
    "docker run --name mysql -p3306:3306 mysql:8, psql -p5432, mkdir -p src/a1",
    "the \"password\" \"field\" and the 'token' 'column'",
]


@pytest.mark.conformance("E27")
@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_as_it_was_typed(text: str) -> None:
    assert redact(text) == (text, ())


@given(st.text(st.characters(exclude_characters="=:@-_.<"), max_size=300))
def test_text_without_any_sign_of_a_secret_stays_as_it_was_typed(text: str) -> None:
    calm = "".join(character for character in text.lower() if not character.isdigit())
    for word in ("pass", "secret", "token", "key", "auth", "pwd", "bearer", "credential"):
        calm = calm.replace(word, "")

    assert redact(calm)[0] == calm or any(word in calm for word in ("pass", "token", "key", "auth"))


PIECES = st.sampled_from(
    [
        *(text.partition("{}")[0] for _, _, text in NAMED),
        *(
            "AK" + "IA",
            "gh" + "p_",
            "sk" + "-",
            "ey" + "J",
            "S" + "G.",
            "xox" + "b-",
            "://",
            "@",
            ":",
            "=",
            '"',
            "'",
            "\\",
        ),
        *("<private>", "</private>", "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"),
        *(
            "[redacted:password]",
            "[redacted:",
            "]",
            "\n",
            " ",
            "a",
            "7",
            "Zx9",
            "\ud800",
            "\u0130",
            "é",
            "&",
            ";",
            ",",
            ".",
            "/",
        ),
        *(
            "abcDEF123456",
            "aB3dE5fG7hI9jK1lM3nO5p",
            "is ",
            "-u ",
            "--",
            "${",
            "}",
            "(",
            ")",
            "`",
            "\t",
            "\u3000",
            "\x00",
        ),
    ]
)
torn = st.lists(PIECES, max_size=14).map("".join)


@settings(max_examples=400)
@given(torn)
def test_redacting_twice_changes_nothing(text: str) -> None:
    once, _ = redact(text)

    assert redact(once) == (once, ())


@given(st.text(st.characters()))
@example("\ud800password=\udfff" + "hunter2")
@example("\u0130" * 9 + "PASSWORD=" + "hunter2")
def test_no_text_is_too_odd(text: str) -> None:
    redacted, kinds = redact(text)

    assert list(kinds) == sorted(set(kinds))
    assert bool(kinds) == (redacted != text)
    assert all(f"[redacted:{kind}]" in redacted for kind in kinds)


@given(torn, st.text(st.characters(), max_size=40))
def test_what_surrounds_a_secret_keeps_its_place(before: str, behind: str) -> None:
    calm = "".join(character for character in before + behind if character in " abc\n\u0130é漢\ud800")
    secret = draw(random.Random(len(before)), LETTERS_AND_DIGITS, 36)

    text, _ = redact(f"{calm} gh" + f"p_{secret} {calm}")

    assert text == f"{calm} [redacted:github_token] {calm}"


def test_the_same_text_gives_the_same_result_in_any_process() -> None:
    text = " ".join(text.format(draw(random.Random(text), BASE64, 30)) for _, _, text in NAMED)
    script = (
        "import sys; from enricher.prompt.redaction import redact; sys.stdout.write(ascii(redact(sys.stdin.read())))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", script],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        ).stdout
        for seed in ("0", "1", "2")
    }

    assert answers == {ascii(redact(text))}


def corpus(count: int) -> list[str]:
    chance = random.Random(20)
    lines = [f"use {make(chance)} here" for _ in range(count) for _, make in VENDORS.values()]
    lines += [f'key = "{make(chance)}"' for _ in range(count) for _, make in VENDORS.values()]
    for _ in range(count):
        lines += [text.format(draw(chance, LETTERS_AND_DIGITS, chance.randrange(20, 40))) for _, _, text in NAMED]
        lines.append("AccountName=x;Account" + "Key=" + draw(chance, BASE64, 86) + "==;EndpointSuffix=y")
    return [line for text in lines for line in text.splitlines()]


def test_what_a_kept_ruleset_finds_is_redacted() -> None:
    """Entropy plugins are left out: they flag any long word, hashes included."""
    plugins = [
        *(
            "ArtifactoryDetector",
            "AWSKeyDetector",
            "AzureStorageKeyDetector",
            "BasicAuthDetector",
            "DiscordBotTokenDetector",
        ),
        *("GitHubTokenDetector", "GitLabTokenDetector", "JwtTokenDetector", "KeywordDetector", "MailchimpDetector"),
        *(
            "NpmDetector",
            "OpenAIDetector",
            "PrivateKeyDetector",
            "PypiTokenDetector",
            "SendGridDetector",
            "SlackDetector",
        ),
        *("SquareOAuthDetector", "StripeDetector", "TelegramBotTokenDetector", "TwilioKeyDetector"),
    ]
    with transient_settings({"plugins_used": [{"name": name} for name in plugins]}):
        found = [(line, str(secret.secret_value)) for line in corpus(5) for secret in scan_line(line)]

    missed = [(line, secret) for line, secret in found if secret in redact(line)[0]]

    assert len(found) > 250
    assert missed == []


@pytest.mark.timed
@pytest.mark.parametrize(
    "unit",
    [
        pytest.param("Please look at the token refresh in auth_service.py, it fails. ", id="prose"),
        pytest.param("token", id="one endless name"),
        pytest.param("key ", id="names without values"),
        pytest.param("pass" + "word: ", id="names as values"),
        pytest.param("sk-", id="one endless prefix"),
        pytest.param("gh" + "p_", id="prefixes without body"),
        pytest.param("eyJ.", id="dotted beginnings"),
        pytest.param("://a:b@", id="URLs"),
        pytest.param("<private>", id="open tags"),
        pytest.param("-----BEGIN PRIVATE " + "KEY-----\n", id="open keys"),
        pytest.param("-----END PRIVATE " + "KEY-----\n", id="ends of keys"),
        pytest.param("QUJD" * 16 + "\n", id="base64"),
        pytest.param("pass" + 'word="', id="open quotes"),
    ],
)
def test_time_grows_with_the_length_and_never_faster(unit: str) -> None:
    small, large = unit * (30_000 // len(unit)), unit * (240_000 // len(unit))

    ratio = processor_s(lambda: redact(large), runs=4) / processor_s(lambda: redact(small), runs=4)

    assert ratio < 8 * 2.5


def test_a_small_prompt_is_not_capped() -> None:
    assert redact_and_cap("fix the parser") == ("fix the parser", (), 14)


def test_a_large_prompt_keeps_head_and_tail() -> None:
    prompt = "begin " + "word " * 40_000 + "end"

    text, kinds, full_length = redact_and_cap(prompt)

    assert (text[:6], text[-4:], kinds, full_length) == ("begin ", " end", (), len(prompt))
    assert LIMIT * 0.98 < len(text) <= LIMIT
    assert " characters left out ...]" in text


@pytest.mark.parametrize("unit", ["漢字", "a", "word ", "\n", "<", "pass" + "word=", "gh" + "p_"])
@pytest.mark.parametrize("length", [LIMIT - 1, LIMIT, LIMIT + 1, LIMIT + 16_384, LIMIT + 20_000, 200_000, 3_000_000])
def test_the_cap_holds_for_any_text(unit: str, length: int) -> None:
    text, _, full_length = redact_and_cap((unit * length)[:length])

    assert len(text) <= LIMIT
    assert full_length == length


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(seeds, st.integers(-2_000, 2_000), st.sampled_from([0.75, 1.0, 1.25]), st.sampled_from(["", " ", "\n"]))
def test_no_secret_is_cut_in_half_and_left_visible(seed: int, shift: int, share: float, gap: str) -> None:
    chance = random.Random(seed)
    secret = "gh" + "p_" + draw(chance, LETTERS_AND_DIGITS, 36)
    for size in (LIMIT + 900, LIMIT + 30_000, 400_000):
        for place in (
            int(LIMIT * 0.75 * share) + shift,
            size - LIMIT // 4 + shift,
            LIMIT + shift,
            size - LIMIT + shift,
        ):
            filler = ("word" + gap) * (size // len("word" + gap))
            prompt = f"{filler[:place]} {secret} {filler[place:]}"

            text, _, _ = redact_and_cap(prompt)

            assert not any(secret[i : i + 8] in text for i in range(len(secret) - 7))


@pytest.mark.parametrize("opening", ["<private>", "-----BEGIN RSA PRIVATE " + "KEY-----\n"])
def test_a_block_that_begins_in_the_part_left_out_still_covers_the_tail(opening: str) -> None:
    chance = random.Random(3)
    body = "\n".join(draw(chance, BASE64, 64) for _ in range(4_000))
    closing = "</private>" if "<" in opening else "\n-----END RSA PRIVATE " + "KEY-----"

    text, kinds, _ = redact_and_cap("word " * 30_000 + opening + body + closing + " that is it")

    assert text.endswith("] that is it")
    assert body[-200:] not in text
    assert len(kinds) == 1


def test_a_small_limit_is_kept_too() -> None:
    text, _, _ = redact_and_cap("word " * 1_000, 600)

    assert len(text) <= 600


def test_ten_megabytes_cost_hardly_more_than_one() -> None:
    one, ten = "the token refresh is slow. " * 40_000, "the token refresh is slow. " * 400_000

    assert processor_s(lambda: redact_and_cap(ten)) < 12 * processor_s(lambda: redact_and_cap(one))
