"""Tests of the glossary pages without a browser: what they show and do, for each role, with any input."""

import re
import shutil
from collections.abc import AsyncIterator, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from desk import CSRF, at_desk

from argot.languages.catalogues import speak
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.sense_results import PhrasePlace
from argot.settings import Settings
from argot.types import Context, Principal
from argot.ui.pages.page_base import load_templates
from argot.ui.pages.page_routes import build_pages

ADMIN = Principal("ada", sees_all=True)
NINA = Principal("nina", manages=frozenset({"NAND"}))
LEO_OF_ALL = Principal("leo", manages=frozenset({"*"}))
LEO = Principal("leo", frozenset({"managers"}))
HOSTILE = (
    '<img src=x onerror=alert(1)>"><script>alert(1)</script>',
    "</textarea><script>alert(1)</script>",
    "**bold** [link](javascript:alert(1)) `code` | cell | $x^2$",
    "{{ 7 * 7 }} {% raw %}",
    "تعريف من اليمين إلى اليسار \u202e reversed",
    "👩🏽‍🚀🎉 zero\u200bwidth",
    "line\n\n  indented\n\ttab",
    "x" * 10_000,
    "ünïcode " * 1000,
)
TERMS = (
    "C++",
    "100 %",
    'quo"te',
    "it's",
    "a/b",
    "..",
    "a&b=c",
    "😀",
    "مصطلح",
    "<b>",
    "x?y#z",
    "日本語",
    "\\n",
    "{{x}}",
)


