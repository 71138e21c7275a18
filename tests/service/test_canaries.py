"""Tests with a canary for each audience and every way to reach it: its readers are shown it, and nobody else ever is.

The words of a canary are coined, so that each can come only from its document, context or sense. Questions never
contain them, because an answer may repeat the question.
"""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from base_engines import ENGINES, Places, made_tiny, places_on
from fastapi import FastAPI

from argot.corpus.corpus import Source
from argot.errors import ArgotError, NotAllowed, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.transport.knowledge_base_client import SocketClient
from argot.service.transport.local_socket import serve_socket
from argot.service.usecases import catalogue
from argot.types import DerivedText, Label, Principal
from argot.ui.pages.source_pages import build_source_pages
from argot.ui.web.asker_identity import asker
from argot.ui.web.routers import add_routes

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADMIN = Principal("local", sees_all=True)
OUTSIDER = Principal("olga")
MANAGER = Principal("mona", frozenset({"managers"}))
HR = Principal("hans", frozenset({"hr", "sales"}))
FAB = Principal("fay", frozenset({"fab"}))
NILS = Principal("nils")
USERS = (OUTSIDER, MANAGER, HR, FAB, NILS)


@dataclass(frozen=True)
class Canary:
    """Content that only `reader` may know. All of it contains `word`; the other fields are for queries without it."""

    reader: str
    word: str
    holiday: str
    misspelt: str
    abbreviation: str

    @property
    def document(self) -> str:
        return f"{self.word}-plan.md"

    @property
    def context(self) -> str:
        return f"{self.word.title()} Office"

    @property
    def text(self) -> str:
        return f"""# The {self.word} plan

## Holiday of the {self.word}

The {self.holiday} holiday of the works lasts 17 days for {self.word}. The {self.holiday} holiday begins in March.

## Calibration

To calibrate the {self.holiday} valve, click on the {self.word} menu.
"""


CANARIES = (
    Canary("hr", "brambleton", "winterfeast", "BRAMBLTON", "BTX"),
    Canary("fab", "curlewick", "summerfeast", "CURLEWCK", "CWX"),
    Canary("@nils", "dovermoor", "harvestfeast", "DOVERMOR", "DMX"),
)
WALKS = (
    *zip((HR, FAB, NILS), CANARIES, strict=True),
    *zip((OUTSIDER, MANAGER, HR, FAB, NILS, ADMIN), CANARIES[1:] * 3, strict=True),
)
"""Who walks each road, and towards which canary: everyone to somebody else's, and each reader to its own."""


def may(principal: Principal, canary: Canary) -> bool:
    return principal.may_read(frozenset({canary.reader}))


class QuestionDeriver:
    """A deriver of triples by the rules, and of a question for each passage."""

    def __init__(self) -> None:
        from argot.tools.retrieval.triple_extraction import ExtractiveDeriver

        self._rules = ExtractiveDeriver()
        self.name = "canaries"

    async def triples(self, passages: Any) -> Any:
        return await self._rules.triples(passages)

    async def derived_texts(self, passages: Any) -> list[DerivedText]:
        return [DerivedText("", "question", f"When is it? {p.text.splitlines()[-1]}", (p.id,)) for p in passages]


