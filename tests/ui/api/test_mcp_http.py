"""Tests of /mcp: the SDK's own client over HTTP with a real service, and hostile requests."""

import json
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from api_site import VAULT, Site, with_readers
from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl
from serving import Served

from argot.service.identity.people import People
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.sqlite_database import SqliteStores

pytestmark = pytest.mark.asyncio(loop_scope="module")

CANARIES = ("14 days", "Vault Liaison", "vault-handbook")
"""Words of the document and the term that only vera may read."""
ACCEPT = {"Accept": "application/json, text/event-stream"}
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture(scope="module")
def home(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_readers(tiny_home, tmp_path_factory.mktemp("mcp-http"))


@pytest.fixture(scope="module")
def keys(home: Path) -> dict[str, str]:
    people = People(SqliteStores(home))
    try:
        return {name: people.keys.make(name, "assistant")[1] for name in ("ann", "vera")}
    finally:
        people.close()


@pytest.fixture(scope="module")
def served(home: Path, keys: dict[str, str]) -> Iterator[Served]:
    with Served(home) as served:
        yield served


@asynccontextmanager
async def assistant(served: Served, key: str) -> AsyncIterator[ClientSession]:
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx.AsyncClient(headers=headers, timeout=None) as http,
        streamable_http_client(f"{served.url}/mcp", http_client=http) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        told = await session.initialize()
        assert told.serverInfo.name == "argot" and told.instructions and "never" in told.instructions
        yield session


async def text_of(session: ClientSession, tool: str, **given: Any) -> tuple[str, bool]:
    done = await session.call_tool(tool, given)
    return "\n".join(part.text for part in done.content if part.type == "text"), bool(done.isError)


async def test_a_missing_document_is_refused_with_a_remedy_for_assistants(served: Served, keys: dict[str, str]) -> None:
    async with assistant(served, keys["ann"]) as session:
        told, failed = await text_of(session, "open_document", document="vault-handbook.md")
        assert failed and "argot list" not in told and "with the tool search" in told
        with pytest.raises(McpError, match="with the tool search"):
            await session.read_resource(AnyUrl("argot://documents/vault-handbook.md"))


async def list_everything(session: ClientSession) -> dict[str, str]:
    """Return the names of all resources, each with its address."""
    found, cursor = {}, None
    while True:
        page = await session.list_resources(cursor)
        found |= {one.name: str(one.uri) for one in page.resources}
        if not (cursor := page.nextCursor):
            return found


async def test_two_people_get_what_each_may_read(served: Served, keys: dict[str, str]) -> None:
    said: dict[str, list[str]] = {}
    for name, key in keys.items():
        async with assistant(served, key) as session:
            tools = {tool.name for tool in (await session.list_tools()).tools}
            assert tools == {"ask", "search", "look_up_term", "list_terms", "open_document", "propose_term"}
            named = await list_everything(session)
            texts = [" ".join(named)]
            for tool, given in (
                ("ask", {"question": VAULT}), ("search", {"query": VAULT}), ("look_up_term", {"term": "VLT"}),
                ("list_terms", {"initial": "v"}), ("open_document", {"document": "vault-handbook.md"}),
            ):  # fmt: skip
                texts.append((await text_of(session, tool, **given))[0])
            for uri in (named.get("vault-handbook.md", "argot://documents/vault-handbook.md"), "argot://terms/VLT"):
                try:
                    texts += [part.text for part in (await session.read_resource(AnyUrl(uri))).contents]  # type: ignore[union-attr]
                except McpError as error:
                    texts.append(str(error))
            said[name] = [text.replace("'vault-handbook.md'", "").replace("/vault-handbook.md", "") for text in texts]
    for canary in CANARIES:
        assert [text for text in said["ann"] if canary in text] == []
        assert any(canary in text for text in said["vera"])
    assert all(any(canary in text for canary in CANARIES) for text in said["vera"]), said["vera"]


async def test_an_assistant_reads_on_and_proposes_a_term(served: Served, keys: dict[str, str]) -> None:
    async with assistant(served, keys["ann"]) as session:
        text, failed = await text_of(session, "ask", question="How do I trim a drive?")
        assert not failed and "click on Trim." in text and "[1]" in text
        found, _ = await text_of(session, "search", query="trim a drive", limit=1)
        passage = found.split("(passage ")[1].split(")")[0]
        text, failed = await text_of(session, "open_document", document="drive-tool.md", passage=passage)
        assert not failed and text.startswith("drive-tool.md (document ") and "Media panel" in text
        text, failed = await text_of(session, "open_document", document="drive-tool.md", part=99)
        assert failed and "no page or part 99" in text
        text, failed = await text_of(session, "propose_term", term="ZQT", expansion="Zone Quench Time")
        assert not failed and text.startswith("Proposed: ZQT = Zone Quench Time.")
        text, failed = await text_of(session, "propose_term", term="ZQT")
        assert failed and "Traceback" not in text
        offered, _ = await text_of(session, "ask", question="What is PUC?")
        number = next(line[0] for line in offered.split("\n") if "Legal" in line)
        text, failed = await text_of(session, "ask", question="What is PUC?", meaning=number)
        assert not failed and "Public Utilities Commission" in text


async def test_requests_are_checked_before_the_sdk_reads_them(served: Served, keys: dict[str, str]) -> None:
    right = {"Authorization": f"Bearer {keys['ann']}", **ACCEPT}
    url = f"{served.url}/mcp"
    async with httpx.AsyncClient(timeout=None) as http:

        async def post(content: bytes = json.dumps(LIST_TOOLS).encode(), **headers: str) -> httpx.Response:
            return await http.post(
                url, content=content, headers={**right, "Content-Type": "application/json", **headers}
            )

        assert (await post()).status_code == 200
        refused = {
            "no key": (await http.post(url, json=LIST_TOOLS, headers=ACCEPT), 401),
            "wrong key": (await post(Authorization="Bearer argot_no"), 401),
            "foreign page": (await post(Origin="https://evil.example"), 403),
            "foreign name": (await post(Host="evil.example"), 421),
            "stream without a message": (await http.get(url, headers=right), 405),
            "end of a session": (await http.delete(url, headers=right), 405),
            "large": (await post(b" " * (2**20 + 1)), 413),
            "a form": (await http.post(url, data={"a": "b"}, headers=right), 415),
        }
        lone = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/\\ud83d"}'
        batch = json.dumps([LIST_TOOLS]).encode()
        for body in (b"", b"{", b"[]", b"\xff\xfe", b"null", b"[" * 100_000, batch, lone, b'{"id": 1, "method": "x"}'):
            refused[f"body {body[:30]!r}"] = (await post(body), 400)
    assert {why: answer.status_code for why, (answer, _) in refused.items()} == {
        why: status for why, (_, status) in refused.items()
    }
    assert "www-authenticate" in refused["no key"][0].headers
    assert all(answer.json()["error"]["message"] for answer, _ in refused.values())


async def test_odd_parameters_get_an_error_and_break_nothing(served: Served, keys: dict[str, str]) -> None:
    async with assistant(served, keys["ann"]) as session:
        for tool, given in (
            ("nothing", {}), ("ask", {}), ("ask", {"question": 7}), ("ask", {"question": "x" * 5000}),
            ("search", {"query": "trim", "limit": 10**9}), ("open_document", {"document": "../../etc/passwd"}),
            ("open_document", {"document": "drive-tool.md", "part": -1}), ("look_up_term", {"term": ""}),
        ):  # fmt: skip
            text, failed = await text_of(session, tool, **given)
            assert failed and "Traceback" not in text and "root:" not in text, (tool, text)
        for uri in (
            "argot://documents/none",
            "argot://secrets/x",
            "file:///etc/passwd",
            "argot://documents/..%2f..%2fx",
        ):
            with pytest.raises(McpError):
                await session.read_resource(AnyUrl(uri))
        text, failed = await text_of(session, "look_up_term", term="WL")
        assert not failed and "Word Line" in text


@pytest_asyncio.fixture(loop_scope="module")
async def site(tiny_home: Path, tmp_path: Path) -> AsyncIterator[Site]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        kb.people.add("ann")
        kb.people.set_password("ann", "tilted copper llama 9")
        yield Site(kb)


async def test_a_signed_in_page_needs_its_token(site: Site) -> None:
    """Check that /mcp is no way around the check against forgery."""
    session = site.kb.people.sessions.begin("ann")
    headers = {"Cookie": f"{site.authenticator.cookie}={session}", "Origin": "http://localhost:8123", **ACCEPT}
    async with site.program(None, **headers) as page:
        assert (await page.post("/mcp", json=LIST_TOOLS)).status_code == 403
        token = site.authenticator._csrf(session)
        answer = await page.post("/mcp", json=LIST_TOOLS, headers={"X-CSRF-Token": token})
        assert answer.status_code == 200 and "open_document" in answer.text


async def test_questions_are_counted_as_those_of_assistants(site: Site) -> None:
    from argot.service.observability.metrics import Metrics

    site.kb.metrics = Metrics()
    call = {"name": "ask", "arguments": {"question": "How do I trim a drive?"}}
    async with site.program("ann", **ACCEPT) as program:
        answer = await program.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    assert "click on Trim" in answer.text
    counted = site.kb.metrics.questions.collect()[0].samples
    assert {one.labels["surface"] for one in counted if one.value} == {"mcp"}
