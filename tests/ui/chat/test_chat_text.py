"""Tests of untrusted text in a window that renders Markdown, and of the display of an answer."""

import re
from typing import Any

import pytest

from argot.graph.presentation.found_passages import build_citation
from argot.graph.presentation.wording import write_query_miss
from argot.locations import place
from argot.results import AnswerContext, AskResult, Choice, Citation, FoundPassage, Jargon, MissedTerm, Sentence
from argot.service.json_values import show_passage
from argot.types import Document, Passage
from argot.ui.rendering.chat_markdown import label_stage, view_result
from argot.ui.rendering.message_markdown import format_message, strip_footnotes
from argot.ui.rendering.passage_panel import format_passage
from argot.ui.rendering.safe_markdown import clean_text, escape_markdown, highlight, quote_markdown
from argot.ui.rendering.source_addresses import parse_source


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![pixel](http://evil.example/x.png) here", "pixel (image) here"),
        ("[click](javascript:alert(1)) now", "click now"),
        ("[cell](https://a.example/Cell_(memory)) b", "cell (`https://a.example/Cell_(memory)`) b"),
        ("![p](http://evil.example/x_(1).png) here", "p (image) here"),
        ("[guide](guide.md) and [site](https://a.example/b)", "guide (guide.md) and site (`https://a.example/b`)"),
        ("[these\nsteps](/steps/#one), [above](#one)", "these\nsteps (/steps/#one), above"),
        ("[Ann](mailto:ann@a.example) or [b@a.example](mailto:b@a.example)", "Ann (`ann@a.example`) or `b@a.example`"),
        ("Write to **ann.lee+x@a.example**, <b@a.example>.", "Write to **`ann.lee+x@a.example`**, `b@a.example`."),
        ("or a\\_b@a-b.example; mailto:c@a.example", "or `a_b@a-b.example`; `mailto:c@a.example`"),
        ("[call](tel:+44123) or [go](smb://a/b), [x](data:text/html,y)", "call (+44123) or go (smb://a/b), x"),
        ("cost 5 @ 3 or 2@3, @ann", "cost 5 @ 3 or 2@3, @ann"),
        ("see <https://a.example> or www.b.example.", "see `https://a.example` or `www.b.example`."),
        ("use <device> here", "use &lt;device> here"),
        ("as in [1] and \\[2\\]", "as in \\[1\\] and \\[2\\]"),
        ("ratio a:b at 10:30", "ratio a\\:b at 10:30"),
        (":::danger", "\\:\\:\\:danger"),
        ("`<b> [1]` stays, [2] not", "`<b> [1]` stays, \\[2\\] not"),
        ("```\n<b> [1]\n```\n[2]", "```\n<b> [1]\n```\n\\[2\\]"),
        ("```\nnever closed [1]", "```\nnever closed [1]"),
        ("&lt;script&gt;", "&amp;lt;script&amp;gt;"),
        ("| a | b |\n| --- | --- |\n| 1 | **2** |", "| a | b |\n| --- | --- |\n| 1 | **2** |"),
        ("hidden\u200b\u202e\x00", "hidden"),
        ("~~a~~, ~b~ and ~~~c~~~", "\\~\\~a\\~\\~, \\~b\\~ and \\~\\~\\~c\\~\\~\\~"),
        ("- [ ] to do\n  1. [x] done [1]\n- [y] no", "- ☐ to do\n  1. ☑ done \\[1\\]\n- \\[y\\] no"),
        ("```\n- [ ] code\n```", "```\n- [ ] code\n```"),
    ],
)
def test_quoted_markdown_keeps_its_structure_without_active_parts(text: str, shown: str) -> None:
    assert quote_markdown(text) == shown


@pytest.mark.parametrize("name", ["a" * 300, "a." * 300 + "b", "a\\_" * 300 + "b", "ä.b", "a%b", "a'b"])
def test_no_mail_address_is_left_that_a_renderer_would_make_a_link(name: str) -> None:
    outside = re.sub(r"`[^`]*`", "", quote_markdown(f"Write to {name}@a.example or (mailto:{name}@a.example)."))
    assert not re.search(r"[-.\w+]@[-\w]+\.[-\w]", outside)


def test_plain_text_shows_every_character_literally() -> None:
    assert escape_markdown("a*b_[c](d)<e>\n# f") == "a\\*b\\_\\[c\\]\\(d\\)\\<e\\> \\# f"
    assert (
        escape_markdown("http://a.example") == "http\\:\u2060//a\\.example"
    )  # the renderer does not turn it into a link
    assert escape_markdown("ann@a.example") == "ann@\u2060a\\.example"
    assert clean_text("one\n\u202etwo") == "one two"


