"""Tests of the check of a text's terms: what is found, what is left alone, and that hostile texts take no long time."""

import time
from collections.abc import Sequence

import pytest

from argot.jargon_db.lookup.matcher import TermMatcher
from argot.jargon_db.lookup.normalise import list_variants, normalise
from argot.jargon_db.lookup.spelling import Spelling
from argot.tools.checking.findings import Finding
from argot.tools.checking.text_check import check_text
from argot.types import Label, Sense

WORD_LINE = Sense(
    1,
    "WL",
    "NAND",
    "word line",
    aliases=("row wire", "gate strip", "RWX"),
    labels=(Label("row wire", "forbidden"), Label("gate strip", "deprecated"), Label("RWX", "forbidden")),
)
CACHE = Sense(2, "write-back cache", "Firmware", "", "a cache that writes later")
STRIP = Sense(3, "gate strip", "Packaging", "a strip of gates")


def check(text: str, *senses: Sense) -> list[tuple[str, str]]:
    """Return kind and words of each finding."""
    return [(one.kind, text[one.start : one.end]) for one in find(text, *senses)]


def find(text: str, *senses: Sense) -> list[Finding]:
    spellings = [Spelling(one.term, name, normalise(name)) for one in senses for name in (one.term, *one.aliases)]

    def look_up(names: Sequence[str]) -> dict[str, list[Sense]]:
        keys = {name: set(list_variants(name)) for name in names}
        return {
            name: [one for one in senses if keys[name] & {normalise(other) for other in (one.term, *one.aliases)}]
            for name in names
        }

    return check_text(text, TermMatcher(spellings), look_up)


def test_a_forbidden_name_is_found_at_each_place_and_the_name_to_say_is_given() -> None:
    found = find("The row wire breaks.\n\nTwo Row Wires, and an RWX, are the WL.", WORD_LINE)
    assert [one.kind for one in found] == ["forbidden-name"] * 3
    assert found[0].remedy == "Say “word line”." and found[2].remedy == "Say “WL”."
    assert "“word line”" in found[0].reason and "NAND" in found[0].reason and found[0].count == 1


def test_a_deprecated_name_is_accepted_where_another_meaning_admits_it() -> None:
    assert check("The gate strip is thin.", WORD_LINE) == [("deprecated-name", "gate strip")]
    assert check("The gate strip is thin.", WORD_LINE, STRIP) == []


def test_an_abbreviation_that_nothing_explains_is_found_once() -> None:
    text = "# About the ZQV\n\nThe ZQV and the WL.\n\nEach ZQV works. A PDF on a USB stick."
    found = find(text, WORD_LINE)
    assert [(one.kind, one.term, one.count) for one in found] == [("undefined-abbreviation", "ZQV", 3)]
    assert found[0].start == text.index("The ZQV and") + 4, "the first sentence tells more than the heading"


@pytest.mark.parametrize(
    "text",
    [
        "The zonal quiver valve (ZQV) works. The ZQV is green.",
        "- **ZQV**: zonal quiver valve\n\nThe ZQV is green.",
        "| Term | Meaning |\n|---|---|\n| ZQV | zonal quiver valve |\n\nThe ZQV is green.",
        "Run `ZQV`, see [the ZQV guide](https://zqv.example.org/ZQV) or write to ZQV@example.org.",
        "```\nZQV\n```\n\n    ZQV = 1\n\n<!-- ZQV -->",
        "Press **SEND**, then STOP. The office is in Austin, TX 78701; dates are YYYY.",
        "Q2ZQV: outreach",
    ],
)
def test_what_is_explained_or_no_prose_is_left_alone(text: str) -> None:
    assert check(text) == []


def test_an_abbreviation_that_is_explained_later_is_found_where_it_is_first_used() -> None:
    text = "# The ZQV\n\nOpen the ZQV first.\n\nThe zonal quiver valve (ZQV) is green. Close the ZQV."
    found = find(text)
    assert [(one.kind, one.start) for one in found] == [("explained-late", text.index("ZQV first"))]
    assert found[0].remedy.startswith("Write “zonal quiver valve (ZQV)” here")


def test_the_rarer_spelling_of_a_term_is_found_and_the_glossary_decides() -> None:
    text = "A write-back cache. The write back caches are on. A writeback cache and a write-back cache design."
    found = find(text, CACHE)
    assert [text[one.start : one.end] for one in found] == ["write back caches", "writeback cache"]
    assert found[0].remedy == "Write “write-back cache”: the glossary spells it so."
    assert check("The write back cache, everywhere the write back cache.", CACHE) == []


@pytest.mark.parametrize(
    "text", ["[" * 40_000, "<!--" * 10_000, "`" * 40_000, "AB_" * 15_000, "(ZQV) " * 5_000, "| ZQV " * 3_000]
)
def test_a_hostile_text_is_checked_in_linear_time(text: str) -> None:
    began = time.process_time()
    check(text, WORD_LINE, CACHE)
    # Quadratic work over so many characters takes minutes.
    assert time.process_time() - began < 60
