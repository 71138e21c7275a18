"""Canaries in a picture of a restricted document: its bytes, caption, words and description, over every road.

Those who may read the document meet each of them; nobody else meets any. Questions contain none of the words.
"""

import base64
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from api_site import URL, Site, with_readers
from desk import at_desk
from fastapi import FastAPI
from mcp.shared.memory import create_connected_server_and_client_session
from PIL import Image, ImageDraw

from argot.corpus.readers.ocr import is_installed
from argot.errors import ArgotError
from argot.results import AskResult
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.service.usecases.questions.shared_conversations import thread_link_add
from argot.settings import Settings
from argot.slack.app.block_kit import MessageContext, render_messages
from argot.types import Principal
from argot.ui.api.http_client import RemoteClient
from argot.ui.api.mcp_server import build_server
from argot.ui.pages.page_routes import build_pages
from argot.ui.pages.source_pages import build_source_pages
from argot.ui.rendering.chat_markdown import view_result
from argot.ui.web.asker_identity import asker
from argot.ui.web.routers import add_routes

pytestmark = [
    pytest.mark.skipif(not is_installed(), reason="tesseract is not installed"),
    pytest.mark.asyncio(loop_scope="module"),
]

ROOT = Principal("local", sees_all=True)
VERA, ANN = Principal("vera", frozenset({"vault"})), Principal("ann")
CAPTION, WORDS, DESCRIPTION, PLACE = "brambleton", "CURLEWICK", "dovermoor", "quay.html"
QUESTION = "How many tonnes does the gantry crane at the quay lift?"


def draw() -> bytes:
    picture = Image.new("RGB", (700, 300), "white")
    pen = ImageDraw.Draw(picture)
    pen.text((30, 40), f"{WORDS} lifts 37 tonnes", fill="black", font_size=40)
    pen.rectangle((30, 150, 600, 270), fill="navy")
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kb(
    tiny_home: Path, tmp_path_factory: pytest.TempPathFactory, shared_model: Any
) -> AsyncIterator[KnowledgeBase]:
    """Provide a knowledge base that the tests share: none of them changes its documents."""
    shared_model.reply("picture_description", f"The drawing shows the gantry crane {DESCRIPTION} at the quay.")
    home = with_readers(tiny_home, tmp_path_factory.mktemp("pictures"))
    address = f"data:image/png;base64,{base64.b64encode(draw()).decode()}"
    page = f'<h1>Quay</h1><p>The gantry crane lifts.</p><p><img src="{address}"></p><p>Figure 2: Crane {CAPTION}</p>'
    async with KnowledgeBase.open(
        home, Settings(home=home, vision_url=shared_model.url, questions_per_minute=0)
    ) as opened:
        await catalogue.uploads.upload(opened, ROOT, name=PLACE, data=page.encode(), audience=["vault"])
        await do(opened, ROOT, "derive", kinds=["picture"])
        yield opened


async def do(kb: KnowledgeBase, who: Principal, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **parameters)


async def ask(kb: KnowledgeBase, who: Principal) -> AskResult:
    return AskResult.model_validate(await do(kb, who, "ask", question=QUESTION))


async def find(kb: KnowledgeBase) -> tuple[str, str]:
    """Return the ids of the document and of the passage with the picture, which others may guess."""
    (one,) = await do(kb, ROOT, "document_pictures", document=PLACE)
    return kb.document_store.document(ROOT, PLACE).id, one["passage"]


Road = Callable[[KnowledgeBase, Principal], Awaitable[Any]]
ROADS: dict[str, tuple[Road, set[str]]] = {}


def road(name: str, *shows: str) -> Callable[[Road], Road]:
    """Register a road, and what its readers meet on it."""

    def register(function: Road) -> Road:
        ROADS[name] = function, set(shows)
        return function

    return register


@road("answer", CAPTION, WORDS, DESCRIPTION)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    return (await ask(kb, who)).model_dump(mode="json")


@road("search by the description", CAPTION, WORDS, DESCRIPTION)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    return await do(kb, who, "search", query="The drawing shows the gantry crane at the quay.")