def test_only_cited_sentences_are_marked() -> None:
    text = "- One stands here. Two follows.\n- Three."
    start = text.index("One")
    assert highlight(text, [(0, text.index(" Two"))]) == ("- ~~One stands here.~~ Two follows.\n- Three.", [])
    assert highlight(text, [(start, len(text))]) == ("- ~~One stands here. Two follows.~~\n- ~~Three.~~", [])


def test_each_cell_of_a_cited_row_is_marked_and_the_table_stays_one() -> None:
    table = "| a | b |\n| - | - |\n| 1 | x \\| y |  |\n| 2 | z |"
    start = table.index("| 1")
    shown, above = highlight(table, [(start, table.index("| 2"))])
    assert shown == "| a | b |\n| - | - |\n| ~~1~~ | ~~x \\| y~~ |  |\n| 2 | z |"
    assert above == []
    # For the header and the first row, the line between them stays unchanged.
    assert highlight(table, [(0, start)])[0].startswith("| ~~a~~ | ~~b~~ |\n| - | - |\n| 1")


def test_bold_words_in_a_cited_sentence_join_its_mark() -> None:
    text = "4. If it does not, press **RETRY** once. Then wait."
    assert highlight(text, [(0, text.index(" Then"))]) == ("4. ~~If it does not, press RETRY once.~~ Then wait.", [])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Run `a ** b` now.", "~~Run `a ** b` now.~~"),
        ("The file_name is *new*.", "~~The file_name is *new*.~~"),
        ("See https://a.example/x", "~~See `https://a.example/x`~~"),
        ("See [here](https://a.example).", "~~See here (`https://a.example`).~~"),
        ("- [x] The key is in.", "- ~~☑ The key is in.~~"),
        ("A <b>tag</b>.", "~~A &lt;b>tag&lt;/b>.~~"),
    ],
)
def test_inline_markup_in_a_cited_sentence_is_marked_with_it(text: str, shown: str) -> None:
    assert highlight(text, [(0, len(text))]) == (shown, [])


def test_a_sentence_that_cannot_be_marked_is_quoted_above() -> None:
    assert highlight("One **two. Three** four.", [(0, 10)]) == ("One **two. Three** four.", ["One two."])
    assert highlight("```\na * [1]\n```", [(4, 11)]) == ("```\na * [1]\n```", ["a \\* \\[1\\]"])


def test_spans_outside_the_passage_mark_nothing() -> None:
    assert highlight("short", [(90, 99), (-9, 0)]) == ("short", [])


PASSAGE = FoundPassage(
    n=2, passage_id="p1", document="a_b.pdf", uri="x", page=3, heading="H", text="T", score=1.0, found_by={}
)
CITED = Sentence(
    text="It is so [9].",
    supported=True,
    citations=[
        Citation(n=2, passage_id="p1", document="a_b.pdf", revision="r", page=3, heading="H", span=(4, 9), score=1)
    ],
)


def _result(**fields: object) -> AskResult:
    given: dict[str, object] = {
        "question": "What is ABC?",
        "stand_alone_question": "What is ABC?",
        "status": "answered",
        "thread": "t1",
        "answer": "",
    }
    return AskResult.model_validate({**given, **fields})


def test_an_answer_shows_citations_terms_and_unsupported_sentences() -> None:
    free = Sentence(text="That is not.", supported=False)
    term = Jargon(term="ABC", surface="abc", context="Legal", expansion="A *b* c")
    shown = view_result(
        _result(answer="It is so [9].\n\nThat is not.", sentences=[CITED, free], jargon=[term], passages=[PASSAGE])
    )
    first, second, *rest = shown.content.split("\n\n")
    assert first == "It is so \\[9\\]. [\\[2\\]](/argot/passages/p1?span=4-9)"
    # The following text is not part of the sentence.
    assert second.startswith("That is not. ⚠ *(no passage supports this)*")
    assert "**abc**: A \\*b\\* c · Legal" in rest[0]
    assert "**a\\_b\\.pdf**, [page 3](/argot/passages/p1/original#page=3) · H" in rest[1]