# -- the knowledge base -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=ENGINES)
def places(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    with places_on(request.param, tmp_path_factory.mktemp(request.param), request) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kb(places: Places) -> AsyncIterator[KnowledgeBase]:
    """Provide the small knowledge base with a document, a context, senses and a miss for every audience."""
    async with made_tiny(places("guarded", questions_per_minute=0)) as opened:
        for canary in CANARIES:
            put_in(opened, canary)
        for principal in USERS:
            opened.people.add(principal.name, tuple(principal.groups))
        yield opened


def put_in(kb: KnowledgeBase, one: Canary) -> None:
    audience, glossary = frozenset({one.reader}), kb.glossary
    source = Source(f"test:///{one.document}", one.document, one.text.encode)
    events = list(kb.corpus.add([source], deriver=QuestionDeriver(), audience=audience, tags=[one.word]))
    assert [event.kind for event in events] == ["found", "added", "done"], events
    glossary.contexts.add(one.context, f"what {one.word} does", f"{one.word}@example.com", audience)
    forbidden = (Label(f"{one.holiday} hours", "forbidden"),)
    glossary.senses.add(one.abbreviation, one.context, f"guarded {one.word} by its context", labels=forbidden)
    glossary.senses.add(one.word.upper(), "Tools", "a hidden tool", f"of {one.word}", audience=audience)
    # A further sense of a well-known term, which is as common as possible in the documents of its readers.
    glossary.senses.add("PUC", "Tools", f"{one.word} plan", f"for {one.word}", audience=audience)
    glossary.misses.record(f"{one.abbreviation}Q", one.reader.strip("@"), f"what does {one.word} mean?", "t1")


async def call(kb: KnowledgeBase, principal: Principal, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, principal, name, **parameters)


async def told(road: Awaitable[Any], *asked: str) -> str:
    """Return everything the call reports, errors too, in lower case and without the caller's own words."""
    try:
        found = json.dumps(await road, ensure_ascii=False, default=str)
    except ArgotError as error:
        found = str(error)
    for words in asked:
        found = found.replace(words, "…").replace(json.dumps(words)[1:-1], "…")
    return found.casefold()


def ids(kb: KnowledgeBase, canary: Canary) -> dict[str, Any]:
    """Return all identifiers that an outsider could have been told or could guess."""
    store = kb.corpus.store
    document = store.document(ADMIN, canary.document)
    passages = [passage.id for passage in store.passages_of(ADMIN, document.id)]
    read = kb.corpus.store.database.connection().execute
    return {
        "document": document,
        "passages": passages,
        "derived": [row[0] for row in read("SELECT id FROM derived WHERE document = ?", (document.id,))],
        "triples": [row[0] for row in read("SELECT id FROM triples WHERE document = ?", (document.id,))],
        "senses": [s.id for s in kb.glossary.senses.find(ADMIN) if canary.word in f"{s.term} {s.expansion}".casefold()],
    }


# -- the ways to reach content ----------------------------------------------------------------------------------------

Road = Callable[[KnowledgeBase, Principal, Canary], Awaitable[Any]]
ROADS: dict[str, Road] = {}


def road(name: str) -> Callable[[Road], Road]:
    def register(function: Road) -> Road:
        ROADS[name] = function
        return function

    return register


@road("list")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "list_documents")


@road("glossary list")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "glossary_list", query="PUC")


@road("glossary of a hidden context")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "glossary_list", query=canary.abbreviation)


@road("the list of terms")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    listed = [await call(kb, principal, "terms_list", initial=one) for one in ("", canary.word[0], "p")]
    return listed, await call(kb, principal, "terms_list", query="PUC")


@road("the terms of a hidden context")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    try:
        found = await call(kb, principal, "terms_list", context=canary.context)
    except NotFound as refusal:
        found = str(refusal).replace(f"'{canary.context}'", "", 1)  # the name asked for
    return found, await call(kb, principal, "terms_list", query=canary.abbreviation)


@road("the entry of a term")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    asked = ("PUC", canary.abbreviation, canary.misspelt)
    return [await call(kb, principal, "term_show", term=one) for one in asked]


@road("the check of a text")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    text = f"The {canary.abbreviation}, the PUC and the {canary.misspelt}: {canary.holiday} hours."
    return await call(kb, principal, "terms_check", name="text.md", data=text.encode())


@road("underlined terms and their meanings")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    texts = ["What is PUC?", f"The {canary.abbreviation} and {canary.misspelt} of it."]
    found = ids(kb, canary)
    of = {"document": found["document"].id, "passages": found["passages"]}
    return await call(kb, principal, "terms_mark", texts=texts, **of, context=canary.context)


@road("a report of a wrong meaning")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    senses = [kb.glossary.senses.get(ADMIN, one) for one in ids(kb, canary)["senses"]]
    guarded = next(one for one in senses if one.context == canary.context)
    return await call(kb, principal, "meaning_report", sense_id=guarded.id, term=guarded.term)


@road("glossary export")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "glossary_export")


@road("contexts and their contacts")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "context_list")


