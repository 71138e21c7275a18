"""The tools of a thorough answer. Each reads only what the asker may read, and none writes anything.

A tool receives the texts that the model wrote, and returns ids. They are read through the stores again for each later
step and each reader, with the rights at that time. No tool goes beyond the question's scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from argot.corpus.store.revision_reads import read_documents
from argot.graph.multi_question import search_part
from argot.graph.other_queries import list_searched_documents
from argot.graph.run_context import RunContext
from argot.graph.state import State, ToolCallRecord
from argot.graph.state_records import get_definitions, load_senses
from argot.graph.subjects import find_subject, keep_subject
from argot.graph.supported_senses import drop_other_senses
from argot.tools.llm.research import ASK_SERVER, ToolName, ToolRequest
from argot.tools.llm.rewording import clean_rewording, has_foreign_names
from argot.tools.retrieval.hybrid_search import WeightedQuery, select_documents
from argot.tools.retrieval.reranker import rerank
from argot.tools.text.words import content_stems
from argot.types import Document, Hit

MAX_SEARCHED = 5
"""Passages that a search returns."""
MAX_OPENED = 6
"""Passages of a section, or with an identifier, that a tool returns."""
MAX_LISTED = 15
"""Documents or senses that a tool returns."""
MAX_TRIED = 300
"""Passages that are examined until enough are within the question's scope and about the meant sense and document."""
MIN_NAMED_SHARE = 0.6
"""Share of the words of the model's name for a document or section that its title or heading must have."""

_NO_WORD = re.compile(r"[\W_]+")

Tool = Callable[[ToolRequest, State, RunContext], Sequence[str]]


def call_tool(request: ToolRequest, part: int, state: State, run: RunContext) -> ToolCallRecord:
    """Call the tool that the model asks for, for the sub-question at index `part`."""
    found = TOOLS[request.tool](request, state, run) if request.first or request.tool == "list_documents" else []
    return ToolCallRecord(
        part=part,
        tool=request.tool,
        first=request.first,
        second=request.second,
        found=[*dict.fromkeys(found)],
        is_told=_may_be_shown(request, state),
    )


def _may_be_shown(request: ToolRequest, state: State) -> bool:
    """Return whether a note shows the asker the texts of a call. A document may have dictated one with other names."""
    known = [
        state["stand_alone_question"],
        get_definitions(state),
        *(part["question"] for part in state.get("plan", [])),
    ]
    texts = [text for text in (request.first, request.second) if text]
    return all(clean_rewording(text) and not has_foreign_names(text, known) for text in texts)


def search(request: ToolRequest, state: State, run: RunContext) -> list[str]:
    """Return the passages that answer the query best, without those about a sense or document that the asker does not
    mean.
    """
    found = drop_other_senses(search_part(request.first, state, run), state, run)
    hits = keep_subject(found, find_subject(state, run), run)
    ranked = rerank([WeightedQuery(request.first)], hits, run.scorer, run.profile) if run.profile.rerank else hits
    return [hit.passage.id for hit in ranked[:MAX_SEARCHED]]


def open_section(request: ToolRequest, state: State, run: RunContext) -> list[str]:
    """Return the passages of the section with this heading, and of those below it, in the document of this name."""
    named = _find_named(request.first, list_searched_documents(state, run))
    for document in named[:1]:
        passages = run.corpus.store.passages_of(run.principal, document.id)
        if request.second:
            shares = [_measure_named(request.second, one.heading) for one in passages]
            best = max([MIN_NAMED_SHARE, *shares])
            paths = {one.heading_path for one, share in zip(passages, shares, strict=True) if share == best}
            passages = [one for one in passages if any(one.heading_path[: len(path)] == path for path in paths)]
        return _keep_meant([Hit(one, document, 0.0) for one in passages[:MAX_TRIED]], state, run)[:MAX_OPENED]
    return []


