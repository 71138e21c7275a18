"""Tests of /terms, the glossary as everybody reads it: the list, the search, the entry of a term, and who sees what."""

import re
import shutil
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from desk import at_desk
from tiny_base import TinyBase

from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.types import Label, Principal, Relation
from argot.ui.pages.page_routes import build_pages

pytestmark = pytest.mark.asyncio(loop_scope="module")

ANN = Principal("ann")
VERA = Principal("vera", frozenset({"vault"}))
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kb(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("terms") / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        add = opened.glossary.senses.add
        add("Kept Key", "Tools", "key of the vault", "opens what the VLT guards", audience=frozenset({"vault"}))
        add("Array Gap", "NAND", "distance of two arrays", "needs a PUC", aliases=("AG",), status="approved")
        add("Draft Word", "NAND", "not decided yet", status="draft")
        add("4K", "Tools", "four thousand")
        add(f"Zoo {HOSTILE}", "Tools", HOSTILE, f"*{HOSTILE}* [link](javascript:alert(3))", notes=HOSTILE)
        yield opened


def at(kb: KnowledgeBase, who: Principal) -> httpx.AsyncClient:
    return at_desk(build_pages(kb), who)


async def get(client: httpx.AsyncClient, path: str, **headers: str) -> str:
    answer = await client.get(path, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.text


async def test_the_list_has_approved_terms_from_a_to_z_with_their_initials(kb: KnowledgeBase) -> None:
    async with at(kb, ANN) as ann:
        page = await get(ann, "/terms")
        terms = re.findall(r'class="term"[^>]*>([^<]*)<', page)
        assert terms[:6] == ["4K", "Array Gap", "MPL", "PUC", "TFL", "WL"] and "Draft Word" not in page
        initials = re.search(r'<nav class="initials".*?</nav>', page, re.DOTALL)
        assert initials
        assert re.findall(r">([^<\s]+)</a>", initials[0]) == ["All", "0–9", "A", "M", "P", "T", "W", "Z"]
        of_m = await get(ann, "/terms?initial=m")
        assert re.findall(r'class="term"[^>]*>([^<]*)<', of_m) == ["MPL"]
        of_context = await get(ann, "/terms?context=Legal")
        assert re.findall(r'class="term"[^>]*>([^<]*)<', of_context) == ["PUC", "TFL"]
        assert "Peripheral" not in of_context


async def test_a_search_is_a_part_for_the_script_and_a_page_without_it(kb: KnowledgeBase) -> None:
    async with at(kb, ANN) as ann:
        part = await ann.get("/terms/search?q=AG", headers={"HX-Request": "true"})
        assert "Array Gap" in part.text and "<html" not in part.text
        assert part.headers["HX-Replace-Url"] == "/terms?q=AG"
        assert "<html" in await get(ann, "/terms/search?q=AG")
        missed = unescape(await get(ann, "/terms?q=PUCC"))
        assert "Did you mean" in missed and 'href="/terms/term?t=PUC"' in missed


async def test_an_entry_shows_meanings_contact_defining_sentence_and_related_terms(kb: KnowledgeBase) -> None:
    async with at(kb, ANN) as ann:
        page = unescape(await get(ann, "/terms/term?t=pucs"))
        assert "Peripheral Under Cell" in page and "Public Utilities Commission" in page
        assert "Looked after by <bdi>nina@example.com" in page
        assert re.search(r'<h2>Related terms</h2>.*href="/terms/term\?t=Array%20Gap"', page, re.DOTALL)
        wl = await get(ann, "/terms/term?t=Array+Gap")
        assert "Also called" in wl and re.search(r"Related terms.*t=PUC", wl, re.DOTALL)
        unknown = unescape(await get(ann, "/terms/term?t=QQXY"))
        assert "has no meaning of" in unknown and 'href="/?prompt=What%20is%20QQXY%3F"' in unknown


async def test_an_entry_shows_names_to_avoid_relations_example_and_source(kb: KnowledgeBase) -> None:
    kb.glossary.senses.add("Pawl", "Tools", "part that locks a wheel")
    (pawl,) = [one for one in kb.glossary.senses.find(ANN) if one.term == "Pawl"]
    manager = Principal("mia", sees_all=True)
    kb.glossary.senses.save(
        manager,
        pawl.id,
        version=pawl.version,
        labels=[Label("stopper", "forbidden"), Label("dog", "deprecated"), Label("Sperrklinke", "admitted", "de")],
        relations=[Relation("broader", "PUC"), Relation("see also", HOSTILE[:40])],
        source="https://example.org/locks?a=1&b=2",
        example="Lift the pawl before you turn the wheel.",
    )
    async with at(kb, ANN) as ann:
        raw = await get(ann, "/terms/term?t=Pawl")
    page = " ".join(re.sub(r"<[^>]+>", "", unescape(re.sub(r"\s+", " ", raw))).split())
    assert "Also called Sperrklinke (de)" in page
    assert "Do not say stopper, but Pawl" in page and "No longer say dog, but Pawl" in page
    assert "Broader: PUC" in page and "Lift the pawl before you turn" in page
    assert '<a href="https://example.org/locks?a=1&amp;b=2" rel="noopener' in raw
    assert "<script>" not in raw.replace("<script src", "")


async def test_the_defining_sentence_is_of_a_document_the_reader_may_read(kb: KnowledgeBase) -> None:
    kb.glossary.senses.add("VRT", "Tools", "Vault Rota Table")
    base = TinyBase(kb.home, kb.settings, kb.corpus, kb.glossary)
    text = "# Rota\n\nThe Vault Rota Table (VRT) is a list of the days on which somebody turns the key.\n"
    base.add("rota.md", text, frozenset({"vault"}))
    async with at(kb, ANN) as ann, at(kb, VERA) as vera:
        assert "turns the key" not in await get(ann, "/terms/term?t=VRT")
        shown = unescape(await get(vera, "/terms/term?t=VRT"))
        assert "turns the key" in shown and "rota.md" in shown
        link = re.search(r'href="(/terms/passage/[^"]+)"', shown)
        assert link and "<mark>Vault Rota Table</mark>" in await get(vera, link[1])
        assert (await ann.get(link[1])).status_code == 404


async def test_a_restricted_term_is_nowhere_for_others(kb: KnowledgeBase) -> None:
    paths = [
        "/terms", "/terms?initial=k", "/terms?q=vault", "/terms?context=Tools", "/terms/term?t=VLT",
        "/terms/term?t=Kept+Key", "/terms/term?t=VLTT", "/terms?q=Kept+Kye",
    ]  # fmt: skip
    async with at(kb, ANN) as ann, at(kb, VERA) as vera:
        for path in paths:
            page = await get(ann, path)
            assert "Liaison" not in page and "key of the vault" not in page, path
            assert "Kept Key</a>" not in page and ">VLT</a>" not in page, path
        assert 'initial=k"' not in await get(ann, "/terms") and 'initial=k"' in await get(vera, "/terms")
        assert "Liaison" in await get(vera, "/terms/term?t=VLT")


async def test_text_of_the_glossary_is_never_markup(kb: KnowledgeBase) -> None:
    async with at(kb, ANN) as ann:
        for path in (
            "/terms",
            "/terms?q=zoo",
            "/terms?initial=z",
            f"/terms/term?t=Zoo+{HOSTILE}",
            f"/terms?q={HOSTILE}",
        ):
            page = await get(ann, path)
            assert HOSTILE not in page and "<img src=x" not in page and 'href="javascript' not in page, path


async def test_pages_of_a_long_list_follow_each_other_without_gap_or_repetition(kb: KnowledgeBase) -> None:
    for number in range(130):
        kb.glossary.senses.add(f"Q{number:03}", "Tools", f"part number {number}")
    async with at(kb, ANN) as ann:
        found, path = [], "/terms?initial=q"
        while path:
            page = await get(ann, path)
            found += re.findall(r'class="term"[^>]*>(Q[^<]*)<', page)
            more = re.search(r'href="([^"]+)">More terms', page)
            path = unescape(more[1]) if more else ""
        assert found == [f"Q{number:03}" for number in range(130)]