@road("contexts named by an error")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "ask", question="What is PUC?", context="No Such Context")


@road("answer, citations, passages")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "ask", question=f"How long does the {canary.holiday} holiday last?")


@road("triples and search queries")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "ask", question=f"calibrate {canary.holiday} valve")


@road("nearest passages of an abstention")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    asked = await call(kb, principal, "ask", question=f"Who painted the ceiling at {canary.holiday} in Florence?")
    return asked if asked["status"] == "abstained" else f"not abstained, {canary.word} or not"


@road("a sense and the augmented question")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "ask", question=f"What does {canary.abbreviation} do in the works?")


@road("did you mean")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "ask", question=f"Who runs the {canary.misspelt}?")


@road("choices at an interrupt")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "ask", question="What is PUC?")


@road("stages as they are shown")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    parameters = {"question": f"What does {canary.abbreviation} say of the {canary.holiday} holiday?"}
    return [event async for event in catalogue.dispatch(kb, principal, "ask", parameters)]


@road("a follow-up")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    asked = await call(kb, principal, "ask", question=f"How long does the {canary.holiday} holiday last?")
    return await call(kb, principal, "ask", question="And when does it begin?", thread=asked["thread"])


@road("a document by its name")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "show", document=canary.document)


@road("a document by its id")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "show", document=ids(kb, canary)["document"].id)


@road("its source")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "read_source", document=ids(kb, canary)["document"].uri)


@road("a part of its text")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return await call(kb, principal, "document_text", document=ids(kb, canary)["document"].uri)


@road("its original")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    found = await call(kb, principal, "read_original", document=ids(kb, canary)["document"].id)
    return base64.b64decode(found["base64"]).decode()


@road("a passage by its id")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return [await call(kb, principal, "read_passage", passage_id=one) for one in ids(kb, canary)["passages"]]


@road("found by words")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    store, query = kb.corpus.store, f"{canary.holiday} holiday calibrate valve"
    found = [id_ for id_, _ in store.keyword_search(principal, query, 50)]
    found += store.find_phrase(principal, f"{canary.holiday} holiday", 50)
    return [passage.text for passage, _ in store.passages(ADMIN, found).values()]


@road("found by meaning")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    vector = kb.corpus.embedder.embed_queries([f"{canary.holiday} holiday"])[0]
    found = [id_ for id_, _ in kb.corpus.search_semantic(principal, "passage", vector, 50)]
    return [passage.text for passage, _ in kb.corpus.store.passages(ADMIN, found).values()]


@road("derived texts")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    store, query = kb.corpus.store, f"calibrate the {canary.holiday} valve"
    vector = kb.corpus.embedder.embed_queries([query])[0]
    found = [id_ for id_, _ in store.search_derived_keywords(principal, query, 50)]
    found += [id_ for id_, _ in kb.corpus.search_semantic(principal, "derived", vector, 50)]
    read = store.derived(principal, ids(kb, canary)["derived"])
    return [one.text for one in (*store.derived(ADMIN, found).values(), *read.values())]


@road("triples")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    store, query = kb.corpus.store, f"calibrate {canary.holiday} valve"
    vector = kb.corpus.embedder.embed_queries([query])[0]
    found = [id_ for id_, _ in store.search_triple_keywords(principal, query, 50)]
    found += [id_ for id_, _ in kb.corpus.search_semantic(principal, "triple", vector, 50)]
    read = store.triples(principal, ids(kb, canary)["triples"])
    return [one.text for one in (*store.triples(ADMIN, found).values(), *read.values())]


@road("a revision by its id")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    revision = ids(kb, canary)["document"].revision_id
    return kb.corpus.store.markdown(principal, revision), str(kb.corpus.store.original(principal, revision))


@road("suggestions and recognised terms")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return kb.glossary.lookup.suggest(principal, canary.misspelt), list(kb.glossary.lookup.matcher(principal).terms())


@road("counts of phrases")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    store = kb.corpus.store
    counted = store.phrase_count(principal, f"{canary.holiday} holiday") + store.phrase_count(principal, canary.holiday)
    return f"{canary.word} is counted" if counted else ""


