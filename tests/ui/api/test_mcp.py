"""Tests of argot mcp, using the SDK's own client over standard input and output."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from api_site import URL, VAULT, Site, with_readers
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import McpError
from mcp.shared.memory import create_connected_server_and_client_session
from pydantic import AnyUrl

from argot.service.knowledge_base import KnowledgeBase
from argot.service.transport.local_socket import serve_socket
from argot.settings import Settings
from argot.ui.api.http_client import RemoteClient
from argot.ui.api.mcp_server import build_server

TOOLS = {"ask", "search", "look_up_term", "list_terms", "open_document", "propose_term"}
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def home(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_readers(tiny_home, tmp_path_factory.mktemp("mcp"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kb(home: Path) -> AsyncIterator[KnowledgeBase]:
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        yield kb


@asynccontextmanager
async def assistant(home: Path, user: str) -> AsyncIterator[ClientSession]:
    command = ["-m", "argot.ui.cli.main", "mcp", "--home", str(home), "--as", user]
    parameters = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


async def text_of(session: ClientSession, tool: str, **given: Any) -> tuple[str, bool]:
    done = await session.call_tool(tool, given)
    return "\n".join(part.text for part in done.content if part.type == "text"), bool(done.isError)


async def test_an_assistant_asks_searches_and_looks_up_terms_beside_the_service(home: Path, kb: KnowledgeBase) -> None:
    """Check that the command uses the process that has the knowledge base open."""
    async with serve_socket(kb), assistant(home, "ann") as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert set(tools) == TOOLS
        looks = {name for name, tool in tools.items() if tool.annotations and tool.annotations.readOnlyHint}
        assert looks == TOOLS - {"propose_term"} and all(tool.description for tool in tools.values())
        assert all(part.get("description") for part in tools["ask"].inputSchema["properties"].values())
        text, failed = await text_of(session, "ask", question="How do I trim a drive?")
        assert not failed and "click on Trim." in text and "- [1] drive-tool.md" in text
        back, failed = await text_of(session, "ask", question="What is PUC?")
        assert not failed and "1. " in back and "`meaning`" in back
        number = next(line[0] for line in back.splitlines() if "Legal" in line)
        text, failed = await text_of(session, "ask", question="What is PUC?", meaning=number)
        assert not failed and "Public Utilities Commission" in text and "[1]" in text
        text, failed = await text_of(session, "search", query="trim a drive", limit=2)
        assert not failed and text.startswith("[1] drive-tool.md") and "Media panel" in text
        text, failed = await text_of(session, "look_up_term", term="puc")
        assert not failed and "Peripheral Under Cell (NAND)" in text and "Public Utilities Commission (Legal)" in text
        assert "Looked after by nina@example.com" in text and "(nand-layout.md)" in text
        text, failed = await text_of(session, "list_terms", text="word l")
        assert not failed and text == "- WL: Word Line (NAND)"
        text, failed = await text_of(session, "look_up_term", term="PUCC")
        assert not failed and "does not know" in text and "PUC" in text
        for given, why in (({"question": "?!"}, "holds no words"), ({"question": "What is it?", "context": "Nowhere"}, "no context")):  # fmt: skip  # noqa: E501
            text, failed = await text_of(session, "ask", **given)
            assert failed and why in text and "Traceback" not in text
        text, failed = await text_of(session, "ask", question="x" * 5000)
        assert failed
        # Check scorecard 1 for the assistant.
        for tool, given in (
            ("ask", {"question": VAULT}),
            ("search", {"query": VAULT}),
            ("look_up_term", {"term": "VLT"}),
            ("list_terms", {"initial": "v"}),
            ("open_document", {"document": "vault-handbook.md"}),
        ):
            text, _ = await text_of(session, tool, **given)
            text = text.replace("'vault-handbook.md'", "")  # the name asked for, in the refusal
            assert not [word for word in ("14 days", "vault-handbook", "Vault Liaison") if word in text], text


async def test_tools_work_over_a_service_with_a_key(kb: KnowledgeBase) -> None:
    site = Site(kb)
    for user, met in (("vera", True), ("ann", False)):
        remote = RemoteClient(URL, site.key(user), async_transport=httpx.ASGITransport(site.guard))
        async with create_connected_server_and_client_session(build_server(remote)) as session:
            text, failed = await text_of(session, "ask", question=VAULT)
            assert not failed and ("14 days" in text) == met
            text, _ = await text_of(session, "search", query=VAULT)
            assert ("vault-handbook.md" in text) == met
            text, _ = await text_of(session, "look_up_term", term="VLT")
            assert ("Vault Liaison Team" in text) == met
            text, _ = await text_of(session, "list_terms", initial="v")
            assert ("Vault Liaison Team" in text) == met
            text, failed = await text_of(session, "open_document", document="vault-handbook.md")
            assert ("14 days" in text) == met and failed != met
            text, failed = await text_of(session, "propose_term", term="QQX", expansion=f"Quay Quorum of {user}")
            assert not failed and text.startswith(f"Proposed: QQX = Quay Quorum of {user}")
            listed = await session.list_resources()
            assert ("vault-handbook.md" in [one.name for one in listed.resources]) == met
            text, _ = await text_of(session, "ask", question="What is PUC?", meaning="the legal one")
            assert "Public Utilities Commission (Legal)" in text
    revoked = RemoteClient(URL, "argot_nothing", async_transport=httpx.ASGITransport(site.guard))
    async with create_connected_server_and_client_session(build_server(revoked)) as session:
        text, failed = await text_of(session, "ask", question=VAULT)
        assert failed and "argot key add NAME" in text


async def test_an_assistant_without_a_service_opens_and_closes_the_base(tiny_home: Path, tmp_path: Path) -> None:
    from argot.service.transport.background_base import BackgroundClient

    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    calls = BackgroundClient(home, Settings(home=home), idle_seconds=0.05)
    try:
        found = await calls.acall("glossary_term", term="PUC")
        assert len(found["senses"]) == 2
        for _ in range(2400):
            if calls._client is None:
                break
            await asyncio.sleep(0.05)
        async with KnowledgeBase.open(home, Settings(home=home)) as kb, serve_socket(kb):
            assert (await calls.acall("glossary_term", term="WL"))["senses"]
        assert (await calls.acall("glossary_term", term="WL"))["senses"], "the service it went through is gone"
    finally:
        await asyncio.to_thread(calls.close)


async def test_a_question_about_an_unknown_term_names_no_numbers(kb: KnowledgeBase) -> None:
    """Check by the service's address, whose text is that of a message, and in its own process."""
    site = Site(kb)
    remote = RemoteClient(URL, site.key("ann"), async_transport=httpx.ASGITransport(site.guard))
    async with create_connected_server_and_client_session(build_server(remote)) as session:
        text, failed = await text_of(session, "ask", question="What is XQB?")
        assert not failed and "“XQB” is not in the glossary" in text
        assert text.endswith("`meaning` set to 'answer anyway'.") and "number" not in text
        text, failed = await text_of(session, "ask", question="What is XQB?", meaning="answer anyway")
        assert not failed and "`meaning`" not in text
        text, _ = await text_of(session, "ask", question="What is the PUCC?")  # like PUC
        assert "1. PUC" in text and text.endswith("`meaning` set to one of these numbers or in words.")


