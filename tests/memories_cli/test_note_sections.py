"""Notes come apart where a reader would cut them, whatever is in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enricher.sources.memory.sections import LONGEST_PIECE, frontmatter, sections, title_of

LONG = "A sentence about the exporter and why it waits. " * 20


def test_a_short_note_is_one_memory() -> None:
    assert [one.text for one in sections("# Title\n\nFirst.\n\n## Part\n\nSecond.\n")] == ["First.\n\nPart:\nSecond."]


def test_a_decision_record_begins_with_its_decision() -> None:
    record = "# UTC\n\nDate: 2026-01-02\n\n## Status\n\nAccepted\n\n## Context\n\nZones.\n\n## Decision\n\nUse UTC.\n"

    assert [one.text for one in sections(record)] == ["Use UTC.\n\nContext:\nZones."]
    assert sections(record, cut_short_ones=True)[0].text == "Use UTC."


def test_a_note_does_not_begin_with_the_fields_above_its_text() -> None:
    note = "# UTC\n\n- Date: 2026-01-02\n- **Status**: accepted\n\nUse UTC.\nDate: a field of each row.\n"

    assert [one.text for one in sections(note)] == ["Use UTC.\nDate: a field of each row."]


def test_a_long_note_is_cut_at_its_headings() -> None:
    found = sections(f"# Title\n\n## One\n\n{LONG}\n\n### Deeper\n\n{LONG}\n\n## Two\n\n{LONG}\n")

    assert [one.heading for one in found] == ["One", "One / Deeper", "Two"]
    assert len({one.anchor for one in found}) == 3


def test_headings_in_a_code_block_cut_nothing() -> None:
    found = sections(f"## One\n\n{LONG}\n```sh\n# not a heading\n```\n{LONG}", cut_short_ones=True)

    assert [one.heading for one in found] == ["One"]


def test_headings_of_one_name_keep_apart() -> None:
    found = sections("## Same\n\nfirst thing\n\n## Same\n\nsecond thing\n", cut_short_ones=True)

    assert [one.anchor for one in found] == ["same", "same~2"]


def test_the_title_is_the_heading_that_opens_the_note() -> None:
    assert title_of("\n# Use UTC\n\ntext\n") == "Use UTC"
    assert title_of("text first\n\n# Use UTC\n") == ""


@pytest.mark.parametrize(
    ("text", "fields", "body", "fault"),
    [
        ("---\ntags: [a, b]\nDate: 2026-01-02\n---\nbody\n", 2, "body\n", ""),
        ("---\n---\nbody", 0, "body", ""),
        ("--- not\nbody", 0, "--- not\nbody", ""),
        ("---\nnever: closed\nbody", 0, "---\nnever: closed\nbody", ""),
        ("---\n- a\n- b\n---\nbody", 0, "body", "2: the frontmatter holds no fields"),
        ("---\na: [1\nb: 2\n---\nbody", 0, "body", "3: the frontmatter is no YAML"),
        ("---\na: !!python/object:os.system\n---\nbody", 0, "body", "2: the frontmatter is no YAML"),
    ],
)
def test_frontmatter_is_read_or_named(text: str, fields: int, body: str, fault: str) -> None:
    found, rest, said = frontmatter(text)

    assert (len(found), rest) == (fields, body)
    assert said.startswith(fault)
    assert bool(said) == bool(fault)


@given(st.text(alphabet="#` \n~-abc/é\u202e\x1b", max_size=300), st.booleans())
def test_no_text_is_lost_and_no_piece_too_long(text: str, cut: bool) -> None:
    body = text + "\n" + "word " * 900

    found = sections(body, cut_short_ones=cut)

    assert all(0 < len(one.text) <= LONGEST_PIECE + len(text) for one in found)
    assert sum(one.text.count("word") for one in found) == 900
    assert len({one.anchor for one in found}) == len(found)


def test_a_megabyte_without_a_break_is_cut_in_time() -> None:
    found = sections("x" * 1_000_000)

    assert "".join(one.text for one in found) == "x" * 1_000_000
