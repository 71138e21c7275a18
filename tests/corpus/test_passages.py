"""Passages: exact offsets, whole units, correct headers, and no text lost, for any Markdown."""

from itertools import pairwise
from unittest.mock import patch

import pytest
from cutting import cut_passages
from hypothesis import example, given, settings
from hypothesis import strategies as st

from argot.corpus.chunking.passages import MAX_BOXES
from argot.corpus.chunking.surroundings import cut_text_after, cut_text_before
from argot.corpus.document_ids import build_document_id, build_passage_id, build_revision_id, hash_content
from argot.tools.answering.quoting import read_units, render_quotation
from argot.types import Box, BoxMark, PageMark, ParsedDocument, Passage

SENTENCES = " ".join(f"Sentence number {n} says that the valve holds {n} bar." for n in range(60))


def cut(markdown: str, *, title: str = "Handbook", max_chars: int = 400, **more) -> list[Passage]:
    parsed = ParsedDocument(title, markdown, "text/markdown", **more)
    return cut_passages(parsed, document_id="d1", revision_id="r1", max_chars=max_chars)


def check_cover(markdown: str, passages: list[Passage], max_chars: int) -> None:
    position = 0
    for ordinal, passage in enumerate(passages):
        assert passage.ordinal == ordinal
        assert passage.start >= position
        assert not any(map(str.isalnum, markdown[position : passage.start]))
        assert markdown[passage.start : passage.end] == passage.text
        assert passage.text.strip()
        # Only lines of code keep their indentation.
        assert passage.text == passage.text.strip() or (
            passage.text == passage.text.rstrip().lstrip("\n") and passage.header.endswith(("```", "~~~~"))
        )
        assert len(passage.text) <= max_chars
        position = passage.end
    assert not any(map(str.isalnum, markdown[position:]))


