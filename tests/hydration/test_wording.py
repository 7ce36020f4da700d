"""What a prompt asks for, in its own words: the main request, its items, and nothing cut in the middle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enricher.respond.hydration.reading import lines, requirements, verbs, vocabulary, wording
from enricher.respond.hydration.reading.requests import read_requests
from enricher.respond.hydration.reading.requirements import items_of
from enricher.respond.hydration.reading.wording import closed, gerund, intent, main_request, object_of
from tests.hydration.agreement import suggested


def restated(prompt: str) -> str:
    requests = read_requests(prompt)
    return intent(requests, error="", earlier="", is_question=False, is_report=False)


@pytest.mark.parametrize(
    ("prompt", "main"),
    [
        pytest.param(
            "The colours of the calendar should match the theme. It was so before. Please keep that look.",
            "The colours of the calendar should match the theme",
            id="the wish, not what accompanies it",
        ),
        pytest.param(
            "look at how the old importer reads dates. we want the new one to work the same way",
            "we want the new one to work the same way",
            id="the goal, not the reading before it",
        ),
        pytest.param(
            "it feels like a good start, and I like it. add a tooltip to the chart",
            "add a tooltip to the chart",
            id="a comparison is no wish",
        ),
        pytest.param(
            "I don't want to rewrite the parser, so can we move each class to its own file",
            "move each class to its own file",
            id="what is not wanted is no wish",
        ),
        pytest.param(
            "The nightly export writes empty files. Could be that the path is wrong?",
            "The nightly export writes empty files",
            id="the report, not the guess",
        ),
        pytest.param(
            "I want to be able to print the chart. what options do we have",
            "be able to print the chart",
            id="the wish, not the question about it",
        ),
        pytest.param(
            "that is better now. load_rates and save_rates have the same issue",
            "load_rates and save_rates have the same issue",
            id="the statement that names something",
        ),
        pytest.param(
            "we use pnpm, so we should not call npm here. cleanup the lock file and use pnpm from now on",
            "cleanup the lock file",
            id="the order, not what is forbidden",
        ),
        pytest.param(
            "OK, let's turn our attention to the watcher... it sees each change. we need to refresh the index there",
            "refresh the index there",
            id="the wish, not its announcement",
        ),
        pytest.param(
            "run_all.sh sets some options by hand, put these options into the configuration",
            "put these options into the configuration",
            id="an order behind a statement",
        ),
        pytest.param(
            "no change in the exported table, sorry. can you consider and resolve",
            "no change in the exported table, sorry",
            id="the statement that a bare order is about",
        ),
        pytest.param(
            "A page that I can paste a table into. It should be 400 pixels wide",
            "A page that I can paste a table into",
            id="what is wanted, named without a verb",
        ),
        pytest.param(
            "you should not run the old hook", "you should not run the old hook", id="what is forbidden stays so"
        ),
        pytest.param(
            "if the cache is missing, create it",
            "if the cache is missing, create it",
            id="an order with its condition",
        ),
        pytest.param(
            "should we close the old ticket", "should we close the old ticket", id="a question without a mark"
        ),
        pytest.param(
            "not quite what I meant, but thanks. lets look into it and fix load_rates",
            "fix load_rates",
            id="an order of two words that names its object",
        ),
        pytest.param(
            "In rates/table.py only ever take a text from now on. Update the help accordingly.",
            "In rates/table.py only ever take a text from now on",
            id="not what follows from it",
        ),
        pytest.param(
            "in the settings can we split the keys by topic",
            "in the settings, split the keys by topic",
            id="a request within a sentence",
        ),
        pytest.param(
            'it says "Upload failed. Please check your disk, then start again" since today. find out why',
            "find out why",
            id="nothing of a quoted message",
        ),
        pytest.param(
            "Ok, make it so:\n\n1. the folder is optional\n2. the title should be short",
            "the title should be short",
            id="not an order that only points",
        ),
        pytest.param(
            "a table within a table is unlikely to be readable. So drop the inner one",
            "drop the inner one",
            id="not a fault that begins like the name of a thing",
        ),
        pytest.param(
            "The line about the crane is not lovely. We should have `Crane: tall` in place of that",
            "The line about the crane is not lovely; have `Crane: tall` in place of that",
            id="with what it replaces",
        ),
        pytest.param(
            "La grúa del puerto es alta. Por favor, reemplaza la tabla", "reemplaza la tabla", id="an order in Spanish"
        ),
        pytest.param(
            "Die Liste der Preise ist viel zu alt. Ersetze sie durch eine Tabelle",
            "Ersetze sie durch eine Tabelle",
            id="in German",
        ),
        pytest.param("peux-tu ajouter une colonne au tableau ?", "ajouter une colonne au tableau", id="in French"),
        pytest.param("look at the chart", "look at the chart", id="a small request alone"),
        pytest.param("hmmm.... I think we should build a legend", "build a legend", id="nothing of thinking aloud"),
        pytest.param(
            "mmmk... the list only grows. So... we just need to keep its length in Watch, yeah?",
            "we just need to keep its length in Watch",
            id="a wish that asks for a confirmation",
        ),
        pytest.param(
            "What we need to do is replace the date by the name, right?",
            "replace the date by the name",
            id="an order that asks for a confirmation",
        ),
        pytest.param(
            "if we know the shop, the town is known, since each is in one. we can further simplify the query",
            "if we know the shop, the town is known, since each is in one; we can further simplify the query",
            id="what can be done now",
        ),
        pytest.param(
            "the legend is only drawn once. it should also be drawn when the shop changes",
            "the legend is only drawn once; it should also be drawn when the shop changes",
            id="what a wish points back to",
        ),
        pytest.param("did not help. draw the map in blue", "draw the map in blue", id="a denial is no question"),
        pytest.param(
            "let's talk about the menu... the order of it is odd. sort the menu by name",
            "sort the menu by name",
            id="not what is talked about",
        ),
        pytest.param(
            "that helped. have the parser skip empty lines", "have the parser skip empty lines", id="have as a verb"
        ),
        pytest.param(
            "Look at the export. We don't want that header", "We don't want that header", id="what is not wanted"
        ),
        pytest.param(
            "the driver is installed, you have trouble loading it. lets stick to the logs that I paste",
            "the driver is installed, you have trouble loading it",
            id="not how to work",
        ),
        pytest.param(
            "the new log helped. I think the check of the addresses runs before they are trimmed",
            "I think the check of the addresses runs before they are trimmed",
            id="the remark that says most",
        ),
    ],
)
def test_the_main_request_is_found(prompt: str, main: str) -> None:
    found = main_request(read_requests(prompt))
    assert found
    assert found.text == main


@pytest.mark.parametrize(
    ("prompt", "is_question"),
    [
        ("we just need to keep the length of the list, yeah?", False),
        ("the length of the list is kept, right?", True),
        ("is the length of the list right?", True),
        ("did not keep the length of the list", False),
        ("did it keep the length of the list", True),
    ],
)
def test_only_what_asks_for_an_answer_is_a_question(prompt: str, is_question: bool) -> None:
    (found,) = read_requests(prompt)
    assert found.is_question is is_question


def test_a_part_in_brackets_is_not_divided() -> None:
    prompt = "update the footer (it shows the year. We fix that, and add the month later) and rename the banner"
    requests = read_requests(prompt)

    assert items_of(requests) == [
        "Update the footer (it shows the year. We fix that, and add the month later)", "Rename the banner"
    ]  # fmt: skip
    assert object_of(requests[0]) == "the footer (it shows the year. We fix that, and add the month later)"


@pytest.mark.parametrize("prompt", [
    "shrink the header (on phones only: the logo stays) and the footer",
    'change the label \u201cTotal\u201d to "Sum: all rows" because people ask',
    "move `a: b` to the settings (see docs/a.md; there is more) since nobody finds it" + " and more" * 40,
    'remove all colours besides "deep blue" and "pale red"',
    "add a test for the parser (the one that reads the very long lines of the log" + ", and more" * 40 + ") first",
])  # fmt: skip
def test_nothing_in_a_plan_ends_within_brackets_or_quotation_marks(prompt: str) -> None:
    requests = read_requests(prompt)
    for text in (object_of(requests[0]), restated(prompt), *items_of(requests)):
        assert text == closed(text)
        assert text.count("(") <= text.count(")")
        assert text.count('"') % 2 == 0


@pytest.mark.parametrize(
    ("prompt", "items"),
    [
        pytest.param(
            "do this:\n- add a filter. Nobody finds old orders\n  - by year\n  - by month\n- remove the cache",
            ["Add a filter", "Remove the cache"],
            id="no nested items, no explanations",
        ),
        pytest.param(
            "Please drop the old table. Done so far:\n1. We've added the cache\n2. Updated the readme",
            [],
            id="no list of what was done",
        ),
        pytest.param(
            "First, a blue banner\n\nFix the footer\n\nThen the translations",
            ["A blue banner", "Fix the footer", "The translations"],
            id="lines that follow one another",
        ),
        pytest.param(
            "The search has to stay fresh while people work, as we said when we last talked about the index of it\n"
            "First: read the folder\nThen: read the rest of the disk\nIf the user leaves before that, stop it",
            ["Read the folder", "Read the rest of the disk"],
            id="steps between other sentences",
        ),
        pytest.param(
            "\n".join(f"- add page {number}" for number in range(1, 9)),
            [*(f"Add page {number}" for number in range(1, 6)), "Do the other 3 points of the prompt"],
            id="the rest of a long list in one step",
        ),
        pytest.param(
            "find and fix the leak, then add a test", ["Find and fix the leak", "Add a test"], id="no verb alone"
        ),
        pytest.param(
            "There are two problems:\n- the dates are slow\n- the year is easily forgotten\n\nAdd a helper for both",
            [],
            id="no reasons for an order",
        ),
        pytest.param(
            "in short: drop the old table, then rename the new one",
            ["Drop the old table", "Rename the new one"],
            id="an order behind a colon",
        ),
        pytest.param(
            "last touches:\n- draw a line below the head\n- I think the colours are loud. use paler ones",
            ["Draw a line below the head", "Use paler ones"],
            id="no remark between the requests",
        ),
        pytest.param("build a page with sliders, to try and find what I like", [], id="try and find is one order"),
        pytest.param("I want to add a new feature. show the year in the footer", [], id="no announcement"),
        pytest.param(
            "Draw the axis. Once the rows are read, draw the dots",
            ["Draw the axis", "Once the rows are read, draw the dots"],
            id="an order behind its condition",
        ),
        pytest.param(
            "add two tabs - one for the map and one for the list - then drop the old menu",
            ["Add two tabs - one for the map and one for the list", "Drop the old menu"],
            id="an aside belongs to its order",
        ),
        pytest.param(
            "add a button that copies the rows, also add a link to the help",
            ["Add a button that copies the rows", "Add a link to the help"],
            id="an order behind also",
        ),
        pytest.param(
            "the map is hard to read: i want to add three buttons to its head. Instead of colours, use lines",
            ["Add three buttons to its head", "Instead of colours, use lines"],
            id="a wish behind a colon",
        ),
        pytest.param(
            "make the change in the code. We didn't need the negation of the flag",
            [],
            id="not what was once not needed",
        ),
        pytest.param(
            "Draw a graph of the shops. I want to understand at first glance which of them grows",
            [],
            id="not what the user is to understand",
        ),
        pytest.param("write down the sources so that one can read and check them", [], id="a purpose is no request"),
        pytest.param(
            "Read rates.html - your job is to create tables.html with the same buttons. Call it done when it loads",
            ["Read rates.html", "Create tables.html with the same buttons", "Call it done when it loads"],
            id="an order behind a dash",
        ),
        pytest.param(
            "fetch the list, read it and build a page. In fact once that is done add a second page",
            ["Fetch the list", "Build a page", "Once that is done add a second page"],
            id="no bare reading, an order behind its condition without a comma",
        ),
        pytest.param(
            "Let's separate out\n\nDraw the map in blue. Check for:\n- shops without rows",
            [],
            id="no order that is unfinished",
        ),
        pytest.param(
            '# the settings of the shop\n"align": "left",\n"wide": "no",\nDraw the map. Move the legend',
            ["Draw the map", "Move the legend"],
            id="no values and no heading",
        ),
        pytest.param(
            'only for "good" with a green dot and "highlight" with a red one. I might want to extend that',
            [],
            id="no quoted name, no mere possibility",
        ),
        pytest.param(
            "lets ignore it for now, but add the button to the list and rename the page",
            ["Add the button to the list", "Rename the page"],
            id="an order behind but, nothing that is put off",
        ),
        pytest.param("Draw a list. The rows should be:\n\n", [], id="no introduction of what follows"),
        pytest.param("Draw a list. use case is a long table", [], id="use case is no order"),
        pytest.param("write, load and send are kinds of rows. Draw the map", [], id="a list of words is no order"),
        pytest.param(
            "alright, so lets draw the shops. In the menu of the map, can you add a link to the help",
            ["Draw the shops", "In the menu of the map, add a link to the help"],
            id="an order behind an interjection, one behind a place",
        ),
        pytest.param(
            "In rates.py instead of a list only accept a tuple of numbers. Adapt the docs of the rates accordingly",
            ["In rates.py instead of a list only accept a tuple of numbers", "Adapt the docs of the rates accordingly"],
            id="an order behind a place and what it replaces",
        ),
        pytest.param(
            "draw the map. In shops.py, `rates` is used often. But this should never be empty",
            ["Draw the map", "In shops.py, `rates` is used often; this should never be empty"],
            id="what this means stands with the wish",
        ),
        pytest.param(
            "Draw the shops. In the menu, add a link to the help. In the future we will only support the new map",
            ["Draw the shops", "In the menu, add a link to the help"],
            id="a place stays with its order, a statement about the future is none",
        ),
        pytest.param(
            "ok, in the menu can we add a link. let's step into the save and have it write",
            ["In the menu, add a link", "Step into the save and have it write"],
            id="an announcement with an order is one",
        ),
        pytest.param(
            "We have a helper for dates. Use it in all tests. Old shops can go, maybe write that into the readme",
            [
                "We have a helper for dates; use it in all tests",
                "Old shops can go; write that into the readme",
            ],
            id="what a pronoun means stands with the order",
        ),
        pytest.param(
            "run_all.sh sets an option. Put this option into the settings. Drop the old table",
            ["Put this option into the settings", "Drop the old table"],
            id="no pronoun, the sentence before stays out",
        ),
        pytest.param(
            "The old shops are still on the map\nDraw it in blue and add a legend",
            ["Draw it in blue", "Add a legend"],
            id="another line is not what a pronoun means",
        ),
        pytest.param(
            "this won't do, lets start over. Draw a map of the shops and add a legend",
            ["Draw a map of the shops", "Add a legend"],
            id="no order to start over",
        ),
        pytest.param(
            "Improve it:\n* First, let's memoize the reader\n* Next, there's no point in a retry, let it pass as is",
            ["Memoize the reader", "there's no point in a retry", "Let it pass as is"],
            id="an order behind a word of sequence, and behind what has no point",
        ),
        pytest.param(
            "Let's memoize the rates and please add a note, you should not touch the table",
            ["Memoize the rates", "Add a note, you should not touch the table"],
            id="any verb after let's",
        ),
        pytest.param(
            "We have to talk about the prices before the third part. Continue with the second half of the list.",
            ["Continue with the second half of the list", "Talk about the prices before the third part"],
            id="a talk that bounds the work comes after it",
        ),
        pytest.param(
            "Run the linter and repair the modules. There are many so make a plan about which module to repair first.",
            ["Run the linter", "Make a plan about which module to repair first", "Repair the modules"],
            id="a plan of the sequence comes before the work",
        ),
        pytest.param(
            "Header:\n- add a logo\n- draw the title in blue\nFooter:\n- remove the links",
            [
                'Add a logo (under "Header")',
                'Draw the title in blue (under "Header")',
                'Remove the links (under "Footer")',
            ],
            id="a line keeps its heading",
        ),
        pytest.param(
            "Add these columns:\n- add the name\n- add the price", ["Add the name", "Add the price"], id="one heading"
        ),
        pytest.param(
            "the totals stay\nmove the legend here\nremove the months",
            ['Move the legend here (behind "the totals stay" in the prompt)', "Remove the months"],
            id="here is a place of the prompt",
        ),
        pytest.param(
            "I want to try something bold: get rid of the side bar. draw the menu as a ring.",
            ["Get rid of the side bar", "Draw the menu as a ring"],
            id="an announcement is no step",
        ),
        pytest.param(
            "drop the inner table. draw the border in grey. this should do the trick",
            ["Drop the inner table", "Draw the border in grey"],
            id="a forecast is no step",
        ),
        pytest.param(
            "shift the legend to the right. replace the table of the colours. adjust accordingly",
            ["Shift the legend to the right", "Replace the table of the colours; adjust accordingly"],
            id="what follows from a request has that request beside it",
        ),
    ],
)
def test_the_items_are_the_separate_requests(prompt: str, items: list[str]) -> None:
    assert items_of(read_requests(prompt)) == items


@pytest.mark.parametrize(
    ("prompt", "about"),
    [
        pytest.param(
            "it works on my machine but on the server I cannot log in. propose a better way",
            "on the server I cannot log in",
            id="what fails, not the order",
        ),
        pytest.param(
            "2026-03-04 18:06:47 loading\nthe import throws an error in the second run\nstack traceback:\n\tmain.lua:9",
            "the import throws an error in the second run",
            id="no line of a log",
        ),
        pytest.param(
            "this is my config: shop.toml\nThere is no output in the folder of the shop",
            "There is no output in the folder of the shop",
            id="not what introduces it",
        ),
        pytest.param(
            "the errors are gone but no graph is shown on the page",
            "no graph is shown on the page",
            id="what still fails",
        ),
        pytest.param(
            "better, but still not what i need: the sum is the one of last year",
            "the sum is the one of last year",
            id="what is wrong, not that it is",
        ),
        pytest.param(
            "when i select a shop now, nothing happens besides a blank page",
            "when i select a shop now, nothing happens besides a blank page",
            id="when it fails",
        ),
        pytest.param(
            "These tests are failing, fix them:\n\nFAILED tests/test_a.py::test_b - AssertionError: 'x' not found in y",
            "These tests are failing, fix them",
            id="no summary of a test run",
        ),
        pytest.param(
            "my bad, I opened the wrong page. the page now shows the opposite of what I chose",
            "the page now shows the opposite of what I chose",
            id="not what the user did wrong",
        ),
        pytest.param(
            "i added another print, but your inner loop is never entered:",
            "your inner loop is never entered",
            id="not what the user did before it",
        ),
        pytest.param(
            "the import gets stuck on the last page 2026-03-04 18:20:03: -- loading the pages",
            "the import gets stuck on the last page",
            id="no line of a log behind the words",
        ),
        pytest.param(
            'it did not keep the name of the language.\n\nthe page has <pre class="a/b"><code>x.y</code></pre> in it',
            "it did not keep the name of the language",
            id="no markup of a page",
        ),
    ],
)
def test_a_report_is_about_what_fails(prompt: str, about: str) -> None:
    found = main_request(read_requests(prompt), is_report=True)
    assert found
    assert object_of(found) == about


@pytest.mark.parametrize(
    ("prompt", "workflow"),
    [
        pytest.param("the rounding of totals has a bug: negative amounts lose a cent", "debugging", id="a bug report"),
        pytest.param("there is a bug in the date picker, it jumps to January", "debugging", id="a bug somewhere"),
    ],
)
def test_a_report_of_a_bug_is_debugged(prompt: str, workflow: str) -> None:
    assert suggested(prompt) == workflow


def test_a_quoted_convention_that_was_cut_has_no_open_mark() -> None:
    assert closed("Commits begin with their area: `shop: what changed`; other areas are `ba") == (
        "Commits begin with their area: `shop: what changed`; other areas are"
    )


@pytest.mark.parametrize(
    ("prompt", "about"),
    [
        ("the log says: it cannot open the file", "the log says: it cannot open the file"),
        ("the bars of the yearly chart are wrong: they overlap", "the bars of the yearly chart are wrong"),
        ('"Results - Today" and "Points" are empty', '"Results - Today" and "Points" are empty'),
    ],
)
def test_a_few_words_before_a_colon_are_not_what_a_report_is_about(prompt: str, about: str) -> None:
    assert object_of(read_requests(prompt)[0]) == about


def test_the_form_of_a_step_takes_its_order_and_not_what_stands_before_it() -> None:
    assert gerund("We have a helper for dates; use it in all tests") == "Using"
    assert gerund("The shops are on the map") == "Working"


WORDS = sorted(
    {
        word
        for module in (lines, requirements, verbs, vocabulary, wording)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, frozenset | tuple)
        for entry in value
        for word in (entry.split() if isinstance(entry, str) else entry)
    }
)
"""Every word to which the wording of plans gives a meaning."""


@given(st.lists(st.sampled_from([*WORDS, "menu", ",", ".", "?", "\n", "- item"]), min_size=1, max_size=9).map(" ".join))
def test_no_sequence_of_words_with_a_meaning_breaks_the_reading_of_a_prompt(prompt: str) -> None:
    requests = read_requests(prompt)

    assert "\n" not in "".join(one.text for one in requests)
    main = main_request(requests)
    assert (main is None) == (not requests)
    assert "\n" not in restated(prompt) + "".join(items_of(requests))
