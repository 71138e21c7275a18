"""The searches of a turn: their queries, triples and tools, as far as the asker may see them, and notes about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from argot.graph.presentation.found_passages import Visible
from argot.graph.presentation.wording import join_quoted
from argot.graph.run_context import RunContext
from argot.graph.server_tools import NO_SUCH_TOOL
from argot.languages.catalogues import join_with_and, translate
from argot.results import ToolCall
from argot.tools.llm.research import ASK_SERVER
from argot.tools.reading.comparisons import find_naming_texts, find_sides
from argot.tools.reading.question_splitting import split_questions
from argot.types import ReadTerm

_FAULTS = {
    "unreachable": "The server %(server)s could not be reached, and the answer was made without it.",
    "timeout": "The server %(server)s did not answer in time, and the answer was made without it.",
    "oversized": "The server %(server)s sent too much, and the answer was made without it.",
    "malformed": "The server %(server)s sent what cannot be read, and the answer was made without it.",
    "refused": "The tool %(tool)s of %(server)s refused a call.",
    "gone": "The server %(server)s no longer has the tool %(tool)s. Administrators see this with: argot doctor",
    "changed": "The tool %(tool)s of %(server)s changed since it was allowed, and was not called. "
    "Administrators see this with: argot doctor",
    "unsendable": "A call of the tool %(tool)s of %(server)s was not made: it would have sent what may not be sent.",
}


class SearchView(NamedTuple):
    """The searches beyond the first one, as far as the asker may see them, and the notes about them."""

    searched_again: list[list[str]]
    plan: list[str]
    tool_calls: list[ToolCall]
    notes: list[str]


def describe_searches(
    turn: Mapping[str, Any], passages: Visible, terms: Sequence[ReadTerm], *, visible: bool
) -> SearchView:
    """Return the further searches of a turn, whose visible passages are given by id.

    Args:
        terms: those of the question that the reader may see.
        visible: the asker may see everything on which the texts of the searches rest.
    """
    searched_again, calls = _list_other_queries(turn, visible=visible), _list_tool_calls(turn, visible=visible)
    notes = _write_search_notes(turn, searched_again, visible=visible)
    notes += _write_comparison_note(turn, passages, terms)
    return SearchView(searched_again, _list_plan(turn, visible=visible), calls, notes)


def list_queries(turn: Mapping[str, Any], run: RunContext, *, senses: bool, searched: bool) -> list[str]:
    """Return the queries that were searched; only the question itself if they have words that the asker may not see.

    Args:
        senses: the asker may see every sense that was considered.
        searched: the asker may see every passage that was found, and every document that a model was given by title.
    """
    triples = run.corpus.store.triples(run.principal, turn["triples"]) if turn["triples"] else {}
    # One missing triple is enough: the rewritten query contains words of all of them. Other queries have words of
    # passages and titles.
    visible = senses and (searched or not turn.get("searched_again"))
    if visible and len(triples) == len(turn["triples"]):
        return [text for text, _ in turn["search_queries"]]
    return [turn["stand_alone_question"]] if turn["search_queries"] else []


def _list_other_queries(turn: Mapping[str, Any], *, visible: bool) -> list[list[str]]:
    """Return the other queries of each further search; empty lists if the asker may not see what they rest on."""
    searched = turn.get("searched_again", [])
    return [list(queries) if visible else [] for queries in searched]


def _list_tool_calls(turn: Mapping[str, Any], *, visible: bool) -> list[ToolCall]:
    """Return the tools that were called for a thorough answer, without their texts if the asker may not see what these
    rest on.
    """
    return [
        ToolCall(
            tool=call["first"].partition(".")[2] if _read_server(call) else call["tool"],
            text=(call["second"] if _read_server(call) else _join_texts(call)) if visible else "",
            found=len(call["found"]),
            server=_read_server(call),
            fault=call.get("fault", ""),
        )
        for call in turn.get("tool_calls", [])
    ]


def _list_plan(turn: Mapping[str, Any], *, visible: bool) -> list[str]:
    """Return the sub-questions of a thorough answer; none if the asker may not see what they rest on."""
    return [part["question"] for part in turn.get("plan", [])] if visible else []


def list_triples(turn: Mapping[str, Any], run: RunContext) -> list[tuple[str, str, str]]:
    ids = turn["triples"]
    found = run.corpus.store.triples(run.principal, ids) if ids else {}
    return [(found[one].source, found[one].action, found[one].target) for one in ids if one in found]


def _write_search_notes(
    turn: Mapping[str, Any], searched_again: Sequence[Sequence[str]], *, visible: bool
) -> list[str]:
    """Return the notes about further searches, and about a vector search that was unavailable.

    Args:
        turn: the turn.
        searched_again: the other queries of each further search, without those that the asker may not see.
        visible: the asker may see what the texts of the tools' calls rest on.
    """
    queries = [query for some in searched_again for query in some]
    notes = [translate("Searched again for %(queries)s.", queries=join_quoted(queries))] if queries else []
    notes += _write_research_note(turn, visible=visible)
    if turn.get("by_words_alone"):
        notes.append(
            translate(
                "The search by meaning is out of order: passages were found by the words of the question alone. "
                "Whoever runs Argot sees why with: argot doctor"
            )
        )
    return notes


def _write_research_note(turn: Mapping[str, Any], *, visible: bool) -> list[str]:
    if turn.get("effort") != "thorough" or turn.get("small_talk"):
        return []
    if not turn.get("plan"):
        done = turn["status"] in {"answered", "abstained"} and not turn.get("whole") and not turn.get("unnamed")
        why = (
            "The language model made no plan: this answer was made with normal effort."
            if turn.get("model")
            else "A thorough answer needs a language model: this answer was made with normal effort."
        )
        return [translate(why)] if done else []
    made = turn.get("tool_calls", []) if visible else []
    calls = [call for call in made if call["tool"] != ASK_SERVER]
    texts = list(dict.fromkeys(_join_texts(call) for call in calls if call.get("is_told") and _join_texts(call)))
    # A text with other names may be what a document dictates: of these calls only the tool is named.
    others = dict.fromkeys(call["tool"] for call in calls if not call.get("is_told"))
    notes = [translate("Looked up %(texts)s.", texts=join_quoted(texts))] if texts else []
    notes += _write_server_notes([call for call in made if _read_server(call)])
    called = "The model also called %(tools)s." if texts else "The model called %(tools)s."
    return [*notes, translate(called, tools=join_with_and([*others]))] if others else notes


def _read_server(call: Mapping[str, Any]) -> str:
    """Return the name of the server that a call asked; empty for a tool of Argot, and for one that is not offered."""
    is_asked = call["tool"] == ASK_SERVER and call.get("fault") != NO_SUCH_TOOL
    return str(call["first"]).partition(".")[0] if is_asked else ""


def _write_server_notes(calls: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return notes about the tools of other servers: those that were asked, and those that gave no result."""
    parts = [(call["first"].partition("."), call.get("fault", "")) for call in calls]
    asked = dict.fromkeys(f"{tool} ({server})" for (server, _, tool), fault in parts if not fault)
    notes = [translate("Asked other servers by %(tools)s.", tools=join_with_and([*asked]))] if asked else []
    faults = (translate(_FAULTS[fault], server=server, tool=tool) for (server, _, tool), fault in parts if fault)
    return [*notes, *dict.fromkeys(faults)]


