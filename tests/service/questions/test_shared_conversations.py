"""Tests of conversations shared by links: what each reader sees, and when a link leads nowhere."""

import base64
import json
import shutil
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import pytest
from desk import CSRF, at_desk

from argot.errors import InvalidInput, NotAllowed, NotFound
from argot.results import AskResult
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.documents import remove
from argot.service.usecases.documents.uploads import upload
from argot.service.usecases.people.personal_data import my_data, user_erase
from argot.service.usecases.questions.attachments import thread_attach
from argot.service.usecases.questions.questions import ask
from argot.service.usecases.questions.shared_conversations import (
    WITHHELD,
    shared_read,
    thread_link_add,
    thread_link_list,
    thread_link_withdraw,
)
from argot.service.usecases.questions.threads import thread_delete
from argot.service.usecases.usecase_registry import get_answer
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages

ROOT = Principal("root", sees_all=True)
IVO = Principal("ivo", frozenset({"vault"}))
VERA = Principal("vera", frozenset({"vault"}))
OLGA = Principal("olga")
BOTH = "How long does trimming a drive take? And how often is the vault combination rotated?"
HOSTILE = "<img src=x onerror=alert(1)>.md"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        for one in (IVO, VERA, OLGA):
            opened.people.add(one.name, tuple(one.groups))
        yield opened


async def asked(kb: KnowledgeBase, who: Principal, question: str, thread: str | None = None) -> AskResult:
    return await get_answer(ask(kb, who, question=question, thread=thread))


async def share(kb: KnowledgeBase, who: Principal, thread: str) -> str:
    return (await thread_link_add(kb, who, thread=thread)).address.rpartition("/")[2]


async def told(kb: KnowledgeBase, who: Principal, secret: str) -> str:
    return json.dumps(convert_to_json(await shared_read(kb, who, secret=secret)))


async def test_each_reader_sees_what_rests_on_sources_that_they_may_read(kb: KnowledgeBase) -> None:
    thread = (await asked(kb, IVO, BOTH)).thread
    secret = await share(kb, IVO, thread)
    assert "14 days" in await told(kb, VERA, secret) and WITHHELD not in await told(kb, VERA, secret)
    shown = (await shared_read(kb, OLGA, secret=secret)).turns[0]
    assert "40 seconds" in shown.answer and WITHHELD in shown.answer
    assert WITHHELD in [one.text for one in shown.sentences]
    canary = (await told(kb, OLGA, secret)).casefold()
    assert not [word for word in ("14 days", "liaison", "vault handbook") if word in canary]
    # Asked later, and so not shared.
    await asked(kb, IVO, "What is the WL voltage during a read?", thread)
    assert "4.5 V" not in await told(kb, VERA, secret)
    # A removed document is like one that nobody may read.
    (vault,) = [one for one in kb.document_store.documents(ROOT) if one.name.startswith("vault")]
    await remove(kb, ROOT, document=vault.id)
    assert "14 days" not in await told(kb, VERA, secret) and WITHHELD in await told(kb, VERA, secret)


async def test_the_sharer_is_named_even_without_a_display_name(kb: KnowledgeBase) -> None:
    secret = await share(kb, IVO, (await asked(kb, IVO, BOTH)).thread)
    assert (await shared_read(kb, OLGA, secret=secret)).by == "ivo"
    kb.people.add("ivo", display_name="Ivo Novak")
    assert (await shared_read(kb, OLGA, secret=secret)).by == "Ivo Novak"


async def test_files_of_the_conversation_are_not_shared(kb: KnowledgeBase) -> None:
    thread = (await asked(kb, IVO, "hello")).thread
    data = base64.b64encode(b"# Numbats\n\nThe numbat of the depot leaves at midnight.\n").decode()
    await thread_attach(kb, IVO, thread=thread, name="numbat.md", content=data)
    own = await asked(kb, IVO, "When does the numbat of the depot leave?", thread)
    assert "midnight" in own.answer
    secret = await share(kb, IVO, thread)
    for who in (IVO, OLGA, ROOT):
        assert "midnight" not in await told(kb, who, secret) and WITHHELD in await told(kb, who, secret), who