async def test_a_context_or_place_that_is_not_there_is_named(kb: KnowledgeBase) -> None:
    site = Site(kb)
    remote = RemoteClient(URL, site.key("ann"), async_transport=httpx.ASGITransport(site.guard))
    async with create_connected_server_and_client_session(build_server(remote)) as session:
        for given in ({}, {"text": "word"}, {"initial": "w"}):
            text, failed = await text_of(session, "list_terms", context="Nowhere", **given)
            assert failed and "There is no context 'Nowhere'. Contexts: " in text and "NAND" in text
        text, failed = await text_of(session, "list_terms", text="no such words", context="nand")
        assert not failed and text.startswith("No such terms.")
        text, failed = await text_of(session, "open_document", document="drive-tool.md", start=10**9)
        assert failed and "ends at character" in text and "Next" not in text


async def test_errors_say_in_plain_words_what_is_wrong(kb: KnowledgeBase) -> None:
    site = Site(kb)
    remote = RemoteClient(URL, site.key("ann"), async_transport=httpx.ASGITransport(site.guard))
    async with create_connected_server_and_client_session(build_server(remote)) as session:
        for tool, given, told in (
            ("ask", {}, "Invalid arguments: question: Field required. Arguments of ask: question, context, meaning."),
            ("look_up_term", {"term": ""}, "Invalid arguments: term is empty. Arguments of look_up_term: term."),
            ("ask", {"question": "x" * 5000}, "Invalid arguments: question has 5,000 characters, and may have 4,000."),
            ("open_document", {"document": "drive-tool.md", "part": "one"}, "Invalid arguments: part ('one'): Input"),
            ("open_document", {"document": "drive-tool.md", "part": 9}, "'drive-tool.md' has no page or part 9"),
            ("nothing", {}, "Unknown tool: nothing"),
        ):
            text, failed = await text_of(session, tool, **given)
            assert failed and text.startswith(told) and "pydantic" not in text
        with pytest.raises(McpError, match=r"^There is no document 'none'"):
            await session.read_resource(AnyUrl("argot://documents/none"))
        for cursor in ("garbage", "-1", "1" * 20, "²"):
            with pytest.raises(McpError, match=r"^Invalid cursor"):
                await session.list_resources(cursor)
        assert (await session.list_resources("0")).resources == (await session.list_resources()).resources