@road("a sense by its id")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    return [str(kb.glossary.senses.get(principal, one)) for one in ids(kb, canary)["senses"]]


@road("a choice by its id")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    """Press the button of a hidden sense that was never offered to the presser."""
    (sense,) = (s.id for s in kb.glossary.senses.find(ADMIN, query="PUC") if canary.word in s.expansion)
    asked = await call(kb, principal, "ask", question="What is PUC?")
    return await call(kb, principal, "answer", thread=asked["thread"], choice=f"sense:{sense}")


@road("the side panel")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    addresses = [f"/argot/passages/{one}" for one in ids(kb, canary)["passages"]]
    async with window(kb, principal) as browser:
        found = [await browser.get(address + end) for address in addresses for end in ("?span=0-9", "/original")]
    return [(one.text, dict(one.headers)) for one in found]


@road("the local socket")
async def _(kb: KnowledgeBase, principal: Principal, canary: Canary) -> Any:
    """Check that the socket, which shares its table of use cases with the window, passes on the name."""
    name = None if principal.sees_all else principal.name
    question = f"How long does the {canary.holiday} holiday last?"
    async with serve_socket(kb) as path:
        return await asyncio.to_thread(
            lambda: SocketClient(path).as_user(name).call(catalogue.questions.ask, question=question)
        )


@asynccontextmanager
async def window(kb: KnowledgeBase, principal: Principal) -> AsyncIterator[httpx.AsyncClient]:
    """Serve the addresses of a citation to a browser in which this person has signed in."""
    app = FastAPI()
    add_routes(app, build_source_pages(kb))

    async def signed_in(scope: Any, receive: Any, send: Any) -> None:
        token = asker.set(principal.name)
        try:
            await app(scope, receive, send)
        finally:
            asker.reset(token)

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=signed_in), base_url="http://localhost") as browser:
        yield browser


def crossings(found: str, principal: Principal) -> list[str]:
    return [f"{principal.name} met {one.word}" for one in CANARIES if not may(principal, one) and one.word in found]


@pytest.mark.parametrize("name", ROADS)
async def test_a_canary_is_shown_to_its_readers_only(kb: KnowledgeBase, name: str) -> None:
    crossed, lost = [], []
    for principal, canary in WALKS:
        found = await told(ROADS[name](kb, principal, canary), canary.document, ids(kb, canary)["document"].uri)
        crossed += crossings(found, principal)
        if may(principal, canary) and canary.word not in found:
            lost.append((principal.name, canary.word, found))
    assert crossed == []
    assert lost == []


async def test_every_user_is_tested_with_a_canary_of_another() -> None:
    assert {p.name for p, canary in WALKS if not may(p, canary)} == {p.name for p in USERS}
    assert {canary.reader for p, canary in WALKS if may(p, canary) and not p.sees_all} == {c.reader for c in CANARIES}


async def test_hidden_content_does_not_change_the_answers_of_others(kb: KnowledgeBase, places: Places) -> None:
    """Check that a base without any canary gives the same words and numbers for the same questions."""
    questions = (
        "What is PUC?", "What is the WL voltage during a read?", "Who runs the BRAMBLTON?", "What is BTX?",
        "How long does the winterfeast holiday last?", "calibrate winterfeast valve", "How do I trim a drive?",
        "What does the works do in March?",
    )  # fmt: skip
    async with made_tiny(places("without")) as other:
        for question in questions:
            with_canaries, alone = [await call(base, OUTSIDER, "ask", question=question) for base in (kb, other)]
            for result in (with_canaries, alone):
                del result["timings"], result["thread"]
            assert with_canaries == alone


# -- content that a person may no longer see --------------------------------------------------------------------------

WAYS = (
    "answer, citations, passages",
    "triples and search queries",
    "nearest passages of an abstention",
    "a sense and the augmented question",
    "did you mean",
    "choices at an interrupt",
    "a choice by its id",
)