def _join_texts(call: Mapping[str, Any]) -> str:
    return " > ".join(filter(None, (call["first"], call["second"])))


def _write_comparison_note(turn: Mapping[str, Any], passages: Visible, terms: Sequence[ReadTerm]) -> list[str]:
    """Return a note about a comparison without a model: which side was not found or is not named by what is quoted, or
    that nothing is concluded.
    """
    question, sides = turn["stand_alone_question"], find_sides(turn["stand_alone_question"])
    if not sides or turn.get("answered_by") == "model" or turn.get("unwritten"):
        return []
    if turn["status"] == "answered" and turn["sentences"]:
        quoted = _list_quoted_texts(turn, passages)
        if unnamed := [side for side in sides if not find_naming_texts(side, question, terms, quoted)]:
            text = "Nothing that is quoted names %(sides)s, so this is only a part of the comparison."
            return [translate(text, sides=join_quoted(unnamed))]
        text = "The documents are quoted on %(sides)s, in this order. Nothing is concluded from that."
        return [translate(text, sides=join_quoted(sides))]
    parts = dict(zip(split_questions(question), sides, strict=True))
    # A side that a passage below names was found, though nothing answers what it is.
    there = [passage.with_header for passage, *_ in passages.values()]
    unanswered = [parts[one] for one in turn.get("unanswered", []) if one in parts]
    missing = [side for side in unanswered if not find_naming_texts(side, question, terms, there)]
    has_to_tell = turn["status"] == "abstained" and missing
    text = "Nothing was found about %(missing)s, so there is nothing to compare."
    return [translate(text, missing=join_quoted(missing))] if has_to_tell else []


def _list_quoted_texts(turn: Mapping[str, Any], passages: Visible) -> list[str]:
    """List the text quoted from each passage, after the headings above it: a table row and the names of its columns
    are in different sentences.
    """
    texts: dict[str, str] = {}
    for sentence in turn["sentences"]:
        for passage in dict.fromkeys(one["passage"] for one in sentence["citations"]):
            above = passages[passage][0].header if passage in passages else ""
            texts[passage] = f"{texts.get(passage, above)} {sentence['text']}"
    return [*texts.values()]
