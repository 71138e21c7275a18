"""Tests of conversations of every kind on each engine: status, text, citations, ids and scores are the same."""

import base64
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from base_engines import ENGINES, Places, made_tiny, places_on

from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.types import Principal

ANN = Principal("ann")
MIA = Principal("mia", frozenset({"managers"}))
ADMIN = Principal("local", sees_all=True)
LEAVE = "How many days is the annual leave?"


@pytest.fixture(scope="module")
def engines(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Places]]:
    with ExitStack() as opened:
        yield [opened.enter_context(places_on(engine, tmp_path_factory.mktemp(engine), request)) for engine in ENGINES]


async def do(kb: KnowledgeBase, who: Principal, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **parameters)


async def ask(kb: KnowledgeBase, question: str, **more: Any) -> Any:
    return await do(kb, ANN, "ask", question=question, **more)


# -- the conversations: each returns all its turns --------------------------------------------------------------------


async def single_turns(kb: KnowledgeBase) -> list[Any]:
    return [
        await ask(kb, "What is the WL voltage during a read?"),
        await ask(kb, "What does the ZQX do?", profile="strict"),
        await ask(kb, "Hello!"),
        await ask(kb, "Who painted the ceiling of the chapel in Florence?"),
    ]


async def a_choice_and_a_follow_up(kb: KnowledgeBase) -> list[Any]:
    asked = await ask(kb, "What is PUC?")
    chosen = await do(kb, ANN, "answer", thread=asked["thread"], choice=asked["choices"][0]["answer"])
    follow_up = await ask(kb, "And how much of the die area does it save?", thread=asked["thread"])
    return [asked, chosen, follow_up, await do(kb, ANN, "thread_read", thread=asked["thread"])]


async def scopes(kb: KnowledgeBase) -> list[Any]:
    for name, day, place, days in (("eu.md", "2025-03-01", "EU", 30), ("us.md", "2023-06-01", "US", 15)):
        text = f"---\ndate: {day}\nregion: {place}\n---\n# Leave in the {place}\n\nAnnual leave is {days} days.\n"
        await do(kb, MIA, "upload", name=name, data=text.encode(), tags=[place.lower()])
    told = [await ask(kb, LEAVE, tags=["us"]), await ask(kb, LEAVE, since="2024")]
    return [*told, await ask(kb, LEAVE, fields={"region": ["EU"]})]


async def an_attached_file(kb: KnowledgeBase) -> list[Any]:
    text = base64.b64encode(b"# Kiln log\n\nThe kiln reaches 1180 degrees after nine hours.\n").decode()
    begun = await ask(kb, "Hello!")
    await do(kb, ANN, "thread_attach", thread=begun["thread"], name="kiln.md", content=text)
    asked = await ask(kb, "How many degrees does the kiln reach?", thread=begun["thread"])
    assert asked["passages"][0]["document"] == "kiln.md"
    # Its ids come from the conversation's id, which is random.
    texts = [(one["document"], one["text"], one["score"]) for one in asked["passages"]]
    return [{"status": asked["status"], "answer": asked["answer"], "notes": asked["notes"], "texts": texts}]


async def a_draft_and_what_it_would_change(kb: KnowledgeBase) -> list[Any]:
    """Try a draft in a copy of the glossary, which is a file on PostgreSQL too."""
    draft = kb.glossary.senses.draft(ADMIN, "LTF", "Tools", "late tariff filing")
    given = ["What does the LTF cost a day?"]
    before = kb.glossary.senses.find(ADMIN), kb.glossary.version()
    effects = await do(kb, ADMIN, "glossary_effects", sense_id=draft.id, questions=given)
    (row,) = effects["rows"]
    assert "reading" in row["changed"] and row["after"]["query"] == "What does the late tariff filing cost a day?"
    assert (kb.glossary.senses.find(ADMIN), kb.glossary.version()) == before
    return [effects]


JOURNEYS: tuple[tuple[Callable[[KnowledgeBase], Awaitable[list[Any]]], list[str]], ...] = (
    (single_turns, ["answered", "query_miss", "small_talk", "abstained"]),
    (a_choice_and_a_follow_up, ["needs_choice", "answered", "answered"]),
    (scopes, ["answered"] * 3),
    (an_attached_file, ["answered"]),
    (a_draft_and_what_it_would_change, []),
)


async def test_conversations_are_the_same_on_each_engine(engines: list[Places]) -> None:
    told: list[list[list[Any]]] = []
    for places in engines:
        async with made_tiny(places("journeys")) as kb:
            told.append([await journey(kb) for journey, _ in JOURNEYS])
    for (journey, statuses), *each in zip(JOURNEYS, *told, strict=True):
        on_sqlite, on_postgresql = map(plain, each)
        assert [turn["status"] for turn in on_sqlite if "status" in turn] == statuses, journey.__name__
        assert on_postgresql == on_sqlite, journey.__name__


OF_ONE_RUN = {"thread", "id", "timings", "seconds", "created_at", "updated_at", "at"}


def plain(told: Any) -> Any:
    """Remove what differs between runs on the same engine: times and random names."""
    if isinstance(told, dict):
        return {name: plain(value) for name, value in told.items() if name not in OF_ONE_RUN}
    return [plain(one) for one in told] if isinstance(told, list | tuple) else told