@pytest.mark.parametrize("way", WAYS)
async def test_a_conversation_omits_content_its_owner_may_no_longer_see(kb: KnowledgeBase, way: str) -> None:
    canary, after = CANARIES[0], Principal("hans", frozenset({"sales"}))
    asked = await ROADS[way](kb, HR, canary)
    assert canary.word in json.dumps(asked).casefold()

    assert canary.word in await told(call(kb, HR, "thread_read", thread=asked["thread"]))
    read = await told(call(kb, after, "thread_read", thread=asked["thread"]))
    follow_up = await told(call(kb, after, "ask", question="And when does it begin?", thread=asked["thread"]))

    assert crossings(read, after) == crossings(follow_up, after) == []


@pytest.mark.parametrize(
    ("profile", "question"),
    [
        # the context of the question, named although no term of it was recognised
        ("default", "Which WLX do birds of the wards have that nest, moult and sing in spring?"),
        # the context of the augmented question, whose terms agree on none
        ("default", "Which WLX do birds have by the WL that nest, moult and sing in spring?"),
        # a sense that lost but was searched for
        ("lenient", "What is PUC?"),
        # the offered senses
        ("default", "What is PUC?"),
    ],
)
async def test_a_conversation_omits_a_hidden_context_that_was_only_considered(
    kb: KnowledgeBase, profile: str, question: str
) -> None:
    glossary = kb.glossary
    told_of = "where quillfeathers nest, birds that moult and sing in spring"
    glossary.contexts.add("Aviary wards", told_of, "quill@example.com", audience=frozenset())
    glossary.senses.add("PUC", "Aviary wards", "quillfeather plan")
    glossary.senses.add("NST", "Aviary wards", "bird nest")
    glossary.senses.add("WLX", "Tools", "Word Line extension")
    asked = await call(kb, OUTSIDER, "ask", question=question, profile=profile)
    assert any(word in json.dumps(asked) for word in ("quillfeather", "Aviary"))

    glossary.contexts.add("Aviary wards", audience=frozenset({"board"}))

    read = await told(call(kb, OUTSIDER, "thread_read", thread=asked["thread"]))
    assert "quill" not in read and "aviary" not in read


# -- managers, who may change what they may read ----------------------------------------------------------------------