class Desk:
    """The pages of one knowledge base, for clients of several people."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.router = build_pages(kb)

    def of(self, who: Principal) -> httpx.AsyncClient:
        return at_desk(self.router, who)


@pytest.fixture
async def desk(tiny_home: Path, tmp_path: Path) -> AsyncIterator[Desk]:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        yield Desk(kb)


@pytest.fixture
async def ada(desk: Desk) -> AsyncIterator[httpx.AsyncClient]:
    async with desk.of(ADMIN) as client:
        yield client


async def post(client: httpx.AsyncClient, path: str, /, **fields: str) -> httpx.Response:
    return await client.post(f"/glossary{path}", data={"csrf": CSRF, **fields}, follow_redirects=False)


async def get(client: httpx.AsyncClient, path: str, /, **query: str) -> str:
    answer = await client.get(f"/glossary{path}", params=query or None)
    assert answer.status_code == 200, (path, answer.status_code, answer.text[-500:])
    return answer.text


def field(html: str, name: str) -> str:
    """Return the value of a form field, as the browser would send it back."""
    found = re.search(rf'<textarea id="{name}"[^>]*>\n(.*?)</textarea>', html, re.DOTALL) or re.search(
        rf'<input (?:type="hidden" )?(?:id|name)="{name}"[^>]*? value="([^"]*)"', html
    )
    assert found, name
    return unescape(found[1])


def sense_at(answer: httpx.Response) -> int:
    found = re.match(r"/glossary/sense/(\d+)\?done=draft", answer.headers["location"])
    assert found, answer.headers["location"]
    return int(found[1])


PAGES = (
    "", "/search?q=PU", "/to-do", "/term?t=PUC", "/term?t=nothing", "/occurrences?phrase=PUC", "/new", "/queue",
    "/queue?status=dismissed", "/queue/term?t=XQZ", "/queue/choose?q=PU&t=XQZ", "/proposals", "/drafts", "/conflicts",
    "/proposals?least=0.8&pick=all&start=50", "/proposals/mining", "/queue/alias?t=XQZ&sense_id=1", "/drafts?pick=all",
    "/use", "/history", "/history/1", "/contexts", "/contexts?edit=NAND", "/files", "/sense/1", "/sense/1/edit",
)  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_answers_without_inline_or_remote_content(ada: httpx.AsyncClient, path: str) -> None:
    answer = await ada.get(f"/glossary{path}")
    assert answer.status_code == 200
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert re.findall(r"<style|\sstyle=|<script>|\son\w+=|hx-on|\bjs:|https?://", answer.text) == []
    for form in re.findall(r'<form[^>]*method="post".*?</form>', answer.text, re.DOTALL):
        assert f'name="csrf" value="{CSRF}"' in form


async def test_names_relations_example_and_source_are_written_in_the_form(ada: httpx.AsyncClient) -> None:
    made = await post(
        ada,
        "/new",
        term="Pawl",
        context="NAND",
        expansion="part that locks a wheel",
        labels="stopper: forbidden\nSperrklinke: admitted, language de",
        relations="broader: PUC",
        example="Lift the pawl.",
        source="Lock manual",
    )
    form = await get(ada, f"/sense/{sense_at(made)}/edit")
    assert field(form, "labels") == "stopper: forbidden\nSperrklinke: admitted, language de"
    assert field(form, "aliases") == "stopper\nSperrklinke"
    assert field(form, "relations") == "broader: PUC" and field(form, "example") == "Lift the pawl."
    assert 'value="Lock manual"' in form
    for name, typed in (("labels", "stopper: never"), ("relations", "above: PUC")):
        wrong = await post(ada, "/new", **{"term": "Cam", "context": "NAND", "expansion": "disc", name: typed})
        assert wrong.status_code == 400 and "Write" in wrong.text and field(wrong.text, name) == typed


async def test_a_form_without_its_csrf_token_is_refused(ada: httpx.AsyncClient) -> None:
    fields = {"term": "NEW", "context": "NAND", "expansion": "never evaluated word"}
    for given in (fields, {**fields, "csrf": "other"}):
        answer = await ada.post("/glossary/new", data=given)
        assert answer.status_code == 403
    assert "never evaluated word" not in await get(ada, "/term", t="NEW")


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_any_definition_is_stored_verbatim_and_shown_escaped(ada: httpx.AsyncClient, text: str) -> None:
    made = await post(ada, "/new", term="ODD", context="NAND", expansion="odd thing", description=text, notes=text)
    number = sense_at(made)
    assert field(await get(ada, f"/sense/{number}/edit"), "description") == text
    shown = [await get(ada, path) for path in (f"/sense/{number}", "/term?t=ODD", "?q=ODD", "/drafts", "/history/2")]
    assert unescape(shown[1]).count(text) >= 2
    for html in shown:
        assert "<script>alert" not in html
        assert "<img src=x" not in html


@pytest.mark.parametrize("term", TERMS)
async def test_every_term_has_a_page(ada: httpx.AsyncClient, term: str) -> None:
    number = sense_at(
        await post(ada, "/new", term=term, context="NAND", expansion=f"what {term} is", aliases=f"{term} x")
    )
    approved = await post(ada, f"/sense/{number}/approve", version="1")
    assert approved.status_code == 303
    answer = await ada.get(approved.headers["location"])
    assert f"what {term} is" in unescape(answer.text)
    assert term in unescape(await get(ada, "", q=term))
    (link,) = set(
        re.findall(r'<a class="term" dir="auto" href="([^"]*)"', await get(ada, "/search", q=f"what {term} is"))
    )
    assert f"what {term} is" in unescape((await ada.get(unescape(link))).text)


async def test_a_draft_is_not_used_in_answers_until_it_is_approved(desk: Desk, ada: httpx.AsyncClient) -> None:
    number = sense_at(await post(ada, "/new", term="BBM", context="NAND", expansion="bad block management"))
    assert desk.kb.glossary.lookup.senses(ADMIN, ["BBM"]) == {"BBM": []}
    assert "BBM" in await get(ada, "/drafts")
    assert (await post(ada, f"/sense/{number}/approve", version="1")).status_code == 303
    assert [one.expansion for one in desk.kb.glossary.lookup.senses(ADMIN, ["BBM"])["BBM"]] == ["bad block management"]
    assert (await post(ada, f"/sense/{number}/retire", version="2", why="obsolete")).status_code == 303
    assert desk.kb.glossary.lookup.senses(ADMIN, ["BBM"]) == {"BBM": []}
    assert "obsolete" in await get(ada, "/term", t="BBM")


async def test_warnings_appear_while_typing(ada: httpx.AsyncClient) -> None:
    async def warned(**fields: str) -> str:
        return unescape((await post(ada, "/warnings", **fields)).text)

    assert (await warned(term="")).strip() == ""
    assert "means several things" in await warned(term="PUC", context="NAND", expansion="power up cycle")
    assert "Duplicate" in await warned(term="PUC", context="NAND", expansion="Peripheral Under Cell")
    assert "ordinary English word" in await warned(term="cell", context="NAND", expansion="unit")
    assert "No document spells out 'zzz yyy'" in await warned(term="ZY", context="NAND", expansion="zzz yyy")
    assert "Alias collides" in await warned(term="XX", context="NAND", expansion="Word Line", aliases="WL")
    assert "No conflicts found" in await warned(term="BST", context="NAND", expansion="bonding step")


async def test_an_invalid_entry_is_shown_again_as_typed(ada: httpx.AsyncClient) -> None:
    for wrong in ({"term": " "}, {"context": ""}, {"review_by": "soon"}, {"term": "t" * 300}, {"audience": "a;b!"}):
        given = {"term": "OK", "context": "NAND", "expansion": "fine", "description": "my long work", **wrong}
        answer = await post(ada, "/new", **given)
        assert answer.status_code == 400
        assert field(answer.text, "description") == "my long work"
        assert 'role="alert"' in answer.text


async def test_an_existing_sense_is_named_and_the_form_kept(ada: httpx.AsyncClient) -> None:
    given = {"term": "WL", "context": "NAND", "expansion": "Word Line", "description": "mine"}
    answer = await post(ada, "/new", **given)
    assert answer.status_code == 409
    assert field(answer.text, "description") == "mine"
    assert 'href="/glossary/term?t=WL"' in answer.text


async def test_the_second_of_two_saves_shows_the_difference_and_loses_nothing(
    desk: Desk, ada: httpx.AsyncClient
) -> None:
    sense = desk.kb.glossary.lookup.senses(ADMIN, ["WL"])["WL"][0]
    path, seen = f"/sense/{sense.id}/edit", str(sense.version)
    same = {"term": "WL", "context": "NAND", "expansion": "Word Line", "version": seen}
    async with desk.of(LEO) as leo:
        first = await post(leo, path, **same, description="Leo says <b>this</b>", notes="Leo's note")
    assert first.status_code == 303
    second = await post(ada, path, **same, description="Ada says that", notes="", aliases="word-line")
    assert second.status_code == 409
    text = unescape(re.sub(r"</?(?:ins|del)>", "", second.text))
    assert "leo</bdi> saved this too" in text
    assert "Leo says <b>this</b>" in text
    assert "<b>this</b>" not in second.text
    assert field(second.text, "description") == "Ada says that"
    assert field(second.text, "aliases") == "word-line"
    assert field(second.text, "notes") == "Leo's note"  # Ada did not change it
    version = re.search(r'name="version" value="(\d+)"', second.text)
    assert version
    again = {**same, "version": version[1], "description": "both", "aliases": "word-line", "notes": "Leo's note"}
    assert (await post(ada, path, **again)).status_code == 303
    saved = desk.kb.glossary.senses.get(ADMIN, sense.id)
    assert (saved.description, saved.notes, saved.aliases) == ("both", "Leo's note", ("word-line",))


async def test_a_second_meaning_in_a_context_needs_a_reason(ada: httpx.AsyncClient) -> None:
    number = sense_at(await post(ada, "/new", term="PUC", context="NAND", expansion="power up cycle"))
    refused = await post(ada, f"/sense/{number}/approve", version="1")
    assert refused.status_code == 409
    assert "give a reason" in refused.text
    assert (await post(ada, f"/sense/{number}/approve", version="1", why="both are used")).status_code == 303


async def test_a_manager_of_one_context_changes_no_other(desk: Desk) -> None:
    legal, own = (next(s for s in desk.kb.glossary.senses.find(ADMIN) if s.context == c) for c in ("Legal", "NAND"))
    async with desk.of(NINA) as nina:
        html = await get(nina, "/term", t="PUC")
        assert f"/sense/{own.id}/edit" in html
        assert f"/sense/{legal.id}/edit" not in html
        assert "Vault Liaison Team" not in await get(nina, "", q="VLT")  # hidden from nina
        save = await post(nina, f"/sense/{legal.id}/edit", version="1", term="PUC", context="Legal", expansion="x")
        assert save.status_code == 403
        assert (await post(nina, f"/sense/{legal.id}/retire", version="1")).status_code == 403
        assert (await post(nina, "/new", term="Q", context="Legal", expansion="x")).status_code == 403
        assert (await post(nina, "/contexts", name="New")).status_code == 403
        options = re.findall(r"<option value=\"([^\"]*)\"", await get(nina, "/new"))
        assert options == ["NAND"]
    assert desk.kb.glossary.senses.get(ADMIN, legal.id).version == 1


async def test_search_sends_only_the_list_and_updates_the_address(ada: httpx.AsyncClient) -> None:
    answer = await ada.get("/glossary/search", params={"q": "word l", "status": ""}, headers={"HX-Request": "true"})
    assert "Word Line" in answer.text
    assert "<html" not in answer.text
    assert answer.headers["hx-replace-url"] == "/glossary?q=word%20l"
    nothing = await get(ada, "/search", q='<b>"no')
    assert "&lt;b&gt;" in nothing
    assert "<html" in nothing  # without the script it is a whole page


async def test_occurrences_open_only_passages_one_may_read(desk: Desk, ada: httpx.AsyncClient) -> None:
    html = await get(ada, "/term", t="PUC")
    assert "peripheral under cell" in html.casefold()
    link = re.search(r'href="(/glossary/passage/[^"]*mark=Peripheral%20Under%20Cell)"', html)
    assert link
    passage = await ada.get(unescape(link[1]))
    assert "<mark>Peripheral Under Cell</mark>" in passage.text
    vault = (await ada.get("/glossary/occurrences", params={"phrase": "vault combination"})).text
    hidden = re.search(r'href="(/glossary/passage/[^"?]*)', vault)
    assert hidden
    async with desk.of(NINA) as nina:
        assert (await nina.get(hidden[1])).status_code == 404
        assert "passage/" not in (await nina.get("/glossary/occurrences", params={"phrase": "vault combination"})).text


async def test_a_missed_term_shows_its_questions_and_becomes_an_alias(desk: Desk, ada: httpx.AsyncClient) -> None:
    desk.kb.glossary.misses.record("wordlin", "ann", "What is a <i>wordlin</i>?", "t1", shared=True)
    assert "wordlin" in await get(ada, "/queue")
    html = await get(ada, "/queue/term", t="wordlin")
    assert "What is a <i>wordlin</i>?" in unescape(html)
    assert "<i>wordlin" not in html
    sense = desk.kb.glossary.lookup.senses(ADMIN, ["WL"])["WL"][0]
    done = await post(ada, "/queue/alias", term="wordlin", sense_id=str(sense.id), version=str(sense.version))
    assert done.headers["location"] == "/glossary/term?t=WL&done=alias"
    assert desk.kb.glossary.lookup.senses(ADMIN, ["wordlin"])["wordlin"][0].id == sense.id
    assert "wordlin" not in await get(ada, "/queue")
    assert "wordlin" in await get(ada, "/queue", status="defined")


async def test_the_most_likely_context_is_preselected(desk: Desk, ada: httpx.AsyncClient) -> None:
    question = "Which tariff has to be filed with the commission before the XQT takes effect?"
    desk.kb.glossary.misses.record("XQT", "ada", question, "t1", shared=True)
    html = await get(ada, "/queue/term", t="XQT")
    assert "/glossary/new?term=XQT&amp;context=Legal" in html
    desk.kb.glossary.proposals.add("mined", "XQT", "exact quarterly tariff")
    assert "<option selected>Legal</option>" in await get(ada, "/queue/term", t="XQT")
    form = await get(ada, "/new", term="XQT", context="Legal")
    assert '<option value="Legal" selected>' in form


async def test_an_unshared_question_is_not_shown(desk: Desk) -> None:
    desk.kb.glossary.misses.record("SLX", "ann", "Is my SLX salary late?", "t1")
    async with desk.of(LEO) as leo:
        html = await get(leo, "/queue/term", t="SLX")
        assert "salary" not in html
        assert "Nobody has shared the wording" in unescape(html)


async def test_a_missed_term_is_dismissed_permanently(desk: Desk, ada: httpx.AsyncClient) -> None:
    desk.kb.glossary.misses.record("asdf", "ann", "What is asdf?", "t1")
    assert (await post(ada, "/queue/dismiss", term="asdf", why="typing")).status_code == 303
    desk.kb.glossary.misses.record("asdf", "bob", "And asdf?", "t2")
    assert "asdf" not in await get(ada, "/queue")
    assert "asdf" in await get(ada, "/queue", status="dismissed")


@pytest.fixture
def proposal(desk: Desk) -> Iterator[int]:
    passage = desk.kb.document_store.find_phrase(ADMIN, "clean room", 1)[0]
    quote = "The bonding step of Peripheral Under Cell needs a clean room"
    said = {"description": "a <b>room</b>", "evidence": [(passage, quote), ("p" + "0" * 16, "gone")]}
    yield desk.kb.glossary.proposals.add("mined", "CLR", "clean room", **said).id


async def test_a_proposal_is_accepted_in_a_context_as_a_draft(
    desk: Desk, ada: httpx.AsyncClient, proposal: int
) -> None:
    html = await get(ada, f"/proposals/{proposal}")
    assert "bonding step" in html
    assert "no longer exists" in html
    assert "a &lt;b&gt;room" in html
    number = sense_at(await post(ada, f"/proposals/{proposal}/accept", context="NAND"))
    sense = desk.kb.glossary.senses.get(ADMIN, number)
    assert (sense.term, sense.expansion, sense.context, sense.status) == ("CLR", "clean room", "NAND", "draft")
    again = await post(ada, f"/proposals/{proposal}/accept", context="NAND")
    assert again.status_code == 409
    assert "CLR" not in await get(ada, "/proposals")


async def test_a_proposal_is_edited_merged_or_dismissed(desk: Desk, ada: httpx.AsyncClient, proposal: int) -> None:
    form = await get(ada, f"/proposals/{proposal}/edit")
    assert field(form, "expansion") == "clean room"
    refused = await post(ada, f"/proposals/{proposal}/edit", term="CLR", context="NAND", expansion="")
    assert refused.status_code == 400
    given = {"term": "CLR", "context": "NAND", "expansion": "clean room of class 10"}
    number = sense_at(await post(ada, f"/proposals/{proposal}/edit", **given))
    assert desk.kb.glossary.senses.get(ADMIN, number).expansion == "clean room of class 10"
    other = desk.kb.glossary.proposals.add("mined", "CLRM", "clean room").id
    assert "CLR" in (await ada.get("/glossary/queue/choose", params={"q": "clean", "proposal": other})).text
    merged = await post(ada, "/queue/alias", proposal=str(other), sense_id=str(number))
    assert merged.status_code == 303
    assert desk.kb.glossary.senses.get(ADMIN, number).aliases == ("CLRM",)
    third = desk.kb.glossary.proposals.add("mined", "XXX", "never").id
    assert (await post(ada, f"/proposals/{third}/dismiss", why="no")).status_code == 303
    assert desk.kb.glossary.proposals.add("mined", "XXX", "never").status == "dismissed"


def test_a_place_in_a_file_is_called_page_slide_or_sheet() -> None:
    for document, told in (("a.xlsx", ", sheet 3"), ("a.pptx", ", slide 3"), ("a.pdf", ", page 3")):
        parts = load_templates().get_template("parts.html").make_module()
        assert f"</a>{told}" in parts.place(PhrasePlace("p", document, "", 3, "", "WL", ""), "WL")  # type: ignore[attr-defined]
    for template in load_templates().list_templates():
        source, *_ = load_templates().loader.get_source(load_templates(), template)  # type: ignore[union-attr]
        assert ".page }}" not in source, template


async def test_the_history_names_the_subject_of_each_change(desk: Desk, ada: httpx.AsyncClient) -> None:
    for number in range(4):
        desk.kb.glossary.senses.draft(ADMIN, f"ZTERM{number}", "NAND", "x y z")
    html = await get(ada, "/history")
    assert all(f"<bdi>ZTERM{number}</bdi>" in html for number in range(4))


async def test_terms_are_paged_and_filtered_by_context(desk: Desk, ada: httpx.AsyncClient) -> None:
    for number in range(120):
        desk.kb.glossary.senses.add(f"ZTERM{number:03}", "Zoo", f"paged meaning {number}")
    first = await get(ada, "", context="Zoo")
    assert first.count("ZTERM0") > 0
    assert "PUC" not in first.split('id="results"')[1]
    seen, path = [], "/glossary?context=Zoo"
    while path:
        html = (await ada.get(path)).text
        seen += re.findall(r">(ZTERM\d+)</a>", html)
        more = re.search(r'href="([^"]*)">More</a>', html)
        path = unescape(more[1]) if more else ""
    assert seen == [f"ZTERM{number:03}" for number in range(120)]
    assert '>Earlier</a> <span class="aside">101 to 120</span>' in html
    assert "There are no more" in await get(ada, "", start="5000")


async def test_a_search_stays_within_the_context_and_shows_more_on_demand(desk: Desk, ada: httpx.AsyncClient) -> None:
    for number in range(40):
        desk.kb.glossary.senses.add(f"ZTERM{number:03}", "Zoo" if number % 2 else "Farm", "paged meaning")
    for q in ("zterm", "paged"):
        html = await get(ada, "/search", q=q)
        assert len(re.findall(r">ZTERM\d+</a>", html)) == 20
        more = re.search(r'href="([^"]*)">Show more</a>', html)
        assert more
        assert len(re.findall(r">ZTERM\d+</a>", (await ada.get(unescape(more[1]))).text)) == 40
        zoo = await get(ada, "/search", q=q, context="Zoo")
        assert len(re.findall(r">ZTERM\d+</a>", zoo)) == 20
        assert "Show more" not in zoo
    assert "none with this context" in await get(ada, "", context="Nowhere")
    assert (await ada.get("/glossary", params={"context": "\x00", "start": "9" * 15})).status_code == 200


async def test_the_effects_of_approving_several_drafts_are_previewed(desk: Desk, ada: httpx.AsyncClient) -> None:
    desk.kb.glossary.misses.record("BSTP", "ada", "What does the <b>BSTP</b> need?", "t1", shared=True)
    drafts = [desk.kb.glossary.senses.draft(ADMIN, term, "NAND", f"bonding {term}") for term in ("BSTP", "XQZ")]
    assert "/drafts/effects" in await get(ada, "/drafts")
    ticked = {"csrf": CSRF, "sense": [f"{draft.id}:{draft.version}" for draft in drafts]}
    told = (await ada.post("/glossary/drafts/effects", data=ticked, headers={"HX-Request": "1"})).text
    assert "What these 2 would change" in told
    assert "1 past question you may see mentions them" in told
    assert "<b>BSTP" not in told
    assert "<html" not in told
    assert "What does the <b>BSTP</b> need?" in unescape(told)
    assert "What they would change" in (await ada.post("/glossary/drafts/effects", data=ticked)).text
    assert "Tick some" in (await ada.post("/glossary/drafts/effects", data={"csrf": CSRF})).text
    assert desk.kb.glossary.senses.get(ADMIN, drafts[0].id).status == "draft"


async def test_the_effects_of_accepting_several_proposals_are_previewed(desk: Desk, ada: httpx.AsyncClient) -> None:
    desk.kb.glossary.misses.record("BSTP", "ada", "What does the BSTP need?", "t1", shared=True)
    proposal = desk.kb.glossary.proposals.add("mined", "BSTP", "bonding step")
    assert "/proposals/effects" in await get(ada, "/proposals")
    told = (await post(ada, "/proposals/effects", id=str(proposal.id), context="NAND")).text
    assert "What it would change" in told
    assert "bonding step" in told
    assert desk.kb.glossary.proposals.get(ADMIN, proposal.id).status == "open"


async def test_the_effects_of_approving_a_draft_are_previewed(desk: Desk, ada: httpx.AsyncClient) -> None:
    desk.kb.glossary.misses.record("BSTP", "ada", "What does the <b>BSTP</b> need?", "t1", shared=True)
    number = sense_at(await post(ada, "/new", term="BSTP", context="NAND", expansion="bonding step"))
    assert f"/sense/{number}/effects" in await get(ada, f"/sense/{number}")
    whole = await get(ada, f"/sense/{number}/effects")
    assert "<b>BSTP" not in whole
    text = unescape(whole)
    assert "What does the <b>BSTP</b> need?" in text
    now, after = text.split("Once approved")
    assert "unknown" in now
    assert "bonding step" in after
    tried = await ada.get(
        f"/glossary/sense/{number}/effects", params={"q": "Cost of BSTP?"}, headers={"HX-Request": "1"}
    )
    assert "Cost of BSTP?" in tried.text
    assert "<html" not in tried.text
    assert desk.kb.glossary.lookup.senses(ADMIN, ["BSTP"]) == {"BSTP": []}


async def test_the_documents_are_searched_for_one_missed_term(desk: Desk, ada: httpx.AsyncClient) -> None:
    done = await post(ada, "/queue/look", term="XQZV")
    assert done.headers["location"] == "/glossary/queue/term?t=XQZV&done=not-found"
    assert "None that you may read says" in (await ada.get(done.headers["location"])).text
    assert (await post(ada, "/queue/look", term=" ")).status_code == 400


async def test_the_documents_are_mined_for_terms_in_the_background(desk: Desk, ada: httpx.AsyncClient) -> None:
    assert "Look for terms in 4 documents" in await get(ada, "/proposals")
    done = await post(ada, "/proposals/mine")
    assert done.headers["location"] == "/glossary/proposals"
    running = await ada.get("/glossary/proposals/mining")
    assert ('hx-trigger="every 1s"' in running.text) != ("hx-refresh" in running.headers)
    (job,) = await desk.kb.jobs.list_jobs()
    _ = [one async for one in desk.kb.jobs.follow(job.id)]
    over = await ada.get("/glossary/proposals/mining")
    assert over.headers["hx-refresh"] == "true" and "Your documents were read" in over.text
    assert len(desk.kb.glossary.senses.find(ADMIN)) == 6  # no sense is added without a manager
    assert "<button>Look" not in await get(ada, "/proposals")  # all documents were read


@pytest.fixture
def offered(desk: Desk) -> dict[str, int]:
    """Provide proposals of different confidence; CLR is proposed twice."""
    propose, passage = desk.kb.glossary.proposals.add, desk.kb.document_store.find_phrase(ADMIN, "clean room", 1)[0]
    evidence = [(passage, "a clean room (CLR) of <b>class</b> 10")]
    return {
        "CLR": propose("mined", "CLR", "clean room", evidence=evidence, score=0.9).id,
        "BST": propose("mined", "BST", "bonding step", score=0.95).id,
        "CLR again": propose("mined", "CLR", "clerk", score=0.85).id,
        "odd": propose("mined", "ODD", "odd day delivery", score=0.5).id,
        "bare": propose("person", "BARE").id,
    }


def tick(*ids: int, **fields: str) -> dict[str, Any]:
    return {"csrf": CSRF, "id": [str(one) for one in ids], **fields}


async def test_several_proposals_are_accepted_at_once_and_rolled_back_together(
    desk: Desk, ada: httpx.AsyncClient, offered: dict[str, int]
) -> None:
    html = await get(ada, "/proposals")
    assert html.index("BST") < html.index("clean room") < html.index("clerk") < html.index("ODD")
    assert "a clean room (CLR) of &lt;b&gt;class" in html and "nand-layout.md" in html
    assert "Accept all 3 that are sure" in html
    assert "odd day" not in await get(ada, "/proposals", least="0.8")

    accept, both = "/glossary/proposals/accept", (offered["CLR"], offered["odd"])
    none = await ada.post(accept, data={"csrf": CSRF})
    assert none.headers["location"].endswith("done=none-ticked")
    homeless = await ada.post(accept, data=tick(*both))
    assert homeless.status_code == 400 and "Choose the context" in homeless.text
    assert homeless.text.count(" checked") == 2  # no ticked proposal is lost

    made = await ada.post(accept, data=tick(*both, context="NAND"))
    assert "2 meanings accepted" in made.text
    assert {one.term for one in desk.kb.glossary.senses.find(ADMIN, status="draft")} == {"CLR", "ODD"}
    change = desk.kb.glossary.history.changes(ADMIN)[0]
    assert (change.kind, change.rows) == ("accept", 2)
    assert (await post(ada, f"/history/{change.id}/roll-back")).status_code == 303
    assert not desk.kb.glossary.senses.find(ADMIN, status="draft")
    assert "odd day" in await get(ada, "/proposals")  # the proposal is open again


async def test_a_mistaken_dismissal_is_undone(desk: Desk, ada: httpx.AsyncClient, offered: dict[str, int]) -> None:
    number, headers = offered["BST"], {"HX-Request": "1", "X-CSRF-Token": CSRF}
    gone = await ada.post(f"/glossary/proposals/{number}/dismiss", headers=headers)
    assert "Undo" in gone.text and "<html" not in gone.text
    assert "BST" not in await get(ada, "/proposals")
    assert "Undo the dismissal" in await get(ada, f"/proposals/{number}")
    back = await ada.post(f"/glossary/proposals/{number}/reopen", headers=headers)
    assert f'name="id" value="{number}"' in back.text
    assert desk.kb.glossary.proposals.get(ADMIN, number).status == "open"
    assert (await post(ada, f"/proposals/{number}/reopen")).status_code == 409
    async with desk.of(Principal("otto")) as otto:
        assert (await post(otto, f"/proposals/{number}/dismiss")).status_code == 403


async def test_all_confident_proposals_are_accepted_and_conflicting_ones_left(
    desk: Desk, ada: httpx.AsyncClient, offered: dict[str, int]
) -> None:
    given = {"csrf": CSRF, "least": "0.8", "context": "NAND", "approve": "yes", "why": ""}
    done = await ada.post("/glossary/proposals/accept", data=given)
    text = unescape(re.sub("<[^>]+>", "", done.text))
    assert "2 meanings approved" in text and "1 proposal not accepted" in text
    assert "'CLR' means 'clean room' in 'NAND' already" in text
    found = desk.kb.glossary.lookup.senses(ADMIN, ["CLR", "BST", "ODD"])
    assert [len(found[name]) for name in ("CLR", "BST", "ODD")] == [1, 1, 0]


async def test_a_manager_of_one_context_cannot_accept_into_another(desk: Desk, offered: dict[str, int]) -> None:
    async with desk.of(NINA) as nina:
        done = await nina.post("/glossary/proposals/accept", data=tick(offered["BST"], context="Legal"))
        assert "0 meanings accepted" in done.text and "does not manage" in done.text
        done = await nina.post("/glossary/proposals/accept", data=tick(offered["BST"], context="NAND"))
        assert "1 meaning accepted" in done.text


async def test_several_drafts_are_approved_together(desk: Desk, ada: httpx.AsyncClient) -> None:
    one = desk.kb.glossary.senses.draft(ADMIN, "BST", "NAND", "bonding step")
    other = desk.kb.glossary.senses.draft(ADMIN, "WL", "NAND", "wafer lot")
    assert (await ada.post("/glossary/drafts/approve", data={"csrf": CSRF})).headers["location"].endswith("none-ticked")
    ticked = {"csrf": CSRF, "sense": [f"{one.id}:{one.version}", f"{other.id}:{other.version}", "x:y", ""]}
    done = await ada.post("/glossary/drafts/approve", data=ticked)
    assert done.status_code == 409 and "1 draft approved, 1 not" in done.text
    assert desk.kb.glossary.lookup.senses(ADMIN, ["BST"])["BST"]
    assert [sense.expansion for sense in desk.kb.glossary.senses.find(ADMIN, status="draft")] == ["wafer lot"]


async def test_the_effects_of_editing_an_approved_sense_are_previewed(desk: Desk, ada: httpx.AsyncClient) -> None:
    desk.kb.glossary.misses.record("WLX", "ada", "What voltage has the WL?", "t1", shared=True)
    sense = desk.kb.glossary.lookup.senses(ADMIN, ["WL"])["WL"][0]
    form = await get(ada, f"/sense/{sense.id}/edit")
    assert form.index("See what it would change") < form.index(">Save<")
    given = {"term": "WL", "context": "NAND", "expansion": "<b>clean room</b>", "version": str(sense.version)}
    whole = await post(ada, f"/sense/{sense.id}/preview", **given)
    text = unescape(whole.text)
    assert whole.status_code == 200 and "What voltage has the WL?" in text and "Once saved" in text
    assert "<b>clean room" not in whole.text
    assert field(whole.text, "expansion") == "<b>clean room</b>"  # the form keeps its input
    headers = {"HX-Request": "1", "X-CSRF-Token": CSRF}
    address = f"/glossary/sense/{sense.id}/preview"
    some = await ada.post(address, data={**given, "q": "Where is the WL?"}, headers=headers)
    assert "Where is the WL?" in some.text and "<html" not in some.text
    stale = await ada.post(address, data={**given, "version": "0"}, headers=headers)
    assert "saved by somebody else" in unescape(stale.text)
    assert (
        await post(ada, f"/sense/{sense.id}/preview", **{**given, "expansion": "", "description": ""})
    ).status_code == 400
    assert desk.kb.glossary.senses.get(ADMIN, sense.id) == sense  # nothing is stored


async def test_the_effects_of_retiring_a_sense_are_previewed(desk: Desk, ada: httpx.AsyncClient) -> None:
    sense = desk.kb.glossary.lookup.senses(ADMIN, ["WL"])["WL"][0]
    assert f"/sense/{sense.id}/effects?change=retire" in await get(ada, "/term", t="WL")
    told = await get(ada, f"/sense/{sense.id}/effects", change="retire", q="What voltage has the WL?")
    assert "Once retired" in told and "Back to the term" in told
    assert desk.kb.glossary.senses.get(ADMIN, sense.id).status == "approved"


async def test_the_effects_of_adding_an_alias_are_previewed(desk: Desk, ada: httpx.AsyncClient) -> None:
    desk.kb.glossary.misses.record("W-Line", "ada", "What voltage has the W-Line?", "t1", shared=True)
    sense = desk.kb.glossary.lookup.senses(ADMIN, ["WL"])["WL"][0]
    asked = await get(ada, "/queue/alias", t="W-Line", sense_id=str(sense.id))
    assert "/queue/alias/effects?t=W-Line" in asked and f'name="version" value="{sense.version}"' in asked
    effects = await get(ada, "/queue/alias/effects", t="W-Line", sense_id=str(sense.id))
    assert "What voltage has the W-Line?" in effects and "As another name" in effects
    assert desk.kb.glossary.senses.get(ADMIN, sense.id).aliases == ()


async def upload(client: httpx.AsyncClient, data: bytes, name: str = "terms.csv", **fields: str) -> httpx.Response:
    given, files = {"csrf": CSRF, **fields}, {"file": (name, data, "text/csv")}
    return await client.post("/glossary/files/preview", data=given, files=files)


async def test_an_import_does_what_its_preview_showed_or_shows_a_new_one(desk: Desk, ada: httpx.AsyncClient) -> None:
    """Check that changes saved by another manager in between are not overwritten unseen."""
    glossary = desk.kb.glossary
    sense = glossary.senses.add("QXZ", "Lab", "quiet zone", "old words")
    shown = await upload(ada, b"term,context,expansion,description\nQXZ,Lab,quiet zone,words of the file\n")
    found = re.search(r'name="token" value="([^"]+)"', shown.text)
    assert found
    glossary.senses.save(LEO_OF_ALL, sense.id, version=sense.version, description="words of leo")
    again = await post(ada, "/files/import", token=found[1], why="the list")
    assert again.status_code == 409
    assert "was changed since you looked" in again.text
    assert "leo" in again.text and 'value="the list"' in again.text
    assert glossary.senses.get(ADMIN, sense.id).description == "words of leo"
    found = re.search(r'name="token" value="([^"]+)"', again.text)
    assert found and (await post(ada, "/files/import", token=found[1])).status_code == 303
    assert glossary.senses.get(ADMIN, sense.id).description == "words of the file"


async def test_an_import_takes_values_missing_from_the_file_from_the_form(desk: Desk, ada: httpx.AsyncClient) -> None:
    data = "term;expansion\nBÜ;Brücke über\n".encode("cp1252")  # as a spreadsheet saves it on Windows
    shown = await upload(ada, data, context="Legal")
    assert "Brücke über" in shown.text and "Legal" in shown.text
    found = re.search(r'name="token" value="([^"]+)"', shown.text)
    assert found and (await post(ada, "/files/import", token=found[1])).status_code == 303
    (sense,) = desk.kb.glossary.lookup.senses(ADMIN, ["BÜ"])["BÜ"]
    assert (sense.context, sense.expansion) == ("Legal", "Brücke über")
    bad = await upload(ada, b"term,expansion\nPUC,\n")
    assert "<bdi>Row 2</bdi></strong> <bdi>&#39;PUC&#39; has neither an expansion nor a description" in bad.text
    thesaurus = (
        '<urn:x:1> <http://www.w3.org/2004/02/skos/core#prefLabel> "Brücke"@de, "bridge"@en ; '
        "a <http://www.w3.org/2004/02/skos/core#Concept> ."
    )
    german = await upload(ada, thesaurus.encode(), "t.ttl", context="Legal", language="de")
    assert '<span class="expansion" dir="auto">Brücke' in german.text


async def test_an_import_is_previewed_done_once_and_rolled_back(desk: Desk, ada: httpx.AsyncClient) -> None:
    data = "term,context,expansion,description\nWL,NAND,Word Line,changed <i>words</i>\nNEW,Fab,näw thing,\n".encode()
    shown = await upload(ada, data)
    assert shown.status_code == 200
    text = unescape(re.sub(r"</?(?:ins|del)>", "", shown.text))
    assert "<strong>1</strong> added" in text
    assert "<strong>1</strong> changed" in text
    assert "changed <i>words</i>" in text
    assert "<i>words" not in shown.text
    assert desk.kb.glossary.lookup.senses(ADMIN, ["NEW"]) == {"NEW": []}  # nothing is stored yet
    found = re.search(r'name="token" value="([^"]+)"', shown.text)
    assert found
    async with desk.of(LEO) as leo:
        assert (await post(leo, "/files/import", token=found[1])).status_code == 400
    done = await post(ada, "/files/import", token=found[1], why="yearly list")
    change = re.match(r"/glossary/history/(\d+)", done.headers["location"])
    assert change
    assert desk.kb.glossary.lookup.senses(ADMIN, ["NEW"])["NEW"][0].expansion == "näw thing"
    assert (await post(ada, "/files/import", token=found[1])).status_code == 400  # the token is valid once
    assert "yearly list" in await get(ada, f"/history/{change[1]}")
    assert (await post(ada, f"/history/{change[1]}/roll-back")).status_code == 303
    assert desk.kb.glossary.lookup.senses(ADMIN, ["NEW"]) == {"NEW": []}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no table"),
        (b"stock,shelf\n7,8\n", "no column is known to hold the terms"),
        (b"term,expansion\nA,\n,b\n", "problems"),
        (b"\xff\xfe\x00\x01\x02", "term"),
        (b'term,expansion\n"A,b\n', "no CSV"),
        (b"PK\x03\x04 a spreadsheet", "holds no workbook"),
        (b"<script>alert(1)</script>\n1\n", "no column is known to hold the terms"),
    ],
    ids=range(7),
)
async def test_an_invalid_file_is_reported_with_its_rows(ada: httpx.AsyncClient, data: bytes, said: str) -> None:
    answer = await upload(ada, data, '<b>"evil".csv')
    assert answer.status_code in (200, 400)
    assert said in unescape(answer.text)
    assert "<script>alert" not in answer.text
    assert '<b>"evil"' not in answer.text
    assert "/files/import" not in answer.text


async def test_columns_are_corrected_on_the_page_and_the_rest_comes_back(desk: Desk, ada: httpx.AsyncClient) -> None:
    data = b"first,second\nQ7,quick fuse\n" + b"x" * 201 + b",too long\n"
    shown = await upload(ada, data, "stock.csv")
    assert "no column is known to hold the terms" in shown.text
    token = re.search(r'name="token" value="([^"]+)"', shown.text)
    fields = {"column-0": "first", "field-0": "term", "column-1": "second", "field-1": "expansion"}
    assert token
    corrected = await post(ada, "/files/preview", token=token[1], everyday="draft", **fields)
    assert "Import what is right: 1 sense" in corrected.text
    token = re.search(r'name="token" value="([^"]+)"', corrected.text)
    assert token
    rest = await ada.get("/glossary/files/rest", params={"token": token[1]})
    assert "row 3" in rest.text and "shorten it to 200" in rest.text
    async with desk.of(LEO) as leo:
        assert (await leo.get("/glossary/files/rest", params={"token": token[1]})).status_code == 404
    assert (await post(ada, "/files/import", token=token[1], partial="yes")).status_code == 303
    assert desk.kb.glossary.lookup.senses(ADMIN, ["Q7"])["Q7"][0].expansion == "quick fuse"


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("x.json", b"term,expansion\nA,b\n", "choose the right format"),
        ("x.ttl", b"term,expansion\nA,b\n", "choose the right format"),
        ("x.rdf", b"<a", "choose the right format"),
        ("x.ttl", b"<urn:x:1> <urn:x:2> <urn:x:3> .", "choose the right format"),
        ("x.pdf", b"%PDF-1.7", "look for terms"),
        ("x.ttl", b'<urn:x:1> a <http://www.w3.org/2004/02/skos/core#Concept> ;'
         b'<http://www.w3.org/2004/02/skos/core#prefLabel> "A" .', "for which the file names none"),
    ],
    ids=range(6),
)  # fmt: skip
async def test_the_remedy_for_an_invalid_file_is_possible_on_the_page(
    desk: Desk, ada: httpx.AsyncClient, name: str, data: bytes, said: str
) -> None:
    told = unescape((await upload(ada, data, name)).text)
    assert said in told
    assert "argot glossary" not in told and not re.search(r"\s--\w", told)
    html = await get(ada, "/files")
    assert 'name="format"' in html and "for which the file names none" in html


async def test_the_chosen_format_takes_precedence_over_the_file_name(desk: Desk, ada: httpx.AsyncClient) -> None:
    shown = await upload(ada, b"term,context,expansion\nQF,NAND,quick fuse\n", "x.json", format="csv")
    found = re.search(r'name="token" value="([^"]+)"', shown.text)
    assert found and (await post(ada, "/files/import", token=found[1])).status_code == 303
    assert desk.kb.glossary.lookup.senses(ADMIN, ["QF"])["QF"][0].expansion == "quick fuse"
    assert (await upload(ada, b"term,expansion\n", format="nonsense")).status_code == 400


async def test_an_export_is_offered_in_every_format_and_imports_again(desk: Desk, ada: httpx.AsyncClient) -> None:
    names = re.findall(r"export\?format=(\w+)", await get(ada, "/files"))
    assert "csv" in names
    for name in names:
        answer = await ada.get("/glossary/files/export", params={"format": name})
        assert answer.status_code == 200
        assert "attachment" in answer.headers["content-disposition"]
        file = re.search(r"filename\*=UTF-8''(\S+)", answer.headers["content-disposition"])
        assert file
        assert "as they are" in (await upload(ada, answer.content, file[1])).text
    assert (await ada.get("/glossary/files/export", params={"format": "../x"})).status_code == 400


async def test_an_exported_csv_file_is_readable_by_a_spreadsheet(desk: Desk, ada: httpx.AsyncClient) -> None:
    desk.kb.glossary.senses.add("Größe", "Maße", "size 漢字")
    exported = (await ada.get("/glossary/files/export", params={"format": "csv"})).content
    # Without the mark, some spreadsheets use the encoding of the machine.
    assert exported.startswith("\ufeffterm,".encode())
    assert "Größe,Maße,size 漢字".encode() in exported
    assert "as they are" in (await upload(ada, exported)).text


async def test_the_history_shows_both_versions_and_rolls_a_term_back(desk: Desk, ada: httpx.AsyncClient) -> None:
    sense = desk.kb.glossary.lookup.senses(ADMIN, ["WL"])["WL"][0]
    desk.kb.glossary.senses.save(ADMIN, sense.id, version=sense.version, description="wrong", why="by mistake")
    html = await get(ada, "/term", t="WL")
    assert "by mistake" in html
    assert "<ins>wrong</ins>" in html
    moment = re.search(r'name="moment" value="(\d+)"', html)
    assert moment
    assert (await post(ada, "/term/roll-back", term="WL", moment=moment[1])).status_code == 303
    assert desk.kb.glossary.senses.get(ADMIN, sense.id).description == sense.description


async def test_the_history_names_a_status_in_the_language_of_the_page(desk: Desk, ada: httpx.AsyncClient) -> None:
    sense = desk.kb.glossary.lookup.senses(ADMIN, ["WL"])["WL"][0]
    desk.kb.glossary.senses.retire(ADMIN, sense.id, sense.version, "gone")
    for language, words in {"en": "retired", "de": "zurückgezogen", "fr": "retiré", "es": "retirado"}.items():
        with speak(language):
            changes = (await get(ada, "/term", t="WL")).split('class="changes"')
        assert any(f"<ins>{words}</ins>" in one for one in changes), language


async def test_a_change_with_later_changes_is_rolled_back_only_if_forced(desk: Desk, ada: httpx.AsyncClient) -> None:
    glossary = desk.kb.glossary
    sense = glossary.lookup.senses(ADMIN, ["WL"])["WL"][0]
    first = glossary.senses.save(ADMIN, sense.id, version=sense.version, description="one")
    change = glossary.history.changes(ADMIN)[0].id
    glossary.senses.save(ADMIN, sense.id, version=first.version, description="two")
    refused = await post(ada, f"/history/{change}/roll-back")
    assert refused.status_code == 409
    assert 'name="force"' in refused.text
    assert (await post(ada, f"/history/{change}/roll-back", force="yes")).status_code == 303


async def test_charts_have_a_text_alternative(desk: Desk, ada: httpx.AsyncClient) -> None:
    sense = desk.kb.glossary.lookup.senses(ADMIN, ["WL"])["WL"][0]
    desk.kb.glossary.usage.record([sense.id] * 3)
    desk.kb.glossary.misses.record("ZQX", "ann", "What is ZQX?", "t1")
    html = await get(ada, "/use")
    assert re.search(r'aria-label="Questions that meant WL, by week: \d{4}-W\d\d: 3"', html)
    assert 'aria-label="Questions that missed ZQX' in html
    assert "<svg" in await get(ada, "/term", t="WL")


async def test_an_empty_glossary_shows_the_first_steps(tmp_path: Path) -> None:
    home = tmp_path / "kb"
    async with KnowledgeBase.open(home, Settings(home=home), create=True) as kb, Desk(kb).of(ADMIN) as ada:
        first = await get(ada, "/to-do")
        assert re.findall(r'href="/glossary/(\w+)"', first) == ["proposals", "files", "queue"]
        for path in ("/queue", "/proposals", "/drafts", "/conflicts", "/use", "/history", "/contexts"):
            assert 'class="empty"' in await get(ada, path)
        assert field(await get(ada, "/new"), "context") == "General"
        sense_at(await post(ada, "/new", term="A1", context="General", expansion="first of all"))
        assert "empty. Three ways" not in await get(ada, "/to-do")


async def test_contexts_are_created_and_changed(desk: Desk, ada: httpx.AsyncClient) -> None:
    assert (await post(ada, "/contexts", name="<b>Fab", description="wafers", contact="f@x")).status_code == 303
    html = await get(ada, "/contexts", edit="<b>Fab")
    assert "<b>Fab" not in html
    assert field(html, "contact") == "f@x"
    assert (await post(ada, "/contexts", name=" ")).status_code == 400
    given = {name: field(html, name) for name in ("id", "version", "name")}
    assert (await post(ada, "/contexts", **given, description="wafers", why="gone")).status_code == 303
    stored = next(one for one in desk.kb.glossary.contexts.all(ADMIN) if one.name == "<b>Fab")
    assert (stored.description, stored.contact, stored.version) == ("wafers", "", 2)
    assert "gone" in await get(ada, "/history")


async def test_two_managers_who_save_one_context_lose_no_change(desk: Desk, ada: httpx.AsyncClient) -> None:
    await post(ada, "/contexts", name="Fab", description="wafers", contact="old@x")
    html = await get(ada, "/contexts", edit="Fab")
    seen = {name: field(html, name) for name in ("id", "version", "name", "contact")}
    async with desk.of(LEO) as leo:
        first = {**seen, "description": "wafers <i>and</i> masks", "contact": "leo@x", "audience": "fab, @leo"}
        assert (await post(leo, "/contexts", **first)).status_code == 303
        twice = await post(leo, "/contexts", **first)
        assert twice.status_code == 303  # as if the button was pressed twice
    second = await post(ada, "/contexts", **seen, description="wafers and dies")
    assert second.status_code == 409
    assert "leo</bdi> saved this too" in second.text
    assert "masks" in second.text and "dies" in second.text and "<i>and" not in second.text
    assert field(second.text, "contact") == "leo@x"  # ada did not change it
    assert field(second.text, "audience") == "@leo, fab"
    assert "wafers and dies</textarea>" in second.text
    stored = context_of(desk, "Fab")
    assert (stored.description, stored.version) == ("wafers <i>and</i> masks", 2)
    again = {name: field(second.text, name) for name in ("id", "version", "name", "contact", "audience")}
    assert (await post(ada, "/contexts", **again, description="wafers, masks and dies")).status_code == 303
    stored = context_of(desk, "Fab")
    assert (stored.description, stored.contact, stored.version) == ("wafers, masks and dies", "leo@x", 3)
    assert stored.audience == frozenset({"fab", "@leo"})


async def test_a_new_context_never_replaces_an_existing_one(desk: Desk, ada: httpx.AsyncClient) -> None:
    await post(ada, "/contexts", name="Fab", description="wafers", contact="fab@x")
    assert (await post(ada, "/contexts", name="Fab", description="wafers", contact="fab@x")).status_code == 303
    refused = await post(ada, "/contexts", name="fab", description="fabulous")
    assert refused.status_code == 409
    assert "fabulous</textarea>" in refused.text and field(refused.text, "contact") == "fab@x"
    assert context_of(desk, "Fab").description == "wafers"
    again = {name: field(refused.text, name) for name in ("id", "version", "name", "contact")}
    assert (await post(ada, "/contexts", **again, description="both")).status_code == 303
    assert context_of(desk, "Fab").description == "both"


async def test_a_context_deleted_meanwhile_is_reported_and_the_form_kept(desk: Desk, ada: httpx.AsyncClient) -> None:
    await post(ada, "/contexts", name="Fab")
    html = await get(ada, "/contexts", edit="Fab")
    seen = {name: field(html, name) for name in ("id", "version", "name")}
    desk.kb.glossary.history.roll_back(ADMIN, desk.kb.glossary.history.changes(ADMIN, 1)[0].id)
    gone = await post(ada, "/contexts", **seen, description="wafers")
    assert gone.status_code == 400
    assert "wafers</textarea>" in gone.text
    again = {name: field(gone.text, name) for name in ("name",)}
    assert (await post(ada, "/contexts", **again, description="wafers")).status_code == 303
    assert context_of(desk, "Fab").description == "wafers"


def context_of(desk: Desk, name: str) -> Context:
    return next(one for one in desk.kb.glossary.contexts.all(ADMIN) if one.name == name)


async def test_a_refused_rollback_is_explained_on_the_page_of_the_term(desk: Desk, ada: httpx.AsyncClient) -> None:
    desk.kb.glossary.senses.add("ZQX", "NAND", "zone quotient")
    change = str(desk.kb.glossary.history.changes(ADMIN, 1)[0].id)
    refused = await post(ada, "/term/roll-back", term="ZQX", moment=change)
    assert refused.status_code == 409
    assert "nothing to roll back" in refused.text and "zone quotient" in refused.text
    other = await ada.post("/glossary/drafts/approve", data={"csrf": CSRF, "sense": ["1:1"] * 2000})
    assert other.status_code == 400
    assert "This was not done" in other.text and "Not allowed" not in other.text


@pytest.mark.parametrize(
    "path",
    ["/sense/999", "/sense/999/edit", "/proposals/999", "/proposals/999/edit", "/passage/nothing", "/history/999"],
)
async def test_missing_items_give_status_404(ada: httpx.AsyncClient, path: str) -> None:
    assert (await ada.get(f"/glossary{path}")).status_code == 404


async def test_no_address_or_form_content_causes_a_server_error(ada: httpx.AsyncClient) -> None:
    for path in ("/sense/{}", "/proposals/{}", "/history/{}", "/sense/{}/edit", "/passage/{}"):
        for value in ("-1", "x", str(10**30), "%00", "..%2f", "%ff"):
            assert (await ada.get("/glossary" + path.format(value))).status_code < 500
    for query in ("\x00", "\ud7ff", "%", '"', "a" * 5000, "AND OR NOT (", "*", "😀"):
        for path in ("", "/search", "/queue/choose", "/proposals"):
            assert (await ada.get(f"/glossary{path}", params={"q": query})).status_code == 200
        for path in ("/queue/alias", "/queue/alias/effects"):
            assert (await ada.get(f"/glossary{path}", params={"t": query, "sense_id": "1"})).status_code == 200
        for path in ("/term", "/queue/term"):
            assert (await ada.get(f"/glossary{path}", params={"t": query})).status_code == 200
    for path in (
        "/new",
        "/queue/alias",
        "/queue/dismiss",
        "/term/roll-back",
        "/files/import",
        "/contexts",
        "/warnings",
        "/proposals/accept",
        "/proposals/mine/stop",
        "/proposals/effects",
        "/drafts/approve",
        "/drafts/effects",
        "/sense/1/preview",
        "/sense/999/preview",
    ):
        for given in ({}, {"term": "\x00", "sense_id": "x", "version": "-", "moment": "9" * 40, "name": "\x00"}):
            assert (await post(ada, path, **given)).status_code < 500


async def test_an_oversized_form_is_not_read(ada: httpx.AsyncClient) -> None:
    headers = {"Content-Length": str(10**12), "X-CSRF-Token": CSRF}
    assert (await ada.post("/glossary/new", content=b"x", headers=headers)).status_code == 413
