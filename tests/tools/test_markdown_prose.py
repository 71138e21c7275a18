"""Prose without markup, and its offsets in the source."""

from __future__ import annotations

import pytest

from argot.tools.text.markdown_prose import extract_prose


@pytest.mark.parametrize(
    ("source", "prose"),
    [
        ("Press <b>Start</b>, then <i class='x'>wait</i>.", "Press Start, then wait."),
        ("<p>First line.</p><P>Second<br/>line.</P>", "First line. Second line."),
        ("H<sub>2</sub>O is wet", "H2O is wet"),
        ('See <a href="a.html">the list</a> here', "See the list here"),
        # Text that is not a tag, or that mentions one, is kept.
        ("the <table> element draws <name> if x <5 and a<b", "the <table> element draws <name> if x <5 and a<b"),
        ("write `<b>` or \\<b>", "write <b> or <b>"),
        # A link may go on in the next line, and each line of a quotation has its mark.
        ("If it is lost, follow [these\ninstructions](/equipment/#lost).", "If it is lost, follow these instructions."),
        ("[x] done\n\nsee [one\nthing](later)", "[x] done see one thing"),
        ("webinars\n> with external agencies\n>> and guests", "webinars with external agencies and guests"),
        ("run `git commit\n--amend` now", "run git commit --amend now"),
        ("it doesn&rsquo;t &lt;b&gt; &amp; caf&eacute;&nbsp;&foo;", "it doesn’t <b> & café &foo;"),
        ("> 5 V is too much, a > b, and\n>= 7 V", "> 5 V is too much, a > b, and >= 7 V"),
    ],
)
def test_marks_are_not_prose(source: str, prose: str) -> None:
    assert extract_prose(source).text == prose


def test_prose_offsets_lead_back_to_a_source_with_tags() -> None:
    source = "<p>Press <b>Start</b>, then wait.</p>"
    plain = extract_prose(source)
    at = plain.text.index("Start")
    start, end = plain.source_span(at, at + len("Start, then"))
    assert source[start:end] == "Start</b>, then"
    source = "it isn&rsquo;t caf&eacute;."
    plain = extract_prose(source)
    for word, written in (("isn’t", "isn&rsquo;t"), ("café", "caf&eacute;"), ("isn’", "isn&rsquo;")):
        at = plain.text.index(word)
        assert source[slice(*plain.source_span(at, at + len(word)))] == written


@pytest.mark.parametrize(
    ("source", "prose"),
    [
        ("**If lost**, follow [these\nsteps](/steps/#lost).", "If lost, follow [these steps](/steps/#lost)."),
        ('See [`x`](https://a.example/b_c "d").', 'See [`x`](https://a.example/b_c "d").'),
        ("Dial `*21*7900#` and **wait**.", "Dial `*21*7900#` and wait."),
        ("don&#8217;t write &lt;b&gt; or &#42;x&#42;", "don’t write &lt;b&gt; or &#42;x&#42;"),
        ("[Above](#part) and ![a picture](p.png), [one][later]", "Above and a picture, one"),
        ("[![badge](b.svg)](https://a.example) on", "[badge](https://a.example) on"),
    ],
)
def test_links_to_other_pages_and_code_may_stay_markdown(source: str, prose: str) -> None:
    assert extract_prose(source, as_markdown=True).text == prose
