"""Tests of hostile requests to the API: the error gives a reason and a remedy, and is never a server error."""

import asyncio
import errno
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
import pytest_asyncio
from api_site import URL, Site, answer_with

from argot.results import AskEvent
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")
TRIM = "How do I trim a drive?"
HANGS = 120
"""Seconds after which something is taken to hang; no measure of anything."""
JSON = {"Content-Type": "application/json"}
EVENTS = {"Accept": "text/event-stream"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("hostile") / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home, questions_per_minute=0)) as kb:
        kb.people.add("ann")
        yield Site(kb)


def chat(*texts: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(texts)]
    return {"model": "argot", "messages": messages, **more}


def message_of(answer: httpx.Response) -> str:
    return str(answer.json()["error"]["message"])


# -- inputs that make patterns slow ------------------------------------------------------------------------------------


async def test_a_history_of_white_space_is_processed_in_limited_time() -> None:
    """Check a pattern that, starting at each space of a run, took twenty minutes for this in the event loop."""
    script = """
from argot.ui.rendering.message_markdown import strip_footnotes
from argot.ui.api.streamed_text import StreamedText
for space in (" ", "\\t", " \\t"):
    assert strip_footnotes("a [1]" + space * 500_000 + "[2] b") == "a b"
    streamed = StreamedText("", live=True)
    assert streamed.token("a" + space * 500_000 + "b") + streamed.token(" [1") == "a" + space * 500_000 + "b"
"""
    done = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", script], timeout=HANGS, check=False)
    assert done.returncode == 0


# -- errors for invalid requests ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("{", "at character 1"), ('{"question": "x",}', "at character 17"), ("[" * 90_000, "is not valid JSON"),
        (b'{"question": "\xff\xfe"}', "in UTF-8"), ('{"limit": ' + "9" * 5000 + "}", "is not valid JSON"),
    ],
)  # fmt: skip
async def test_the_error_for_an_invalid_json_body_says_so(site: Site, body: Any, why: str) -> None:
    async with site.program("ann") as ann:
        for path in ("/api/ask", "/v1/chat/completions"):
            answer = await ann.post(path, content=body, headers=JSON)
            assert answer.status_code in (400, 422)
            assert why in message_of(answer) and "Send one object" in message_of(answer)


async def test_errors_do_not_repeat_long_inputs(site: Site) -> None:
    async with site.program("ann") as ann:
        for given in ({"context": "x" * 500_000}, {"thread": "x" * 500_000}):
            answer = await ann.post("/api/ask", json={"question": TRIM, **given})
            assert answer.status_code == 404 and len(answer.content) < 5000
            assert "There is no" in message_of(answer)


async def test_the_error_for_an_unknown_address_names_the_existing_ones(site: Site) -> None:
    async with site.program("ann") as ann, site.program(None) as nobody:
        for path in ("/v1/audio/speech", "/v1/completions", "/v1", "/api", "/api/nothing"):
            for program in (ann, nobody):
                answer = await program.post(path, json={})
                assert answer.status_code == 404, path
                assert "/v1/chat/completions" in message_of(answer) and "/api/openapi.json" in message_of(answer)
        # As from a client whose base URL lacks /v1.
        answer = await ann.post("/chat/completions", json=chat(TRIM))
        assert answer.status_code == 404 and "/v1/" in answer.text


async def test_health_checks_accept_head_requests(site: Site) -> None:
    async with site.program(None) as probe:
        for path in ("/health", "/ready"):
            answer = await probe.head(path)
            assert answer.status_code == 200


async def test_tools_are_accepted_if_they_are_not_to_be_called(site: Site) -> None:
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    async with site.program("ann") as ann:
        for choice, status in (("none", 200), ("auto", 400), (None, 400)):
            more = {"tool_choice": choice} if choice else {}
            answer = await ann.post("/v1/chat/completions", json=chat(TRIM, tools=tools, **more))
            assert answer.status_code == status


# -- faults during an answer -------------------------------------------------------------------------------------------


