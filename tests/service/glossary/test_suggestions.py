"""Tests of suggestions as use cases: evidence from the documents, rights, the managers' order, and the digests."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from datetime import timedelta
from email import message_from_bytes
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from argot.clock import utc_now
from argot.corpus.corpus import Source
from argot.errors import NotAllowed
from argot.service.glossary_review.suggestion_digest import list_due, send_mails, write_text
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.proposals import glossary_offers, glossary_queue
from argot.service.usecases.glossary.suggestions import (
    glossary_review,
    term_comment,
    term_confirm,
    term_suggest,
    term_suggestions,
)
from argot.settings import Settings
from argot.types import Principal

ADMIN = Principal("local", sees_all=True)
ANNA, BEN = Principal("anna"), Principal("ben")
HANS = Principal("hans", frozenset({"hr"}))
MONA = Principal("mona", frozenset({"managers"}))


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        opened.glossary.contexts.add("Staff", "", "staff@example.org", frozenset({"hr"}), by=ADMIN)
        opened.glossary.contexts.add("Sales", "", "Sales desk <sales@example.org>", by=ADMIN)
        yield opened


async def test_the_documents_add_evidence_which_only_their_readers_see(kb: KnowledgeBase) -> None:
    said = "# Rebates\n\nThe quarterly rebate list (QRL) is sent in March.\n"
    source = Source("test:///rebates.md", "rebates.md", said.encode)
    await kb.blocking(lambda: list(kb.corpus.add([source], audience=frozenset({"hr"}))))
    made = await term_suggest(kb, ANNA, term="QRL", expansion="quarterly rebate list")
    assert (made.own, made.evidence, made.description) == (True, [], "")
    (seen,) = await term_suggestions(kb, HANS, term="QRL")
    assert [one.document for one in seen.evidence] == ["rebates.md"]
    assert not seen.own


async def test_names_are_for_managers_and_the_answer_for_its_suggester(kb: KnowledgeBase) -> None:
    made = await term_suggest(kb, ANNA, term="QRL", expansion="quarterly rebate list", context="Sales")
    await term_confirm(kb, BEN, proposal_id=made.id)
    await term_comment(kb, BEN, proposal_id=made.id, words="as in the price book")
    with pytest.raises(NotAllowed):
        await glossary_review(kb, BEN, proposal_id=made.id, reviewer="Ben")
    await glossary_review(kb, MONA, proposal_id=made.id, reviewer="Mona")
    (seen,) = await term_suggestions(kb, ANNA)
    assert (seen.confirmations, seen.reviewer, [one.who for one in seen.comments]) == (1, "Mona", [""])
    (offered,) = (await glossary_offers(kb, MONA, text="QRL")).proposals
    assert [(one.who, one.words) for one in offered.comments] == [("ben", "as in the price book")]


async def test_the_queue_begins_with_what_most_people_wait_for(kb: KnowledgeBase) -> None:
    for number in range(5):
        kb.glossary.misses.record("AAX", "anna", f"question {number}", f"t{number}")
    for name in ("anna", "ben"):
        kb.glossary.misses.record("ZZX", name, "what is it", f"of {name}")
    queued = await glossary_queue(kb, MONA, similar=False)
    assert [(one.term, one.waiting, one.count) for one in queued[:2]] == [("ZZX", 2, 2), ("AAX", 1, 5)]
    for who, term in ((ANNA, "LOX"), (ANNA, "MOX"), (BEN, "MOX"), (HANS, "MOX")):
        await term_suggest(kb, who, term=term, expansion=f"the meaning of {term}")
    offered = (await glossary_offers(kb, MONA)).proposals
    assert [(one.term, one.waiting) for one in offered[:2]] == [("MOX", 3), ("LOX", 1)]


class MailServer:
    """An SMTP server that keeps what it is sent."""

    def __init__(self) -> None:
        self.mails: list[Any] = []
        self.refuses = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 test\r\n")
        while line := await reader.readline():
            command = line.strip().upper()
            if command == b"DATA":
                writer.write(b"354 go on\r\n")
                body = await reader.readuntil(b"\r\n.\r\n")
                self.mails.append(message_from_bytes(body))
            refused = self.refuses and command.startswith(b"RCPT")
            if command == b"QUIT":
                break
            writer.write(b"550 no such person\r\n" if refused else b"250 ok\r\n")
        writer.write(b"221 bye\r\n")
        writer.close()


async def test_a_digest_names_what_everybody_may_read_and_counts_the_rest(kb: KnowledgeBase) -> None:
    await term_suggest(kb, ANNA, term="QRL", expansion="quarterly\nrebate <b>list</b>", context="Sales")
    await term_suggest(kb, HANS, term="ZQX", expansion="brambleton ledger", context="Staff")
    received = MailServer()
    server = await asyncio.start_server(received.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    kb.settings = kb.settings.replace(mail_server=f"smtp://127.0.0.1:{port}")
    received.refuses = True
    assert all("no such person" in one.error for one in await send_mails(kb))
    received.refuses = False
    assert len(await send_mails(kb)) == 2
    texts = {mail["To"]: mail.get_payload() for mail in received.mails}
    assert "QRL: quarterly rebate <b>list</b> (Sales)" in texts["sales@example.org"]
    assert "1 of a context with readers of its own" in texts["staff@example.org"]
    for word in ("ZQX", "brambleton", "Staff"):
        assert word not in texts["staff@example.org"]
    # Sent once, and again only when there is something new after the period.
    assert not await send_mails(kb)
    later = utc_now() + timedelta(hours=25)
    assert not await kb.blocking(list_due, kb, later)
    server.close()


async def test_a_digest_is_in_the_language_of_the_setting(kb: KnowledgeBase) -> None:
    await term_suggest(kb, ANNA, term="VLQ", expansion="valve list", context="Sales")
    kb.settings = kb.settings.replace(digest_language="de", mail_server="")
    due = await kb.blocking(partial(list_due, kb, at_once=True))
    text = write_text(kb, next(one for one in due if "Sales" in one.contexts))
    assert text.startswith("Neue Vorschläge für das Glossar (Sales):") and "- VLQ: valve list (Sales)" in text
    assert "Entscheiden Sie darüber" in text and "Decide" not in text