def find_identifier(request: ToolRequest, state: State, run: RunContext) -> list[str]:
    """Return passages that contain the text word for word."""
    store, wanted = run.corpus.store, " ".join(request.first.split()).casefold()
    ids = store.find_phrase(run.principal, request.first, MAX_TRIED)
    inside = select_documents(run.corpus, run.principal, run.scope, state.get("scope", ()))
    found = [
        Hit(passage, document, 0.0)
        for passage, document in store.passages(run.principal, ids).values()
        if (inside is None or document.id in inside) and wanted in " ".join(passage.with_header.split()).casefold()
    ]
    return _keep_meant(found, state, run)[:MAX_OPENED]


def look_up_term(request: ToolRequest, state: State, run: RunContext) -> list[str]:
    """Return the approved senses of the terms in the text."""
    if not run.profile.look_up_jargon:
        return []
    return [str(sense) for sense in load_senses(_list_terms(request.first, run), run)][:MAX_LISTED]


def list_documents(request: ToolRequest, state: State, run: RunContext) -> list[str]:
    """Return the documents whose titles or names have any of these words; without words the first documents."""
    documents = list_searched_documents(state, run)
    named = _find_named(request.first, documents, least=1e-9) if request.first else documents
    return [document.id for document in named[:MAX_LISTED]]


TOOLS: dict[ToolName, Tool] = {
    "search": search,
    "open_section": open_section,
    "find_identifier": find_identifier,
    "look_up_term": look_up_term,
    "list_documents": list_documents,
}
PASSAGE_TOOLS = frozenset({"search", "open_section", "find_identifier", ASK_SERVER})
"""The tools that find passages."""


def describe_call(record: ToolCallRecord, numbers: Sequence[int], run: RunContext) -> str:
    """Return a line about a call and what it found, as the model reads it.

    Args:
        record: the call.
        numbers: the numbers of the passages that it found.
    """
    arguments = ", ".join(f'"{text}"' for text in (record["first"], record["second"]) if text)
    if record.get("fault"):
        found = f"failed ({record['fault']})"
    elif record["tool"] in PASSAGE_TOOLS:
        found = f"passages {', '.join(map(str, numbers))}" if numbers else ""
    elif record["tool"] == "look_up_term":
        senses = load_senses(_list_terms(record["first"], run), run)
        known = [senses[int(id_)] for id_ in record["found"] if int(id_) in senses]
        found = "; ".join(f"{one.term} ({one.context}): {one.expansion or one.description}" for one in known)
    else:
        found = "; ".join(one.name for one in read_documents(run.corpus.store, run.principal, record["found"]))
    return f"{record['tool']}({arguments}): {found or 'nothing'}"


def _list_terms(text: str, run: RunContext) -> list[str]:
    """Return the glossary's terms in a text; the text itself if it has none of them."""
    mentions = run.glossary.lookup.matcher(run.principal).find(text)
    return [one.term for one in mentions if one.term] or [text]


def _keep_meant(hits: Sequence[Hit], state: State, run: RunContext) -> list[str]:
    """Return the ids of the passages, without those about a sense or document that is not meant."""
    kept = keep_subject(drop_other_senses(hits, state, run), find_subject(state, run), run)
    return [hit.passage.id for hit in kept]


def _find_named(words: str, documents: Sequence[Document], least: float = MIN_NAMED_SHARE) -> list[Document]:
    """Return the documents that these words name, the best-fitting first."""
    folded = words.strip().casefold()
    shares = [
        1.0
        if folded in {one.name.casefold(), one.title.casefold()}
        else _measure_named(words, f"{one.title} {one.name}")
        for one in documents
    ]
    ranked = sorted(zip(shares, documents, strict=True), key=lambda one: (-one[0], len(one[1].title)))
    return [document for share, document in ranked if share >= least]


def _measure_named(words: str, name: str) -> float:
    """Return the share of the words that a name has, in [0, 1]; a little less if the name has many others."""
    wanted, held = (set(content_stems(_NO_WORD.sub(" ", text))) for text in (words, name))
    share = len(wanted & held) / len(wanted) if wanted else 0.0
    return share * (1 - len(held - wanted) / 1000)