async def test_a_fault_during_a_stream_is_reported_in_it(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(kb: Any, principal: Any, **given: Any) -> AsyncIterator[AskEvent]:
        yield AskEvent("stage", "search")
        raise RuntimeError("canary of the inside")

    answer_with(monkeypatch, broken)
    http = httpx.AsyncClient(transport=httpx.ASGITransport(site.guard))
    client = openai.AsyncOpenAI(base_url=f"{URL}/v1", api_key=site.key(), http_client=http, max_retries=0)
    stream = await client.chat.completions.create(**chat(TRIM), stream=True)
    with pytest.raises(openai.APIError, match="Something went wrong"):
        async for _ in stream:
            pass
    async with site.program("ann") as ann:
        told = (await ann.post("/api/ask", json={"question": TRIM}, headers=EVENTS)).text
    last = told.strip().split("\n\n")[-1]
    assert last.startswith("event: error\n") and "Something went wrong" in last and "canary" not in told


async def _cut(site: Site, monkeypatch: pytest.MonkeyPatch, path: str, given: Any, *, begins: bool) -> httpx.Response:
    """Return what a program receives whose key is revoked during its answer."""
    begun = asyncio.Event()

    async def slow(kb: Any, principal: Any, **given: Any) -> AsyncIterator[AskEvent]:
        if begins:
            yield AskEvent("stage", "search")
        begun.set()
        await asyncio.sleep(HANGS)

    answer_with(monkeypatch, slow)
    made, token = site.kb.people.keys.make("ann", "to be revoked")
    async with site.program(None, Authorization=f"Bearer {token}", **EVENTS) as program:
        asking = asyncio.create_task(program.post(path, json=given))
        await begun.wait()
        await asyncio.to_thread(site.kb.people.keys.revoke, made.id)
        return await asyncio.wait_for(asking, HANGS)


async def test_a_key_revoked_before_the_answer_begins_gives_an_error(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, given in (("/api/ask", {"question": TRIM}), ("/v1/chat/completions", chat(TRIM))):
        answer = await _cut(site, monkeypatch, path, given, begins=False)
        assert answer.status_code == 401
        assert "revoked" in message_of(answer)


async def test_a_key_revoked_during_a_stream_gives_an_error_in_it(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, given in (("/api/ask", {"question": TRIM}), ("/v1/chat/completions", chat(TRIM, stream=True))):
        answer = await _cut(site, monkeypatch, path, given, begins=True)
        assert answer.status_code == 200
        last = answer.text.strip().split("\n\n")[-1].split("data: ")[-1]
        assert json.loads(last)["error"]["type"] == "authentication_error"
        assert "[DONE]" not in answer.text and "event: result" not in answer.text


async def test_a_store_that_becomes_damaged_is_reported_with_the_remedy(
    tiny_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def malformed(kb: Any, principal: Any, **given: Any) -> AsyncIterator[AskEvent]:
        raise sqlite3.DatabaseError("database disk image is malformed")
        yield

    async def ours(kb: Any, principal: Any, **given: Any) -> AsyncIterator[AskEvent]:
        raise sqlite3.ProgrammingError("no such binding")
        yield

    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        kb.people.add("ann")
        own = Site(kb)
        async with own.program("ann") as ann, own.program(None) as probe:
            assert (await probe.get("/ready")).status_code == 200
            whole = (home / "glossary.db").read_bytes()
            (home / "glossary.db").write_bytes(b"rubbish" * 1000)
            answer_with(monkeypatch, malformed)
            for headers in ({}, EVENTS):
                answer = await ann.post("/api/ask", json={"question": TRIM}, headers=headers)
                assert answer.status_code == 503
                assert "argot doctor" in message_of(answer) and str(home) not in answer.text
            ready = await probe.get("/ready")
            assert ready.status_code == 503 and "argot doctor" in ready.text and str(home) not in ready.text
            (home / "glossary.db").write_bytes(whole)
            assert "argot doctor" in message_of(await ann.post("/api/ask", json={"question": TRIM}))
            answer_with(monkeypatch, ours)
            assert (await ann.post("/api/ask", json={"question": TRIM})).status_code == 500


async def test_adding_a_document_for_other_readers_is_confirmed(site: Site) -> None:
    site.kb.people.add("mona")
    site.kb.people.set_role("mona", "manager")
    async with site.program("mona") as mona:
        text = b"# Canteen\n\nIt opens at half past eleven.\n"
        # The second has the same bytes, and mona must not learn that the first is there.
        for name in ("canteen.md", "other.md"):
            done = await mona.post("/api/documents", files={"file": (name, text)}, data={"audience": "hr"})
            assert (done.json()["kind"], done.json()["document"]) == ("added", None)
            assert "it was added" in done.json()["detail"]


async def test_an_upload_that_finds_no_room_is_not_reported_as_invalid_json(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check it because an upload is stored in the folder for temporary files, whose disk may be full."""

    async def without_room(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("starlette.formparsers.MultiPartParser.parse", without_room)
    if site.kb.people.find("mara") is None:
        site.kb.people.add("mara")
        site.kb.people.set_role("mara", "manager")
    async with site.program("mara") as program:
        done = await program.post("/api/documents", files={"file": ("a.md", b"# A\n")})
    assert done.status_code == 503 and "Free some space" in message_of(done)
