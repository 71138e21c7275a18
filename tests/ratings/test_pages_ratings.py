"""Tests of the rating pages without a browser: raters never learn which system wrote what, and lose no input."""

import json
import re
import shutil
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from desk import CSRF, at_desk

from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages

MIA = Principal("mia", frozenset({"managers"}))
ANN, EVE = Principal("ann"), Principal("eve")
SYSTEMS = ("Zebra-7B", "Yak-70B")
HOSTILE = (
    "<script>alert(1)</script> [link](javascript:alert(1)) ![x](http://evil/x.png) **bold**"
    "\n\n| a | b |\n|---|---|\n| 1 | 2 |"
)
ADDRESS = "/ratings/study/Autumn%20round"


class Desk:
    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb, self.router = kb, build_pages(kb)

    def of(self, who: Principal) -> httpx.AsyncClient:
        return at_desk(self.router, who)


@pytest.fixture
async def desk(tiny_home: Path, tmp_path: Path) -> AsyncIterator[Desk]:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        for name in ("ann", "eve"):
            kb.people.add(name)
        yield Desk(kb)


@pytest.fixture
async def mia(desk: Desk) -> AsyncIterator[httpx.AsyncClient]:
    async with desk.of(MIA) as client:
        yield client


@pytest.fixture
async def ann(desk: Desk, mia: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    """Provide a client of ann, who is invited to a study of three questions."""
    assert (await make(mia)).status_code == 303
    invited = await mia.post("/ratings/manage/Autumn%20round/invite", data={"csrf": CSRF, "people": "ann"})
    assert invited.status_code == 303
    async with desk.of(ANN) as client:
        yield client


async def make(client: httpx.AsyncClient, **fields: str) -> httpx.Response:
    rows = [
        {"question": f"Question {n}?", "reference": "A *reference*", "answers": dict.fromkeys(SYSTEMS, HOSTILE)}
        for n in (1, 2, 3)
    ]
    given = {"csrf": CSRF, "name": "Autumn round", "origin": "file", "confirmed": "1", "ranking": "1"}
    data = {**given, "aspects": "Correctness: true?\nStyle", **fields}
    files = {"file": ("answers.jsonl", "\n".join(map(json.dumps, rows)).encode())}
    return await client.post("/ratings/manage", data=data, files=files)


def chosen(html: str) -> dict[str, str]:
    """Return what the form would send back."""
    found = dict(re.findall(r'<input type="radio" name="([^"]+)" value="(\d)" checked>', html))
    for name, options in re.findall(r'<select id="[^"]+" name="([^"]+)">(.*?)</select>', html):
        if value := re.search(r'value="(\d)" selected', options):
            found[name] = value[1]
    return found


FULL = {"points-A-0": "4", "points-A-1": "2", "points-B-0": "5", "points-B-1": "1", "rank-A": "2", "rank-B": "1"}


async def post(client: httpx.AsyncClient, path: str, /, **fields: Any) -> httpx.Response:
    return await client.post(path, data={"csrf": CSRF, **fields})


async def test_no_page_of_a_rater_names_a_system_or_runs_an_answers_markup(ann: httpx.AsyncClient) -> None:
    for path in ("/ratings", ADDRESS, *(f"{ADDRESS}/{n}" for n in (1, 2, 3))):
        answer = await ann.get(path, follow_redirects=True)
        assert answer.status_code == 200 and "unsafe" not in answer.headers["content-security-policy"]
        assert not any(system in answer.text or system.casefold() in answer.text for system in SYSTEMS)
        assert (
            re.findall(r"<style|\sstyle=|<script>|\son\w+=|<img src=.http|href=.(?:javascript|http)", answer.text) == []
        )
    assert (
        "<strong>bold</strong>" in answer.text and "<td>1</td>" in answer.text and "<em>reference</em>" in answer.text
    )


async def test_a_rating_is_saved_shown_again_and_followed_by_the_next(ann: httpx.AsyncClient) -> None:
    first = (await ann.get(ADDRESS)).headers["location"]
    assert first == f"{ADDRESS}/1"
    saved = await post(ann, first, **FULL, comment="fine", go="next")
    assert (saved.status_code, saved.headers["location"]) == (303, f"{ADDRESS}/2?done=rated")
    again = (await ann.get(first)).text
    assert chosen(again) == FULL and ">\nfine</textarea>" in again and "this one is saved" in again
    assert "1 of 3 rated" in again
    for n, to in ((2, f"{ADDRESS}/3?done=rated"), (3, "/ratings?done=all-rated")):
        done = await post(ann, f"{ADDRESS}/{n}", cannot_judge="1", go="next")
        assert done.headers["location"] == to
    assert "all rated" in (await ann.get("/ratings?done=all-rated")).text


async def test_tied_ranks_are_refused_and_nothing_is_lost(ann: httpx.AsyncClient) -> None:
    tied = {**FULL, "rank-A": "1"}
    refused = await post(ann, f"{ADDRESS}/1", **tied, comment="wait", go="next")
    assert refused.status_code == 400 and "A and B have the same rank, 1" in refused.text
    assert chosen(refused.text) == tied and ">\nwait</textarea>" in refused.text
    again = (await ann.get(f"{ADDRESS}/1")).text
    assert chosen(again) == tied and "this one is not finished" in again and "0 of 3 rated" in again


async def test_choices_are_kept_as_a_draft(ann: httpx.AsyncClient) -> None:
    kept = await post(ann, f"{ADDRESS}/2/draft", **{"points-B-1": "3"})
    assert (kept.status_code, kept.text) == (204, "")
    page = (await ann.get(f"{ADDRESS}/2")).text
    assert chosen(page) == {"points-B-1": "3"} and 'hx-trigger="input delay' in page
    later = await post(ann, f"{ADDRESS}/2", **{"points-B-1": "2"}, go="later")
    assert later.headers["location"] == f"{ADDRESS}/2?done=kept-for-later"
    assert chosen((await ann.get(f"{ADDRESS}/2")).text) == {"points-B-1": "2"}


@pytest.mark.parametrize("given", [{"points-A-0": "9"}, {"points-A-0": "x"}, {"rank-A": "99"}, {"rank-A": "0"}])
async def test_values_that_no_page_offers_are_refused(ann: httpx.AsyncClient, given: dict[str, str]) -> None:
    assert (await post(ann, f"{ADDRESS}/1", **{**FULL, **given}, go="next")).status_code == 400
    assert (await post(ann, f"{ADDRESS}/1/draft", **given)).status_code == 400


async def test_uninvited_users_find_nothing_and_a_csrf_token_is_required(desk: Desk, ann: httpx.AsyncClient) -> None:
    async with desk.of(EVE) as eve:
        assert "You are not invited to any study" in (await eve.get("/ratings")).text
        assert (await eve.get(f"{ADDRESS}/1")).status_code == 404
        assert (await post(eve, f"{ADDRESS}/1", **FULL)).status_code == 404
    for path in (f"{ADDRESS}/0", f"{ADDRESS}/4", f"{ADDRESS}/x", "/ratings/study/none/1"):
        assert (await ann.get(path)).status_code == 404
    assert (await ann.post(f"{ADDRESS}/1", data=FULL)).status_code == 403
    assert (await ann.get("/ratings/manage")).status_code == 403


async def test_a_manager_sees_progress_and_downloads_the_results(
    mia: httpx.AsyncClient, ann: httpx.AsyncClient
) -> None:
    manage = "/ratings/manage/Autumn%20round"
    await post(ann, f"{ADDRESS}/1", **FULL, go="next")
    html = unescape((await mia.get(manage)).text)
    assert "1 of 3 questions" in html and all(system in html for system in SYSTEMS)
    assert "rating-bar" in html and "α" in html and "First better" in html
    table = await mia.get(f"{manage}/export?form=csv")
    assert table.headers["content-disposition"] == 'attachment; filename="ratings-autumn-round.csv"'
    assert len(table.text.splitlines()) >= 3 and "Yak-70B" in table.text
    assert (await post(mia, f"{manage}/invite", people="nobody")).status_code == 400
    assert (await post(mia, f"{manage}/close")).status_code == 303
    closed = await post(ann, f"{ADDRESS}/2", **FULL, go="next")
    assert closed.status_code == 409 and "closed" in closed.text
    # The choices for it are on the page only, and not stored.
    assert "nothing you chose is lost" not in closed.text
    assert (await post(mia, f"{manage}/reopen")).status_code == 303
    assert (await post(mia, f"{manage}/uninvite", person="ann")).status_code == 303
    assert (await ann.get(ADDRESS)).status_code == 404
    assert "not invited any more" in (await mia.get(manage)).text
    assert (await post(mia, f"{manage}/remove")).status_code == 303
    assert (await mia.get(manage)).status_code == 404


async def test_an_invalid_form_is_shown_again_with_the_reason(mia: httpx.AsyncClient) -> None:
    refused = await make(mia, name="a/b", about="for the <b>lab</b>")
    assert refused.status_code == 400 and "cannot be the name of a study" in refused.text
    assert 'value="a/b"' in refused.text and "for the &lt;b&gt;lab&lt;/b&gt;" in refused.text
    no_file = await mia.post("/ratings/manage", data={"csrf": CSRF, "name": "New", "ranking": "1"})
    assert no_file.status_code == 400 and "No file was chosen" in no_file.text
    thumbs = await make(mia, origin="thumbs")
    assert thumbs.status_code == 400 and "Nobody has shared" in thumbs.text
