"""Which memory a prompt is told unasked: that of its own matter, and none on near words. All of it is invented."""

from __future__ import annotations

import pytest

from enricher.context.topic_match import DOCUMENT, NOTE, RECORD, PromptTerms, evidence

NOTES = r"""
note|prices are integer cents, because floats lost money in May
note|never add a setting without a CHANGES entry
note|write dates in UTC
note|The session cookie holds ids only, everything else about a user stays in redis
note|We chose Postgres advisory locks over a lock service for the nightly jobs
note|Every new endpoint needs a rate limit; the scrapers took us down twice
note|the importer must not run as root
note|before a release, run the smoke tests on the staging shop
record|ADR 4: Use JWT for authentication:\nAccess tokens are signed JWTs that live fifteen minutes.
record|ADR 4: Use JWT for authentication / Consequences:\nServers keep no state; a token cannot be taken back.
record|7. Keep the ledger append-only:\nCorrections are new entries. Nothing is ever updated.
record|12. Replace Celery by a Postgres queue:\nWorkers poll the table outbox.
document|Project Structure & Module Organization:\n- src/: the app\n- tests/: its tests, prices and dates among them
document|Guidelines / Database migrations:\nNumber them, and write the way back as well.
document|Guidelines / Build, Test, and Development Commands:\nRun npm test before you commit.
note|Beträge werden als ganze Cent gespeichert, weil Fließkommazahlen im Mai Geld verloren haben
note|Jede neue Einstellung braucht einen Eintrag in CHANGES
note|Les montants sont stockés en centimes entiers, les flottants ont perdu de l'argent
note|Los precios se guardan en céntimos enteros porque los flotantes perdían dinero
note|Os valores são guardados em centavos inteiros
note|Gli importi sono salvati in centesimi interi
note|Суммы хранятся в копейках, дробные числа теряли деньги
note|金额以整数分存储 因为浮点数在五月丢了钱
note|金額は整数のセントで保存する
note|Die Anmeldung läuft über OAuth, Passwörter speichern wir nicht
"""
FINDS = """
what did we decide about authentication?|Use JWT
why did we choose JWT?|Use JWT
what was decided on the ledger?|append-only
is there a rule for new endpoints?|rate limit
floats: was there a decision?|integer cents
pourquoi JWT et pas autre chose ?|Use JWT
wieso kein Celery mehr?|Celery
JWT をやめるってどう決まったっけ|Use JWT
what do we do about rate limits?|rate limit
how are prices stored?|integer cents
switch the prices from cents to floats|integer cents
store the price column as float instead of cents|integer cents
add a setting for the retry count|never add a setting
please add a setting that hides the sidebar|never add a setting
did we agree on a format for dates?|dates in UTC
put the user's name into the session cookie|session cookie
use a lock service for the nightly jobs|advisory locks
why do we use advisory locks?|advisory locks
add a new endpoint for orders with a rate limit|rate limit
make the importer run as root|importer must not
replace JWT with server sessions for authentication|Use JWT
let people update entries of the ledger, it should not be append-only|append-only
why did we replace Celery?|Celery
move the workers from the Postgres queue back to Celery|Celery
write a database migration for the new column|Database migrations
was haben wir über Beträge entschieden?|Beträge
speichere die Beträge als Fließkommazahlen|Beträge
füge eine neue Einstellung für die Sprache hinzu|Einstellung
qu'avons-nous décidé pour les montants ?|montants
¿qué decidimos sobre los precios?|precios
guarda los precios como flotantes|precios
o que decidimos sobre os valores?|valores
cosa abbiamo deciso sugli importi?|importi
что мы решили про суммы?|Суммы
我们关于金额决定了什么|金额
把金额改成浮点数存储|浮点数
金額について何を決めましたか|金額
wie haben wir die Anmeldung entschieden?|OAuth
"""
FINDS_NOTHING = """
fix the layout of the price label
the price page is blank
add a test for the prices page
rename the cents helper
add dark mode to the settings dialog
open the settings
the settings dialog does not close
add a changelog entry for this release
what does this setting do in the dialog?
explain how the calendar shows dates
the date picker is broken
cookie banner covers the footer
log the user out after ten minutes
update the user service
run the nightly jobs by hand now
the lock icon is too small
add a test for the orders endpoint client
list all endpoints
what is the limit of a page?
the importer fails on empty files
speed up the importer
add logging to the importer
where is root defined in the router?
run the tests
run the smoke detector simulation
release the lock in the finally block
write the release notes
deploy to staging
the shop page needs a footer
what is a token in this parser?
the authentication test is flaky, rerun it
add an index to the ledger table
show the ledger in the sidebar
update the entries of the table
remove the queue icon
workers crash with a segmentation fault
poll the server every minute
build the project
how do I run the tests?
commit this
what is in this repository?
explain the project structure
write a module for the parser
zeig die Einstellungen an
füge einen Test für die Sprache hinzu
der Test schlägt fehl
die Preise werden falsch angezeigt
ajoute un test pour la page
el test falla
los botones no se ven
corrige o teste do rodapé
aggiungi un test per la pagina
тест падает
исправь кнопку на странице
修复登录页面的按钮
添加一个测试
ボタンの色を直してください
テストを追加して
thanks, that works
continue
"""


def lines(text: str) -> list[str]:
    return [line for line in text.strip().splitlines() if line]


def told(prompt: str) -> list[str]:
    """Return the notes that the prompt is about, the surest first."""
    read = PromptTerms(prompt, frozenset(("shop",)))
    kinds = {"note": NOTE, "record": RECORD, "document": DOCUMENT}
    found = []
    for line in lines(NOTES):
        kind, _, content = line.replace("\\n", "\n").partition("|")
        if not read.is_silent() and (sure := evidence(read, content, kinds[kind])[0]):
            found.append((-sure, content))
    return [content for _, content in sorted(found)]


@pytest.mark.parametrize("line", lines(FINDS))
def test_a_prompt_finds_the_note_of_its_matter(line: str) -> None:
    prompt, _, part = line.partition("|")
    found = told(prompt)

    assert found and part in found[0], found


@pytest.mark.parametrize("prompt", lines(FINDS_NOTHING))
def test_near_words_find_nothing(prompt: str) -> None:
    assert told(prompt) == []


def test_the_project_s_own_name_tells_nothing() -> None:
    assert told("what did we decide about the shop?") == []