def test_what_surrounds_an_answer_is_quoted_below_it_under_a_heading_that_folds_it() -> None:
    around = AnswerContext(n=2, passage_id="p1", text="Before <b>.\n\nIt is so [9]. After.", spans=[(13, 26)])
    result = _result(answer=CITED.text, sentences=[CITED], passages=[PASSAGE], answer_context=[around])
    shown = view_result(result).content
    heading = "###### [In context \\[2\\]](/argot/passages/p1?span=4-9)"
    assert f"{heading}\n> Before &lt;b>.\n>\n> ~~It is so \\[9\\].~~ After." in shown
    message = format_message(result)
    assert message.endswith("**In context (2)**\n\n> Before <\u2060b>.\n>\n> It is so [9]. After.")
    assert strip_footnotes(message) == "It is so."


def test_an_unchecked_sentence_is_not_called_unsupported() -> None:
    free = Sentence(text="It is so.", supported=False, checked=False)
    result = _result(answer="It is so.", sentences=[free])
    assert view_result(result).content == "It is so."
    assert format_message(result) == "It is so."


def test_sources_are_listed_by_number() -> None:
    cited = [CITED.citations[0].model_copy(update={"n": n, "passage_id": f"p{n}"}) for n in (1, 2, 3)]
    passages = [PASSAGE.model_copy(update={"n": n, "passage_id": f"p{n}"}) for n in (2, 1, 3)]
    sentence = CITED.model_copy(update={"citations": cited})
    shown = view_result(_result(answer=CITED.text, sentences=[sentence], passages=passages)).content
    places = [shown.index(f"- [\\[{n}\\]]") for n in (1, 2, 3)]
    assert places == sorted(places)


def test_a_cited_row_stays_in_its_table() -> None:
    row = CITED.model_copy(update={"text": "| 1 | 2 |"})
    head = Sentence(text="| a | b |", supported=True)
    answer = "| a | b |\n| - | - |\n| 1 | 2 |"
    shown = view_result(_result(answer=answer, sentences=[head, row], passages=[PASSAGE]))
    assert "| - | - |\n| 1 | 2  [\\[2\\]](/argot/passages/p1?span=4-9) |" in shown.content


def test_choices_become_buttons() -> None:
    choices = [
        Choice(answer="sense:1", term="ABC", context="Legal", expansion="A b c", description="d"),
        Choice(answer="none", term="ABC"),
    ]
    shown = view_result(_result(status="needs_choice", answer="Which one?\n1. ...", choices=choices))
    assert [button.payload["choice"] for button in shown.buttons] == ["sense:1", "none"]
    assert [button.label for button in shown.buttons] == ["1. A b c (Legal)", "2. None of these"]
    assert "1. **A b c** · Legal: d" in shown.content


def test_documents_to_choose_from_become_buttons_with_escaped_titles() -> None:
    evil = "Router <b>R7</b> [x](javascript:1)"
    choices = [
        Choice(answer="document:p1", term="", expansion="Router R1", description="cellar.md"),
        Choice(answer="document:p2", term="", expansion=evil),
        Choice(answer="anyway", term=""),
    ]
    shown = view_result(
        _result(status="needs_choice", answer="“the router” fits several documents.\n1. ...", choices=choices)
    )
    assert [button.payload["choice"] for button in shown.buttons] == ["document:p1", "document:p2", "anyway"]
    assert shown.buttons[0].label == "1. Router R1" and shown.buttons[2].label == "3. Answer anyway"
    assert "1. **Router R1**: cellar\\.md" in shown.content and "3. Answer anyway" in shown.content
    assert "2. **Router \\<b\\>R7\\</b\\> \\[x\\]\\(javascript" in shown.content


def test_a_missed_term_offers_the_question_with_each_suggestion() -> None:
    misses = [MissedTerm(term="ABC", suggestions=["ABD"], contact="ann")]
    shown = view_result(_result(status="query_miss", answer="Not in the glossary: ABC.", misses=misses))
    assert [button.payload for button in shown.buttons] == [{"question": "What is ABD?"}]


def test_a_missed_term_offers_to_answer_anyway_where_possible() -> None:
    missed = [MissedTerm(term="ABC", suggestions=[], contact="ann")]
    shown = view_result(_result(status="query_miss", answer=write_query_miss(missed, waiting=True), misses=missed))
    assert [(button.label, button.payload) for button in shown.buttons] == [
        ("Answer anyway", {"question": "answer anyway"})
    ]
    assert not view_result(_result(status="query_miss", answer=write_query_miss(missed), misses=missed)).buttons


def test_an_abstention_shows_the_nearest_passages() -> None:
    shown = view_result(_result(status="abstained", answer="The documents do not say.\n[2] x", passages=[PASSAGE]))
    assert shown.content.startswith("The documents do not say\\.")
    assert "(/argot/passages/p1)" in shown.content


