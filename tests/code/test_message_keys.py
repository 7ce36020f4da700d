"""Through the real hook: which key a text of the interface has in the translations, and where the program uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from invented_shop import git, write_all

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

FILES = {
    # --- one object with keys below keys
    "web/locales/en.json": (
        '{\n  "basket": {\n    "empty": "Nothing in this basket yet",\n    "total": {\n'
        '      "label": "All crates together"\n    },\n    "pay": "Pay for the basket",\n'
        '    "gone": "This basket is gone",\n    "late": "The basket came late",\n'
        '    "count_one": "One crate in the basket",\n    "names": [\n      "A basket without a key",\n'
        '      {\n        "label": "A basket in a list"\n      }\n    ]\n  },\n'
        '  "leave": "Leave the shop now",\n  "close": "Close the shop now"\n}\n'
    ),
    "web/basket.tsx": "<h1>{t('basket.empty')}</h1>\n<b>{t('basket.count', { n })}</b>\nconst s = `basket.late`\n",
    "web/total.vue": '<template>\n  <Trans i18nKey="basket.total.label" />\n</template>\n',
    "web/pay.tsx": "const key = 'basket.pay'\n// t('basket.gone')\n",
    **{f"web/till{number}.tsx": "t('basket.pay')\n" for number in range(2)},
    "web/late.tsx": "\ni18n.t(\n  'basket.late',\n)\nconst label = t('basket.late')\n",
    "web/leave.tsx": "const names = ['leave', 'close']\nbutton(format('close'), i18n.t('leave'))\n",
    "tests/basket.test.tsx": "expect(t('basket.empty')).toBe('')\n",
    # --- keys that have points themselves, in the format of another library
    "mail/locales/en.json": '{\n  "order.paid": {\n    "defaultMessage": "The mail says it is paid"\n  }\n}\n',
    "mail/paid.jsx": '<FormattedMessage id="order.paid" />\n',
    # --- messages in a program
    "desk/locales/en.ts": "export default {\n  desk: {\n    open: 'The desk is open today',\n  },\n}\n",
    "desk/open.vue": "<p>{{ $t('desk.open') }}</p>\n",
    # --- files that are the beginning of a key
    "site/i18n/en/menu.json": '{\n  "title": "What is on the menu"\n}\n',
    "site/i18n/en/page.json": '{\n  "title": "What is on the page"\n}\n',
    "site/i18n/de/page.json": '{\n  "title": "Was auf der Seite steht"\n}\n',
    "site/menu.tsx": "t('menu:title')\n",
    "site/page.tsx": "const { t } = useTranslation('page')\nexport const title = t('title')\n",
    "site/both.tsx": "const a = useTranslation('page')\nconst b = useTranslation('menu')\nt('title')\n",
    # --- the beginning of the keys is set in each file
    "next/messages/en.json": '{\n  "login": {\n    "greeting": "Good that you are here"\n  }\n}\n',
    "next/login.tsx": "const t = useTranslations('login')\nexport const x = <h1>{t('greeting')}</h1>\n",
    "next/other.tsx": "const t = useTranslations('login')\nconst u = useTranslations('x')\nt('greeting')\n",
    # --- Rails
    "config/locales/en.yml": (
        "en:\n  # of the crates\n  crates:\n    show:\n      heading: Everything about one crate\n"
        '    index:\n      none: "No crate was ever here"\n'
    ),
    "app/views/crates/show.html.erb": "<p></p>\n<h1><%= t('.heading') %></h1>\n",
    "app/views/crates/edit.html.erb": "<h1><%= t('.heading') %></h1>\n",
    "desk/locales/en.yml": 'bell: "Ring the bell of the desk"\n',
    "app/crates.rb": "I18n.t('crates.index.none')\n",
}


def with_keys(account: Account) -> Account:
    """Commit the files to the shop of an account and index them."""
    write_all(account.project, FILES)
    git(account.project, "add", "-A")
    git(account.project, "commit", "-qm", "Translate the shop")
    account.cli("code", "index")
    return account


@pytest.fixture(scope="module")
def asked_keys(asked_shop: Account) -> Account:
    return with_keys(asked_shop)


@pytest.fixture
def account_with_keys(account: Account, shop: Path) -> Account:
    del shop
    return with_keys(account)


@pytest.mark.parametrize(
    ("text", "place", "told"),
    [
        ("Nothing in this basket yet", "web/locales/en.json:3", ", key basket.empty; used in web/basket.tsx:1"),
        ("All crates together", "web/locales/en.json:5", ", key basket.total.label; used in web/total.vue:2"),
        pytest.param("Pay for the basket", "web/locales/en.json:7", ", key basket.pay", id="used in three files"),
        pytest.param("This basket is gone", "web/locales/en.json:8", ", key basket.gone", id="used in a comment"),
        pytest.param(
            "The basket came late",
            "web/locales/en.json:9",
            ", key basket.late; used in web/basket.tsx:3 and in web/late.tsx:3, line 5",
            id="used in two files",
        ),
        pytest.param(
            "One crate in the basket",
            "web/locales/en.json:10",
            ", key basket.count; used in web/basket.tsx:2",
            id="a form for a number",
        ),
        pytest.param("A basket without a key", "web/locales/en.json:12", "", id="an item of a list"),
        pytest.param("A basket in a list", "web/locales/en.json:14", "", id="an object in a list"),
        pytest.param(
            "Leave the shop now",
            "web/locales/en.json:18",
            ", key leave; used in web/leave.tsx:2",
            id="a word counts in a call only",
        ),
        pytest.param("Close the shop now", "web/locales/en.json:19", ", key close", id="no call that translates"),
        pytest.param(
            "The mail says it is paid",
            "mail/locales/en.json:3",
            ", key order.paid; used in mail/paid.jsx:1",
            id="a key with a point",
        ),
        pytest.param(
            "The desk is open today",
            "desk/locales/en.ts:3",
            ", key desk.open; used in desk/open.vue:1",
            id="messages in a program",
        ),
        pytest.param(
            "What is on the menu",
            "site/i18n/en/menu.json:2",
            ", key title; used in site/menu.tsx:1",
            id="a namespace before the key",
        ),
        pytest.param(
            "What is on the page",
            "site/i18n/en/page.json:2",
            ", key title; used in site/page.tsx:2",
            id="a namespace that the file sets",
        ),
        pytest.param(
            "Good that you are here",
            "next/messages/en.json:3",
            ", key login.greeting; used in next/login.tsx:2",
            id="a beginning that the file sets",
        ),
        pytest.param(
            "Everything about one crate",
            "config/locales/en.yml:5",
            ", key crates.show.heading; used in app/views/crates/show.html.erb:2",
            id="a view of Rails",
        ),
        pytest.param("Ring the bell of the desk", "desk/locales/en.yml:1", ", key bell", id="YAML with one level"),
        pytest.param(
            "No crate was ever here",
            "config/locales/en.yml:7",
            ", key crates.index.none; used in app/crates.rb:1",
            id="YAML without the language",
        ),
    ],
)
def test_the_key_of_a_text_and_its_uses_are_told(asked_keys: Account, text: str, place: str, told: str) -> None:
    context = asked_keys.ask_patiently(f'the label "{text}" is too long').context

    (line,) = [line for line in context.splitlines() if line.startswith("- ")]
    assert line == f'- {place} "{text}" — the English text is here{told}'


def test_the_uses_come_before_the_key_where_there_is_no_room_for_both(account_with_keys: Account, shop: Path) -> None:
    text, folder = f"Nothing of all {'that was in it ' * 6}is left", f"web/{'very/long/paths/of/folders/' * 3}"
    key = "whatever_is_to_be_said_of_what_is_left"
    write_all(
        shop,
        {
            "web/locales/en.json": f'{{\n  "left": {{\n    "{key}": "{text}"\n  }}\n}}\n',
            f"{folder}left.tsx": f"t('left.{key}')\n",
            "web/zero.tsx": f"t('left.{key}')\n",
        },
    )
    account_with_keys.cli("code", "index")

    context = account_with_keys.ask_patiently(f'the label "{text}" is too long').context

    told = f'- web/locales/en.json:3 "{text[:39].rstrip()}…" — the English text is here; used in {folder}left.tsx:1'
    assert f"{told} and in 1 other file\n" in f"{context}\n"
