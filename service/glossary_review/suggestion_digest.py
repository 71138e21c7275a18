"""Digests: what was suggested for a context, sent to its contact at most once in a period.

A contact is a text, such as a mailing list, and no person whose rights are known. So a digest names only what everybody
may read; of the rest it says how much there is.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from argot.clock import format_utc, utc_now
from argot.jargon_db.lookup.normalise import normalise
from argot.languages.catalogues import speak, translate, translate_number
from argot.service.glossary_review.miss_loop import LOOP
from argot.service.knowledge_base import KnowledgeBase
from argot.service.mail import MailRefused, send_mail
from argot.types import Context
from argot.work.schedule import schedule_work

if TYPE_CHECKING:
    from argot.jargon_db.store.proposal_rows import Proposal

logger = logging.getLogger(__name__)

MAX_LINES = 20
MAX_WORDS_CHARS = 200
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


@dataclass(frozen=True, slots=True)
class Digest:
    """The new suggestions for one contact: `lines` say what everybody may read; `hidden`: how many others there are."""

    contact: str
    contexts: tuple[str, ...]
    lines: tuple[str, ...]
    hidden: int
    at: str

    @property
    def text(self) -> str:
        shown = [f"- {line}" for line in self.lines[:MAX_LINES]]
        if more := len(self.lines) - len(shown):
            shown.append(f"- {translate('and %(number)s more', number=more)}")
        if self.hidden:
            text = "%(number)s of a context with readers of its own, shown after signing in"
            shown.append(f"- {translate(text, number=self.hidden)}")
        return "\n".join(shown)


@dataclass(frozen=True, slots=True)
class SentDigest:
    """A digest that was sent by mail, or the reason why not (`error`)."""

    contact: str
    suggestions: int
    error: str = ""


@schedule_work(
    "send digests of suggestions",
    first=120.0,
    every=1800.0,
    is_wanted=lambda settings: bool(settings.mail.server and settings.mail.digest_hours),
)
async def send_due_digests(kb: KnowledgeBase) -> None:
    """Send the digests that are due."""
    await send_mails(kb)


async def send_mails(kb: KnowledgeBase, *, at_once: bool = False) -> list[SentDigest]:
    """Send the digests of contacts that have an address; return what was sent.

    Args:
        at_once: also to those who were sent one less than a period ago.
    """
    sent: list[SentDigest] = []
    for digest in await kb.blocking(list_due, kb, at_once=at_once):
        addresses = find_addresses(digest.contact)
        # One without an address is told in Slack, if anywhere.
        if not addresses:
            continue
        number = len(digest.lines) + digest.hidden
        with speak(kb.settings.mail.digest_language):
            one, many = "%(number)s suggestion for the glossary", "%(number)s suggestions for the glossary"
            subject = translate_number(one, many, number)
        try:
            await asyncio.to_thread(send_mail, kb.settings.mail, addresses, subject, write_text(kb, digest))
        except MailRefused as error:
            logger.warning("a digest of suggestions was not sent: %s", error)
            sent.append(SentDigest(digest.contact, number, str(error)))
            continue
        await kb.blocking(mark_sent, kb, digest)
        sent.append(SentDigest(digest.contact, number))
    return sent


def mark_sent(kb: KnowledgeBase, digest: Digest) -> None:
    """Record that a contact has a digest, so that the next one begins after it."""
    kb.glossary.suggestions.mark_digest_sent(digest.contact, digest.at)


def find_addresses(contact: str) -> list[str]:
    """Find the mail addresses in a contact."""
    return list(dict.fromkeys(_EMAIL.findall(contact)))


def write_text(kb: KnowledgeBase, digest: Digest) -> str:
    """Write the whole message in the language of the setting: a contact is a text, and has chosen none."""
    where = kb.settings.web.public_url.rstrip("/")
    names = f" ({', '.join(digest.contexts)})" if digest.contexts else ""
    with speak(kb.settings.mail.digest_language):
        first = translate("New suggestions for the glossary%(names)s:", names=names)
        address = translate("Decide on them: %(address)s", address=f"{where}/glossary/proposals")
        last = address if where else translate("Decide on them under Glossary, Proposed.")
        return f"{first}\n\n{digest.text}\n\n{last}\n"


def list_due(kb: KnowledgeBase, now: datetime | None = None, *, at_once: bool = False) -> list[Digest]:
    """List the digests that have something new to say, one for each contact.

    Args:
        at_once: also for contacts that were sent one less than a period ago.
    """
    moment = now or utc_now()
    period = timedelta(hours=kb.settings.mail.digest_hours)
    found: list[Digest] = []
    for contact, contexts in _group_by_contact(kb.glossary.contexts.all(LOOP)).items():
        sent = kb.glossary.suggestions.find_digest_time(contact)
        if sent and not at_once and datetime.fromisoformat(sent) + period > moment:
            continue
        keys = {normalise(one.name) for one in contexts}
        since = kb.glossary.suggestions.list_since(LOOP, sent)
        new = [one for one in since if one.context and normalise(one.context) in keys]
        if new:
            with speak(kb.settings.mail.digest_language):
                found.append(_write_digest(contact, contexts, new, format_utc(moment, "seconds")))
    return found


def _group_by_contact(contexts: Iterable[Context]) -> dict[str, list[Context]]:
    found: defaultdict[str, list[Context]] = defaultdict(list)
    for context in contexts:
        if contact := context.contact.strip():
            found[contact].append(context)
    return found


def _write_digest(contact: str, contexts: list[Context], new: list[Proposal], at: str) -> Digest:
    open_contexts = {normalise(one.name): one.name for one in contexts if not one.audience}
    lines = [
        _write_line(one)
        for one in new
        if not one.audience and one.context and normalise(one.context) in open_contexts
    ]  # fmt: skip
    return Digest(contact, tuple(sorted(open_contexts.values())), tuple(lines), len(new) - len(lines), at)


def _write_line(one: Proposal) -> str:
    meaning = " ".join((one.expansion or one.description).split())[:MAX_WORDS_CHARS]
    confirmed = f", {translate('confirmed by %(number)s', number=one.confirmations)}" if one.confirmations else ""
    return f"{' '.join(one.term.split())}: {meaning} ({one.context}{confirmed})"