async def test_a_link_leads_nowhere_once_it_is_over(kb: KnowledgeBase) -> None:
    async def gone(secret: str) -> str:
        with pytest.raises(NotFound) as refused:
            await shared_read(kb, OLGA, secret=secret)
        return str(refused.value)

    thread = (await asked(kb, IVO, "How long does trimming a drive take?")).thread
    secret, other = await share(kb, IVO, thread), await share(kb, IVO, thread)
    assert not [one for one in kb.home.rglob("*") if one.is_file() and secret.encode() in one.read_bytes()]
    first = (await thread_link_list(kb, IVO))[-1].id
    assert await thread_link_list(kb, OLGA) == []
    for who in (OLGA, ROOT):
        with pytest.raises(NotFound):
            await thread_link_withdraw(kb, who, link=first)
        with pytest.raises(NotFound):
            await thread_link_add(kb, who, thread=thread)
    await thread_link_withdraw(kb, IVO, link=first)
    remaining = [one for one in (secret, other) if await _leads(kb, one)]
    withdrawn = await gone(({secret, other} - {*remaining}).pop())
    assert len(remaining) == 1 and withdrawn == await gone("guess") == await gone("")
    assert (await my_data(kb, IVO)).links == await thread_link_list(kb, IVO) != []

    kb.people.suspend("ivo")
    assert await gone(remaining[0]) == withdrawn
    kb.people.restore("ivo")
    assert await _leads(kb, remaining[0])
    settings, kb.settings = kb.settings, kb.settings.replace(share_conversations=False)
    with pytest.raises(NotAllowed, match="share_conversations"):
        await thread_link_add(kb, IVO, thread=thread)
    assert await gone(remaining[0]) == withdrawn
    kb.settings = settings
    again = (await asked(kb, IVO, "How long does trimming a drive take?")).thread
    deleted = await share(kb, IVO, again)
    await thread_delete(kb, IVO, thread=again)
    assert await gone(deleted) == withdrawn
    await user_erase(kb, ROOT, name="ivo")
    assert await gone(remaining[0]) == withdrawn


async def _leads(kb: KnowledgeBase, secret: str) -> bool:
    try:
        return bool(await shared_read(kb, OLGA, secret=secret))
    except NotFound:
        return False


async def test_the_page_of_a_shared_conversation_is_inert_and_leads_to_the_sources(kb: KnowledgeBase) -> None:
    text = f"# Moorings {HOSTILE}\n\nThe mooring of the quay {HOSTILE} is checked every 9 days.\n"
    await upload(kb, ROOT, name=HOSTILE, data=text.encode())
    thread = (await asked(kb, IVO, f"How often is the mooring of the quay checked? {HOSTILE}")).thread
    await asked(kb, IVO, BOTH, thread)
    secret = await share(kb, IVO, thread)
    async with at_desk(build_pages(kb), OLGA) as olga:
        answer = await olga.get(f"/shared/{secret}")
        assert (
            answer.status_code == 200
            and "<img src=x" not in answer.text
            and "no-store" in answer.headers["cache-control"]
        )
        shown = unescape(answer.text)
        assert "9 days" in shown and "40 seconds" in shown and "You may not read this source." in shown
        assert 'class="cite" href="/argot/passages/' in answer.text and "14 days" not in shown
        assert (await olga.get("/shared/guess")).status_code == 404
        assert "You share no conversation" in (await olga.get("/shared")).text
    async with at_desk(build_pages(kb), IVO) as ivo:
        page = (await ivo.get("/shared")).text
        assert "2 questions" in page and secret not in page and "<img src=x" not in page
        (link,) = await thread_link_list(kb, IVO)
        assert (await ivo.post(f"/shared/links/{link.id}/withdraw")).status_code == 403
        await ivo.post(f"/shared/links/{link.id}/withdraw", data={"csrf": CSRF})
        assert (await ivo.get(f"/shared/{secret}")).status_code == 404
    empty = await (await kb.threads()).start("ivo", "x")
    with pytest.raises(InvalidInput, match="nothing to share"):
        await thread_link_add(kb, IVO, thread=empty.id)