MARKDOWN_LINES = st.sampled_from(
    [
        *("# Top", "## Sub", "#### Deep", "Title", "=====", "---", "***", "", "", "\t"),
        *("text of a line", "A sentence. Another one.", "ends with colon:", "word " * 40, "x" * 150, "…。次。"),
        *("- item", "  - inner", "1. one", "| a | b |", "|---|---|", "| 1 | 2 |", "```", "~~~~", "    code"),
        *("> quote", "[x]: /url", "<div>", "</div>", "![i](u)", "\u2028 odd \x0b\x0c"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(MARKDOWN_LINES | st.text(max_size=30), max_size=40), st.integers(20, 300))
@example(["# Top"] * 4 + ["\r"], 20)
def test_every_character_is_in_exactly_one_passage(lines: list[str], max_chars: int) -> None:
    markdown = "\n".join(lines)
    check_cover(markdown, cut(markdown, max_chars=max_chars), max_chars)


@settings(max_examples=200, deadline=None)
@given(st.lists(MARKDOWN_LINES | st.text(max_size=30), max_size=60), st.integers(1, 60))
def test_slicing_a_long_text_loses_no_characters(lines: list[str], slice_chars: int) -> None:
    markdown = "\n".join(lines)
    with patch("argot.corpus.chunking.blocks._SLICE_CHARS", slice_chars):
        check_cover(markdown, cut(markdown, max_chars=80), 80)


@settings(max_examples=50, deadline=None)
@given(st.lists(MARKDOWN_LINES, min_size=5, max_size=40), st.data())
def test_passages_cover_a_text_with_pages(lines: list[str], data: st.DataObject) -> None:
    markdown = "\n".join(lines)
    starts = sorted(data.draw(st.sets(st.integers(0, len(markdown)), max_size=6)))
    kind = data.draw(st.sampled_from(["page", "slide"]))
    pages = tuple(PageMark(start, number, kind) for number, start in enumerate(starts, start=1))
    check_cover(markdown, cut(markdown, max_chars=200, pages=pages), 200)


def test_short_subsection_stays_whole_with_its_heading() -> None:
    body = "First paragraph of the section, long enough to stand by itself in the index of the handbook. " * 2
    markdown = f"# Handbook\n\n## Valves\n\n{body}\n\n- one\n- two\n\n## Pumps\n\n{body}\n"
    passages = cut(markdown)
    assert [passage.heading_path for passage in passages] == [("Handbook", "Valves"), ("Handbook", "Pumps")]
    assert passages[0].text.startswith("# Handbook\n\n## Valves")
    assert passages[0].text.endswith("- two")
    assert passages[1].header == "Handbook > Pumps"


def test_tiny_sibling_sections_are_joined_under_their_parent() -> None:
    markdown = (
        "# Terms\n\n" + "".join(f"## T{n}\n\nMeaning {n}.\n\n" for n in range(5)) + "# Other\n\n" + SENTENCES[:300]
    )
    passages = cut(markdown)
    assert [passage.heading_path for passage in passages] == [("Terms",), ("Other",)]
    assert "Meaning 0." in passages[0].text
    assert "Meaning 4." in passages[0].text


def test_tiny_sections_under_different_parents_stay_apart() -> None:
    markdown = "# A\n\n## A1\n\nx\n\n# B\n\n## B1\n\ny\n"
    assert [passage.heading_path for passage in cut(markdown)] == [("A", "A1"), ("B", "B1")]


def test_long_paragraph_is_cut_at_sentence_ends() -> None:
    passages = cut(f"# Handbook\n\n{SENTENCES}\n")
    assert len(passages) > 3
    assert all(passage.text.endswith("bar.") for passage in passages)


def test_abbreviations_do_not_end_sentences() -> None:
    text = " ".join(f"Use seals, e.g. Type {n}, as in Fig. 3 of the sheet by Dr. Roe." for n in range(12))
    assert all(passage.text.startswith("Use seals") for passage in cut(text, max_chars=200))


def test_a_heading_is_never_a_passage_alone() -> None:
    markdown = "# Book\n\n## Empty\n\n## Long\n\n" + SENTENCES + "\n\n## Last\n"
    for passage in cut(markdown):
        assert any(line and not line.startswith("#") for line in passage.text.splitlines())


def test_a_line_ending_in_a_colon_stays_with_its_list() -> None:
    items = "".join(f"- step {n} of the procedure with some words\n" for n in range(12))
    markdown = f"# Book\n\n{SENTENCES[:330]}\n\nDo the following:\n\n{items}"
    holding = [passage for passage in cut(markdown) if "Do the following:" in passage.text]
    assert "- step 0" in holding[0].text


def test_lists_are_cut_between_items() -> None:
    items = "".join(f"- item {n} says something\n  and goes on in a second line\n" for n in range(30))
    passages = cut(items)
    assert len(passages) > 2
    assert all(passage.text.startswith("- item") and passage.text.endswith("second line") for passage in passages)


def test_long_table_is_cut_between_rows_and_keeps_its_columns_in_the_header() -> None:
    rows = "".join(f"| part {n} | {n} bar |\n" for n in range(60))
    passages = cut(f"# Limits\n\n| Part | Pressure |\n| --- | --- |\n{rows}")
    assert len(passages) > 2
    assert "| Part | Pressure |" in passages[0].text
    assert passages[0].header == "Handbook > Limits"
    for passage in passages[1:]:
        assert passage.header == "Handbook > Limits\n| Part | Pressure |"
        assert all(line.startswith("| part") and line.endswith(" bar |") for line in passage.text.splitlines())


def test_code_block_stays_whole_when_it_fits() -> None:
    code = "```c\n" + "int x;\n\n" * 20 + "```"
    passages = cut(f"# A\n\n{SENTENCES[:300]}\n\n{code}\n")
    assert any(code in passage.text for passage in passages)


def test_parts_of_long_code_keep_their_lines_and_are_quoted_as_code() -> None:
    lines = [f"    step(d, {n}); /* number {n} */" for n in range(60)]
    passages = cut("# A\n\n```c\n" + "\n".join(["void f(void)", "{", *lines, "}"]) + "\n```\n\nThe end is here.\n")
    assert len(passages) > 2
    quoted: list[str] = []
    for passage in passages:
        assert passage.with_columns.partition("```c\n")[1]
        units = [unit for unit in read_units(passage.with_columns) if unit.kind == "code"]
        assert len(units) == 1
        quoted += render_quotation([units[0].number], read_units(passage.with_columns)).split("\n")[1:-1]
    assert quoted == ["void f(void)", "{", *lines, "}"]
    assert [unit.kind for unit in read_units(passages[-1].with_columns)] == ["code", "prose"]


def test_hash_lines_in_code_are_not_headings() -> None:
    passages = cut("# Real\n\n```sh\n# comment\nls\n```\n")
    assert [passage.heading_path for passage in passages] == [("Real",)]


def test_heading_path_is_plain_text() -> None:
    [passage] = cut("# The `tCCS` *rule* [here](http://e.org) of snake_case\n\nText.\n")
    assert passage.heading_path == ("The tCCS rule here of snake_case",)


def test_a_line_of_one_megabyte_is_cut() -> None:
    markdown = "x" * 1_000_000
    passages = cut(markdown, max_chars=1200)
    check_cover(markdown, passages, 1200)
    assert len(passages) == 834


def test_many_headings_without_text_make_few_passages() -> None:
    markdown = "# heading\n" * 3000
    check_cover(markdown, cut(markdown), 400)
    assert len(cut(markdown)) < 200


def test_long_text_is_sliced_without_breaking_code() -> None:
    code = "```\n" + "line of code\n\n# no heading\n\n" * 12_000 + "```\n"
    markdown = f"# One\n\nText.\n\n{code}\n# Two\n\nEnd.\n"
    passages = cut(markdown, max_chars=1200)
    check_cover(markdown, passages, 1200)
    assert {passage.heading_path for passage in passages} == {("One",), ("Two",)}


def test_the_page_of_a_passage_holds_most_of_its_text() -> None:
    first, second = SENTENCES[:390], SENTENCES[400:790]
    markdown = f"{first}\n\n{second}\n"
    marks = (PageMark(0, 7, "page"), PageMark(len(first) + 2, 8, "page"))
    passages = cut(markdown, pages=marks, max_chars=1000)
    assert [(passage.page, passage.page_kind) for passage in passages] == [(7, "page"), (8, "page")]
    assert passages[1].header == "Handbook (page 8)"


def test_short_pages_are_separate_passages() -> None:
    one, two, three = "The drill took 14 minutes.\n\n", "The port door did not close.\n\n", "It is mended.\n"
    marks = (PageMark(0, 1, "page"), PageMark(len(one), 2, "page"), PageMark(len(one + two), 3, "scanned page"))
    passages = cut(one + two + three, pages=marks, max_chars=1000)
    assert [(passage.page, passage.text) for passage in passages] == [
        (1, one.strip()),
        (2, two.strip()),
        (3, three.strip()),
    ]
    # The end of a longer page may go with the next one.
    long = f"{'It took long. ' * 60}\n\n"
    marks = (PageMark(0, 1, "page"), PageMark(len(long) + len(one), 2, "page"))
    assert len(cut(f"{long}{one}{two}", pages=marks, max_chars=len(long))) == 2


def test_slides_are_never_joined() -> None:
    one = "# A\n\nx\n\n"
    passages = cut(one + "# B\n\ny\n", pages=(PageMark(0, 1, "slide"), PageMark(len(one), 2, "slide")))
    assert [passage.page for passage in passages] == [1, 2]


def test_the_boxes_of_a_passage_cover_its_span_and_are_bounded() -> None:
    lines = [f"paragraph {n}" for n in range(60)]
    markdown = "\n\n".join(lines)
    boxes, offset = [], 0
    for number, line in enumerate(lines):
        boxes.append(BoxMark(offset, offset + len(line), Box(1, 0, number * 10, 100, number * 10 + 9)))
        offset += len(line) + 2
    passages = cut(markdown, boxes=tuple(boxes))
    assert passages[1].boxes[0] == next(mark.box for mark in boxes if mark.start == passages[1].start)
    assert all(0 < len(passage.boxes) <= MAX_BOXES for passage in passages)


def test_context_around_a_passage_is_cut_at_word_or_sentence_ends() -> None:
    passages = cut(f"{SENTENCES}\n")
    assert cut_text_before(SENTENCES, passages[0].start, 80) == ""
    assert cut_text_after(SENTENCES, passages[-1].end, 80) == ""
    for left, right in pairwise(passages):
        before, after = cut_text_before(SENTENCES, right.start, 80), cut_text_after(SENTENCES, left.end, 80)
        assert left.text.rstrip().endswith(before)
        assert right.text.lstrip().startswith(after)
        assert 0 < len(before) <= 80 and 0 < len(after) <= 80
        assert before.startswith("Sentence")
        assert after.endswith("bar.")
    assert cut_text_before("word " * 100, 500, 80) == ("word " * 16).strip()
    assert cut_text_after("word " * 100, 0, 80) == ("word " * 16).strip()
    assert (len(cut_text_before("x" * 500, 500, 80)), len(cut_text_after("x" * 500, 0, 80))) == (80, 80)


def test_title_is_not_repeated_in_the_header() -> None:
    [passage] = cut("# handbook\n\nText.\n")
    assert passage.header == "handbook"


def test_an_empty_text_has_no_passages() -> None:
    assert cut("") == cut(" \n\n\t\n") == []


def test_ids_are_deterministic_and_depend_on_every_component() -> None:
    markdown = f"# A\n\n{SENTENCES}\n"
    assert [passage.id for passage in cut(markdown)] == [passage.id for passage in cut(markdown)]
    assert len({passage.id for passage in cut(markdown)}) == len(cut(markdown))
    assert build_document_id("file:///a") == build_document_id("file:///a") != build_document_id("file:///b")
    assert build_revision_id("d1", hash_content(b"x")) != build_revision_id("d1", hash_content(b"y"))
    assert build_passage_id("r1", 1, 23) != build_passage_id("r1", 12, 3)
    made = (build_document_id("u"), build_revision_id("d", "h"), build_passage_id("r", 0, 1))
    assert [name[0] for name in made] == ["d", "r", "p"]
    assert all(len(name) == 17 and int(name[1:], 16) >= 0 for name in made)


def test_heading_stays_with_a_paragraph_as_long_as_a_passage() -> None:
    paragraph = SENTENCES[:399].rstrip()
    passages = cut(f"# Book\n\n{SENTENCES[:300]}\n\n## A heading of some length\n\n{paragraph}\n")
    holding = next(passage for passage in passages if "## A heading" in passage.text)
    assert "Sentence number 0" in holding.text


@pytest.mark.parametrize("rule", ["| --- | --- |", "-" * 3000, "* * *", "═" * 900, "| | |\n| --- | --- |\n| | |"])
def test_no_passage_consists_of_rules_alone(rule: str) -> None:
    markdown = f"# Head\n\n{'Text. ' * 300}\n\n# Other\n\n{rule}\n"
    parsed = ParsedDocument("T", markdown, "text/markdown")
    passages = cut_passages(parsed, document_id="d", revision_id="r", max_chars=1200)
    assert passages and all(any(char.isalnum() for char in one.text) for one in passages)


def test_the_separator_row_of_a_wide_table_is_not_a_passage() -> None:
    names = [f"Column {number}" for number in range(900)]
    rows = [names, ["---"] * 900, [str(number) for number in range(900)]]
    markdown = "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"
    parsed = ParsedDocument("T", markdown, "text/markdown")
    passages = cut_passages(parsed, document_id="d", revision_id="r", max_chars=1200)
    assert all(set(one.text) - set("|- \n") for one in passages)