async def test_adding_a_copy_of_a_hidden_document_reveals_nothing_to_a_manager(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    canary = CANARIES[0]
    (tmp_path / "copy.md").write_text(canary.text, "utf-8")
    parameters = {"paths": [str(tmp_path / "copy.md")], "audience": ["hr"]}
    events = [event async for event in catalogue.dispatch(kb, MANAGER, "add", parameters)]
    assert events[-1]["data"]["added"] == 1 and events[-1]["data"]["duplicate"] == 0
    assert canary.word not in json.dumps(events).casefold()
    other = {"name": "upload.md", "data": base64.b64encode(canary.text.encode()).decode(), "audience": ["hr"]}
    done = await catalogue.get_result(kb, MANAGER, "upload", **other)
    assert (done["kind"], done["document"]) == ("added", None)
    (tmp_path / "copy.md").rename(tmp_path / "another.md")
    parameters["paths"] = [str(tmp_path / "another.md")]
    manager_of_hr = Principal("mona", frozenset({"managers", "hr"}))
    assert canary.word in json.dumps(
        [event async for event in catalogue.dispatch(kb, manager_of_hr, "add", parameters)]
    )


async def test_a_manager_cannot_open_a_hidden_context_or_change_a_hidden_sense(kb: KnowledgeBase) -> None:
    canary = CANARIES[1]
    hidden = {"term": canary.word.upper(), "context": "Tools", "expansion": "a hidden tool"}
    csv = "term,context,expansion\nNEW,Tools,something new\n{},{},{}\n"
    before = kb.glossary.senses.find(ADMIN), kb.glossary.contexts.all(ADMIN)
    for name, parameters in (
        ("context_add", {"name": canary.context}),
        ("context_add", {"name": canary.context.upper(), "audience": ["managers"]}),
        ("glossary_add", {"term": "NEW", "context": canary.context, "expansion": "something"}),
        ("glossary_add", {**hidden, "audience": ["managers"]}),
        ("glossary_import", {"text": csv.format("NEW", canary.context, "something")}),
        ("glossary_import", {"text": csv.format(*hidden.values())}),
    ):
        with pytest.raises(NotAllowed) as refused:
            await call(kb, MANAGER, name, **parameters)
        assert crossings(str(refused.value).casefold().replace(canary.word, "", 1), MANAGER) == []
    assert (kb.glossary.senses.find(ADMIN), kb.glossary.contexts.all(ADMIN)) == before
    inside = Principal("mona", frozenset({"managers", "fab"}))
    assert (await call(kb, inside, "context_add", name=canary.context))["audience"] == ["fab"]


async def test_adding_to_a_hidden_sense_does_not_publish_it(kb: KnowledgeBase) -> None:
    canary = CANARIES[1]
    parameters = {"term": canary.word.upper(), "context": "Tools", "expansion": "a hidden tool"}
    changed = await call(kb, ADMIN, "glossary_add", **parameters, description=f"{canary.word} again")
    assert changed["audience"] == ["fab"]
    assert crossings(await told(call(kb, OUTSIDER, "glossary_list")), OUTSIDER) == []
    assert (await call(kb, ADMIN, "glossary_add", **parameters, audience=[]))["audience"] == []


async def test_a_manager_cannot_remove_a_hidden_document(kb: KnowledgeBase) -> None:
    for wanted in (CANARIES[0].document, ids(kb, CANARIES[0])["document"].id):
        with pytest.raises(NotFound):
            await call(kb, MANAGER, "remove", document=wanted)


async def test_questions_that_missed_a_term_are_private_to_their_askers(kb: KnowledgeBase) -> None:
    assert crossings(await told(call(kb, MANAGER, "glossary_misses")), MANAGER) == []
    everything = await told(call(kb, ADMIN, "glossary_misses"))
    assert [one.word for one in CANARIES if one.word not in everything] == []


# -- conversations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "thief", [OUTSIDER, MANAGER, ADMIN, Principal("hans ", HR.groups), Principal("HANS", HR.groups)]
)
async def test_a_conversation_is_open_to_its_owner_only(kb: KnowledgeBase, thief: Principal) -> None:
    asked = await call(kb, HR, "ask", question="What is PUC?")
    thread = asked["thread"]
    before = await call(kb, HR, "thread_read", thread=thread)
    for name, parameters in (
        ("ask", {"question": "What is PUC?"}),
        ("ask", {"question": "1"}),
        ("answer", {"choice": "1"}),
        ("answer", {"choice": asked["choices"][0]["answer"]}),
        ("thread_read", {}),
        ("thread_rename", {"title": "mine"}),
        ("thread_delete", {}),
        ("feedback", {"turn": 0, "value": 1, "comment": "mine"}),
    ):
        with pytest.raises(NotFound, match=f"There is no thread '{thread}' of yours"):
            await call(kb, thief, name, thread=thread, **parameters)
    assert thread not in await told(call(kb, thief, "thread_list"))
    assert await call(kb, HR, "thread_read", thread=thread) == before
    assert await (await kb.threads()).feedback(HR.name, thread) == []


async def test_the_web_windows_history_is_open_to_its_owner_only(kb: KnowledgeBase) -> None:
    from chainlit.types import Feedback, Pagination, ThreadFilter

    from argot.ui.chat.data_layer import ThreadsLayer

    thread = (await call(kb, HR, "ask", question="How long does the winterfeast holiday last?"))["thread"]
    layer = ThreadsLayer(kb)
    layer.remember_run("run", thread, 0)
    token = asker.set(OUTSIDER.name)
    try:
        assert await layer.get_thread(thread) is None
        assert await layer.get_thread_author(thread) == ""
        listed = await layer.list_threads(Pagination(first=50), ThreadFilter())
        assert thread not in [one["id"] for one in listed.data]
        for change in (
            layer.delete_thread(thread),
            layer.upsert_feedback(Feedback(forId="run", value=1)),
            layer.upsert_feedback(Feedback(forId=f"{thread}.0", value=0)),
            layer.delete_feedback(f"{thread}.0"),
        ):
            with pytest.raises(NotFound):
                await change
    finally:
        asker.reset(token)
    assert (await call(kb, HR, "thread_read", thread=thread))["feedback"] == []