@road("chat window", CAPTION, WORDS)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    return view_result(await ask(kb, who)).content


@road("pictures of the document", CAPTION, WORDS, DESCRIPTION)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    return await do(kb, who, "document_pictures", document=(await find(kb))[0])


@road("pictures of the passage", CAPTION, WORDS, DESCRIPTION)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    return await do(kb, who, "passage_pictures", passage_id=(await find(kb))[1])


@road("side panel", CAPTION, WORDS, DESCRIPTION)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    app = FastAPI()
    add_routes(app, build_source_pages(kb))
    token = asker.set(who.name)
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as browser:
            return (await browser.get(f"/argot/passages/{(await find(kb))[1]}")).text
    finally:
        asker.reset(token)


@road("library", CAPTION, WORDS, DESCRIPTION)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    async with at_desk(build_pages(kb), who) as browser:
        return (await browser.get(f"/library/{(await find(kb))[0]}")).text


@road("API", CAPTION, WORDS, DESCRIPTION)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    async with Site(kb).program(who.name) as program:
        return (await program.get(f"/api/documents/{(await find(kb))[0]}/pictures")).text


@road("/v1", WORDS, DESCRIPTION)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    async with Site(kb).program(who.name) as program:
        said = [{"role": "user", "content": QUESTION}]
        return (await program.post("/v1/chat/completions", json={"model": "argot", "messages": said})).text


@road("/v1/responses", WORDS, DESCRIPTION)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    async with Site(kb).program(who.name) as program:
        return (await program.post("/v1/responses", json={"model": "argot", "input": QUESTION, "stream": True})).text


@road("text, original and passage", CAPTION, WORDS)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    document, passage = await find(kb)
    text = await tell(do(kb, who, "document_text", document=document))
    original = await tell(do(kb, who, "read_original", document=document))
    return text, original, await tell(do(kb, who, "read_passage", passage_id=passage))


@road("MCP", WORDS)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    site = Site(kb)
    remote = RemoteClient(URL, site.key(who.name), async_transport=httpx.ASGITransport(site.guard))
    async with create_connected_server_and_client_session(build_server(remote)) as session:
        done = await session.call_tool("ask", {"question": QUESTION})
        return [part.text for part in done.content if part.type == "text"]


@road("Slack", WORDS)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    return str(render_messages(await ask(kb, who), MessageContext(web="https://argot.example")))


@road("export of the conversation", WORDS)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    thread = (await ask(kb, who)).thread
    return [(await do(kb, who, "thread_export", thread=thread, form=form))["text"] for form in ("markdown", "json")]


@road("a conversation that a reader shared", WORDS)
async def _(kb: KnowledgeBase, who: Principal) -> Any:
    thread = (await ask(kb, VERA)).thread
    secret = (await thread_link_add(kb, VERA, thread=thread)).address.rpartition("/")[2]
    return await do(kb, who, "shared_read", secret=secret)


async def tell(walk: Awaitable[Any]) -> str:
    try:
        return json.dumps(await walk, ensure_ascii=False, default=str)
    except ArgotError as error:
        return str(error)


@pytest.mark.parametrize("name", ROADS)
async def test_a_restricted_picture_is_shown_to_its_readers_alone(kb: KnowledgeBase, name: str) -> None:
    walk, shows = ROADS[name]
    met = await tell(walk(kb, VERA))
    assert {one for one in shows if one not in met} == set(), met
    other = await tell(walk(kb, ANN))
    assert [one for one in (CAPTION, WORDS, DESCRIPTION, "/pictures/1") if one in other] == []


async def test_the_bytes_of_a_restricted_picture_are_sent_to_its_readers_alone(kb: KnowledgeBase) -> None:
    address = f"/api/documents/{(await find(kb))[0]}/pictures/1"
    async with Site(kb).program("vera") as vera, Site(kb).program("ann") as ann:
        assert (await vera.get(address)).content.startswith(b"\x89PNG")
        refused = await ann.get(address)
        assert refused.status_code == 404 and PLACE not in refused.text