def test_small_talk_lists_documents_and_shows_examples_as_buttons() -> None:
    answer = "I answer from 1 document in this conversation:\n- [a](b).md: *A*\nAnd from 2 documents:\n- c\n- d.txt"
    shown = view_result(_result(status="small_talk", answer=answer))
    assert shown.content == (
        "I answer from 1 document in this conversation\\:\n\n- \\[a\\]\\(b\\)\\.md\\: \\*A\\*\n\n"
        "And from 2 documents\\:\n\n- c\n- d\\.txt"
    )
    greeted = view_result(
        _result(status="small_talk", answer="Hello.\nYou could ask:\n- What is X?", examples=["What is X?"])
    )
    assert greeted.content == "Hello\\."
    assert [button.label for button in greeted.buttons] == ["What is X?"]


def test_an_excerpt_is_escaped_and_has_a_line_of_its_own() -> None:
    evil = PASSAGE.model_copy(update={"excerpt": "See <b>*it*</b> [1](http://evil.example) :x ![p](y)\n# Z"})
    shown = view_result(_result(status="abstained", answer="No.", passages=[evil, *[PASSAGE] * 3])).content
    head, _, excerpt = shown.partition("\\\n  “")
    assert head.endswith(" · H")
    assert excerpt.startswith(
        "See \\<b\\>\\*it\\*\\</b\\> \\[1\\]\\(http\\:\u2060//evil\\.example\\) \\:x \\!\\[p\\]\\(y\\) \\# Z”\n- "
    )
    assert shown.count("“") == 1


def test_the_panel_names_the_heading_and_marks_the_cited_sentence() -> None:
    of = Document("d", "file:///d.md", "", "text/markdown", "r", "", "")
    passage = show_passage(Passage("p", "d", "r", 0, 100, 109, "One. Two.", "", ("A", "B")), of, "")
    assert format_passage(passage, [(105, 109)]) == "###### A \\> B\n\nOne. ~~Two.~~"
    led = format_passage(passage, [(105, 109)], in_library=True)
    assert led.endswith("[Read it in the document](/library/d?passage=p&span=105-109#p)")


def test_the_panel_joins_lines_of_a_markdown_file_that_its_author_wrapped() -> None:
    text = "One two\nthree. Four\n  five.  \nSix.\n\n- a\n  b\n- c\n\n| x |\n| --- |\n| y |\n\n```\nz\nz\n```"
    joined = "One two ~~three. Four   five.~~  \nSix.\n\n- a   b\n- c\n\n| x |\n| --- |\n| y |\n\n```\nz\nz\n```"
    for uri, shown in (("file:///d.md", joined), ("file:///d.txt", text)):
        of = Document("d", uri, "", "text/markdown", "r", "", "")
        passage = show_passage(Passage("p", "d", "r", 0, 100, 100 + len(text), text, "", ()), of, "")
        spans = [(108, 127)] if uri.endswith(".md") else []
        assert format_passage(passage, spans) == shown


def test_a_stage_has_readable_words() -> None:
    assert label_stage("retrieve") == "Searching the documents"
    assert label_stage("a_new_stage") == "A new stage"


@pytest.mark.parametrize(
    "address", [None, 7, "http://a.example", "/argot/passages/../x", "/argot/passages/p1?x=<b>", "/project/thread/t1"]
)
def test_only_addresses_of_passages_open_the_panel(address: object) -> None:
    assert parse_source(address) is None


def test_an_address_gives_passage_and_page() -> None:
    opened = parse_source("/argot/passages/p1/original#page=3")
    assert opened and (opened.passage_id, opened.address, opened.original, opened.page) == (
        "p1",
        "/argot/passages/p1/original",
        True,
        3,
    )


@pytest.mark.parametrize(
    ("document", "page", "said"),
    [("a.pdf", 3, ", page 3"), ("a.PPTX", 8, ", slide 8"), ("a.xlsx", 1, ", sheet 1"), ("a.md", None, "")],
)
def test_a_place_is_called_page_slide_or_sheet(document: str, page: int | None, said: str) -> None:
    assert place(document, page) == said


def test_a_citation_of_a_scanned_page_says_so() -> None:
    passage = Passage("p", "d", "r", 0, 0, 9, "words", "", page=2, page_kind="scanned page")
    document = Document("d", "file:///a.pdf", "A", "application/pdf", "r", "h", "2026-01-01")
    record: Any = {"passage": "p", "start": 0, "end": 5, "score": 1.0}
    found = build_citation(record, 1, {"p": (passage, document)}, {})
    assert found.page_kind == "scanned page"
    assert place(found.document, found.page, found.page_kind) == ", scanned page 2"
