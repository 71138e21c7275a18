"""Makes the result of a turn that people see from the ids in its state, through the stores, at the time of reading.

Access is checked at that time: the stores do not return a passage, sense or triple that the principal may no longer see
(or that was replaced), and every text that rests on it is hidden with it:
- a sentence is shown while the reader may see all passages it cites, one without citation while the reader may see all
  passages found;
- the augmented question and the queries are shown while the reader may see every sense, context and triple in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from argot.graph.choices import (
    ANSWER_ANYWAY,
    NONE_OF_THESE,
    TERM,
    describe_choice,
    make_document_choice,
    make_sense_choice,
)
from argot.graph.presentation.document_notes import write_disagreement_note, write_succession_notes
from argot.graph.presentation.found_passages import Visible, build_citation, build_found_passages, number_passages
from argot.graph.presentation.scope_wording import (
    describe_empty_scope,
    group_values_by_name,
    list_asked_documents,
    read_scope,
    write_searched_note,
)
from argot.graph.presentation.wording import (
    write_abstention,
    write_definition,
    write_document_choice,
    write_library,
    write_model_notes,
    write_notes,
    write_query_miss,
    write_recalled,
    write_search_notes,
    write_selection_note,
    write_sense_choice,
    write_small_talk,
    write_unknown_term,
)
from argot.graph.run_context import RunContext
from argot.graph.state import QueryMissRecord, SentenceRecord, TurnPart
from argot.graph.state_records import EXPLAINED_SENSE, find_agreed_context, get_term, load_senses, read_terms
from argot.graph.subjects import load_offered, write_subject_notes
from argot.graph.thread_files import write_scope_notes
from argot.results import (
    MAX_NEAREST_TERMS,
    STOPPED_MESSAGE,
    AskResult,
    Choice,
    FoundPassage,
    Jargon,
    MissedTerm,
    ModelCall,
    Sentence,
    Status,
)
from argot.tools.answering.disagreements import find_disagreements
from argot.tools.answering.excerpts import choose_excerpt
from argot.tools.answering.selections import count_quoted
from argot.tools.reading.answer_types import asks_for_several
from argot.tools.retrieval.suggested_questions import write_question
from argot.types import Document, Passage, ReadTerm, Sense

MAX_DISAGREEMENTS = 3
"""Number shown for one answer."""


@dataclass(frozen=True)
class _Reading:
    """The part of a turn that the reader may see now. `defined`: the senses that the answer states."""

    turn: TurnPart
    passages: Visible
    senses: Mapping[int, Sense]
    terms: Sequence[ReadTerm]
    all_contexts: bool

    @property
    def all_senses(self) -> bool:
        """Every sense that was considered, also one that was rejected: the queries spell the nearest rivals out."""
        rivals = [sense for one in self.turn["readings"] for sense, _ in one.get("rivals", ())]
        return len(self.terms) == len(self.turn["readings"]) and all(sense in self.senses for sense in rivals)

    @property
    def defined(self) -> list[Sense]:
        return [self.senses[sense] for sense in self.turn.get("defined", []) if sense in self.senses]

    @property
    def all_hits(self) -> bool:
        return all(hit["id"] in self.passages for hit in self.turn["hits"])

    def shows(self, sentence: SentenceRecord) -> bool:
        citations = sentence["citations"]
        # An unsupported sentence may repeat any of the passages.
        return all(one["passage"] in self.passages for one in citations) if citations else self.all_hits


def assemble(turn: Mapping[str, Any], run: RunContext, thread: str, *, waiting: bool = False) -> AskResult:
    """Return the result of a turn as this principal may see it now.

    Args:
        turn: the state of the thread, or one of its `read_past_turns`.
        run: the principal and the stores.
        thread: the thread's id.
        waiting: the turn is at an interrupt, and its choices are open.
    """
    reading = _read(cast(TurnPart, turn), run)
    choices = _build_choices(reading, run) if waiting else []
    status = _find_status(reading.turn, waiting)
    passages = build_found_passages(reading.turn, reading.passages)
    if status == "abstained":
        passages = [*_add_excerpts(passages[:MAX_NEAREST_TERMS], reading), *passages[MAX_NEAREST_TERMS:]]
    sentences = _build_sentences(reading)
    misses = _build_misses(reading, run, waiting=waiting or _has_open_question(turn))
    examples, scope = _write_examples(reading, run), read_scope(turn)
    empty = describe_empty_scope(scope, run) if status == "abstained" and not passages else ""
    searched = [] if empty else write_searched_note(scope)
    return AskResult(
        question=turn["question"],
        stand_alone_question=turn["stand_alone_question"],
        status=status,
        thread=thread,
        # Turns stored before they had numbers are identified by their position.
        turn=turn.get("number", len(turn.get("turns", ()))),
        # Small talk is no answer, but has its own text.
        answer=empty
        or _write_answer(reading, status, choices, passages, misses)
        or _write_small_talk(reading, run, examples),
        answered_by=turn.get("answered_by", "extractive"),
        # The state holds the configured model's name even if the turn did not call it.
        model=turn.get("model", "") if turn.get("model_calls") else "",
        sentences=sentences,
        jargon=_build_jargon(reading),
        context=find_agreed_context(reading.turn, reading.terms),
        misses=misses,
        choices=choices,
        notes=[
            *searched,
            *write_scope_notes(turn, run),
            *write_subject_notes(turn, run),
            *_write_notes(reading, passages),
            *write_search_notes(turn),
            *write_model_notes(turn),
        ],
        augmented_question=turn["augmented_question"] if reading.all_senses and reading.all_contexts else "",
        search_queries=_list_queries(reading, run),
        triples=_list_triples(reading, run),
        passages=passages,
        examples=examples,
        profile=turn.get("profile", ""),
        tags=list(scope.tags),
        since=scope.since,
        fields=group_values_by_name(scope),
        timings=dict(turn.get("timings", {})),
        model_calls=[ModelCall(**call) for call in turn.get("model_calls", [])],
    )


def read_visible_answer(turn: Mapping[str, Any], run: RunContext) -> str:
    """Return the sentences of a past answer that may still be seen, for a follow-up question's history."""
    return _join_text(_read(cast(TurnPart, turn), run))


def _read(turn: TurnPart, run: RunContext) -> _Reading:
    cited = [citation["passage"] for sentence in turn["sentences"] for citation in sentence["citations"]]
    ids = list(dict.fromkeys([*(hit["id"] for hit in turn["hits"]), *cited, *turn.get("examples", [])]))
    passages = run.corpus.store.passages(run.principal, ids) if ids else {}
    terms = {reading["term"] for reading in turn["readings"] if reading["sense"] != EXPLAINED_SENSE}
    senses = load_senses(terms | {item["term"] for item in turn["open_terms"]}, run)
    known = {context.name for context in run.glossary.contexts.all(run.principal)}
    # Left out here once, so that nothing below can name a context that was renamed or closed to the asker.
    contexts = [(name, score) for name, score in turn["contexts"] if name in known]
    all_contexts = len(contexts) == len(turn["contexts"])
    return _Reading({**turn, "contexts": contexts}, passages, senses, read_terms(turn, run), all_contexts)


def _find_status(turn: TurnPart, waiting: bool) -> Status:
    """Return the status of a turn; one without a status waits for a choice, was left at one, or was cut off."""
    if turn["status"]:
        return turn["status"]
    # Cut off: the process was stopped, or the asker left.
    if not waiting and not _has_open_question(turn):
        return "abstained"
    if turn["open_terms"] or turn.get("open_subject"):
        return "needs_choice"
    # An unknown term without similar spellings leaves nothing to choose: a query miss.
    return "needs_choice" if turn["unknown"][0]["suggestions"] else "query_miss"


def _has_open_question(turn: Mapping[str, Any]) -> bool:
    return bool(turn["open_terms"] or turn["unknown"] or turn.get("open_subject"))


# -- the answer ------------------------------------------------------------------------------------------------------


def _write_answer(
    reading: _Reading,
    status: Status,
    choices: Sequence[Choice],
    passages: Sequence[FoundPassage],
    misses: Sequence[MissedTerm],
) -> str:
    match status:
        case "answered":
            return _join_text(reading)
        case "query_miss":
            return write_query_miss(misses, waiting=bool(choices))
        case "needs_choice":
            return _ask_back(reading.turn, choices)
        case "abstained":
            # Without a status the turn never ended.
            unwritten = reading.turn.get("unwritten", False)
            return write_abstention(passages, unwritten=unwritten) if reading.turn["status"] else STOPPED_MESSAGE
        case "small_talk":
            return ""


def _write_small_talk(reading: _Reading, run: RunContext, examples: Sequence[str]) -> str:
    kind = reading.turn.get("small_talk")
    if not kind:
        return ""
    if kind == "recall":
        return write_recalled(reading.turn.get("recalled", []))
    if kind == "library":
        return write_library(list_asked_documents(reading.turn, run))
    contexts = [context.name for context in run.glossary.contexts.all(run.principal)]
    return write_small_talk(kind, contexts, examples, empty=not run.corpus.store.count_passages(run.principal))


def _write_examples(reading: _Reading, run: RunContext) -> list[str]:
    # The questions are worded again from what the reader may see now.
    found = [reading.passages[id_] for id_ in reading.turn.get("examples", []) if id_ in reading.passages]
    worded = (write_question(passage, document, run.corpus.store, run.principal) for passage, document in found)
    return [text for text in worded if text]


def _join_text(reading: _Reading) -> str:
    shown = [sentence for sentence in reading.turn["sentences"] if reading.shows(sentence)]
    quoted = "".join(sentence["gap"] + sentence["text"] for sentence in shown).strip()
    return "\n\n".join(filter(None, [*map(write_definition, reading.defined), quoted]))


def _ask_back(turn: TurnPart, choices: Sequence[Choice]) -> str:
    labels = [describe_choice(choice) for choice in choices]
    if turn["open_terms"]:
        return write_sense_choice(turn["open_terms"][0]["term"], labels)
    if subject := turn.get("open_subject"):
        return write_document_choice(subject["phrase"], labels)
    return write_unknown_term(turn["unknown"][0]["term"], labels) if turn["unknown"] else ""


def _write_notes(reading: _Reading, passages: Sequence[FoundPassage]) -> list[str]:
    notes = write_notes(reading.turn, reading.terms, reading.senses, hidden=_count_hidden(reading))
    documents = [reading.passages[one.passage_id][1] for one in passages]
    cited = {held[1].id for _, held in _list_cited(reading)}
    answered = reading.turn["status"] == "answered"
    said = [*_write_disagreements(reading), *write_succession_notes(documents, cited)] if answered else []
    return [*notes, *_write_selections(reading), *said]


def _write_disagreements(reading: _Reading) -> list[str]:
    """Return notes about found passages that state a different number than the cited one."""
    found = [reading.passages[hit["id"]] for hit in reading.turn["hits"] if hit["id"] in reading.passages]
    told = dict.fromkeys(map(write_disagreement_note, find_disagreements(_list_cited(reading), found)))
    return list(told)[:MAX_DISAGREEMENTS]


def _list_cited(reading: _Reading) -> list[tuple[str, tuple[Passage, Document]]]:
    """Return the sentences that rest on a passage, each with the first one."""
    return [
        (sentence["text"], reading.passages[citation["passage"]])
        for sentence in reading.turn["sentences"]
        if reading.shows(sentence)
        for citation in sentence["citations"][:1]
    ]


def _write_selections(reading: _Reading) -> list[str]:
    """Return notes about lists and tables quoted in part, if the question asked for several things."""
    turn = reading.turn
    question, quotes = turn["stand_alone_question"], turn.get("answered_by") != "model"
    if turn["status"] != "answered" or not quotes or turn.get("whole"):
        return []
    if not asks_for_several(question):
        return []
    shown = [sentence for sentence in turn["sentences"] if reading.shows(sentence)]
    cited = dict.fromkeys(citation["passage"] for sentence in shown for citation in sentence["citations"])
    texts = [sentence["text"] for sentence in shown]
    counts = ((id_, count_quoted(texts, reading.passages[id_][0].with_columns)) for id_ in cited)
    return [write_selection_note(*count, reading.passages[id_][1].name) for id_, count in counts if count[1]]


def _count_hidden(reading: _Reading) -> int:
    closed = len(reading.turn.get("defined", [])) - len(reading.defined)
    return closed + sum(not reading.shows(sentence) for sentence in reading.turn["sentences"])


def _build_sentences(reading: _Reading) -> list[Sentence]:
    numbers = number_passages(reading.turn)
    told = [Sentence(text=write_definition(sense), supported=True, sense_id=sense.id) for sense in reading.defined]
    return told + [
        Sentence(
            text=sentence["text"],
            supported=bool(sentence["citations"]),
            checked=not reading.turn.get("unchecked", False),
            citations=[build_citation(one, numbers[one["passage"]], reading.passages) for one in sentence["citations"]],
        )
        for sentence in reading.turn["sentences"]
        if reading.shows(sentence)
    ]


def _add_excerpts(nearest: Sequence[FoundPassage], reading: _Reading) -> Iterator[FoundPassage]:
    # Of the terms only those the asker may still know: `reading.terms` has no others.
    asked = " ".join([reading.turn["stand_alone_question"], *(term.sense.expansion for term in reading.terms)])
    for passage in nearest:
        text = reading.passages[passage.passage_id][0].with_columns
        yield passage.model_copy(update={"excerpt": choose_excerpt(asked, text)})


# -- how the question was read ---------------------------------------------------------------------------------------


def _build_jargon(reading: _Reading) -> list[Jargon]:
    """Return the terms that were understood, without those whose sense the asker has yet to choose."""
    still_open = {item["term"] for item in reading.turn["open_terms"]}
    return [
        Jargon(
            term=term.sense.term,
            surface=term.mention.surface,
            context=term.sense.context,
            expansion=term.sense.expansion,
            description=term.sense.description,
            notes=term.sense.notes,
            sense_id=term.sense.id,
        )
        for term in reading.terms
        if get_term(term.mention) not in still_open
    ]


def _build_misses(reading: _Reading, run: RunContext, *, waiting: bool) -> list[MissedTerm]:
    records = [*reading.turn["misses"], *(reading.turn["unknown"] if waiting else [])]
    contact = _find_contact(reading, run) if records else ""
    return [
        MissedTerm(term=miss["term"], suggestions=_filter_suggestions(miss, run), contact=contact) for miss in records
    ]


def _filter_suggestions(miss: QueryMissRecord, run: RunContext) -> list[str]:
    # A near spelling that the asker may not know must not be suggested.
    known = run.glossary.lookup.senses(run.principal, miss["suggestions"]) if miss["suggestions"] else {}
    return [term for term in miss["suggestions"] if known.get(term)]


def _find_contact(reading: _Reading, run: RunContext) -> str:
    """Return the person to ask: the manager of the question's context, else of the asker's own, else of the only
    context.
    """
    contexts = run.glossary.contexts.all(run.principal)
    contacts = {context.name: context.contact for context in contexts}
    wanted = [
        find_agreed_context(reading.turn, reading.terms),
        run.asker_context,
        contexts[0].name if len(contexts) == 1 else None,
    ]
    return next((contacts[name] for name in wanted if name and contacts.get(name)), "")


def _build_choices(reading: _Reading, run: RunContext) -> list[Choice]:
    """Return the choices that the asker has at the interrupt where the turn stands."""
    if reading.turn["open_terms"]:
        item = reading.turn["open_terms"][0]
        offered = [reading.senses[sense] for sense in item["senses"] if sense in reading.senses]
        meant = [make_sense_choice(item["term"], sense) for sense in offered]
        return [*meant, Choice(answer=NONE_OF_THESE, term=item["term"])]
    if reading.turn["unknown"]:
        miss = reading.turn["unknown"][0]
        meant = [Choice(answer=f"{TERM}{term}", term=term) for term in _filter_suggestions(miss, run)]
        return [*meant, Choice(answer=ANSWER_ANYWAY, term=miss["term"])]
    if subject := reading.turn.get("open_subject"):
        meant = [make_document_choice(one) for one in load_offered(subject, run).values()]
        return [*meant, Choice(answer=ANSWER_ANYWAY, term="")]
    return []


# -- how it was searched ---------------------------------------------------------------------------------------------


def _list_queries(reading: _Reading, run: RunContext) -> list[str]:
    turn = reading.turn
    triples = run.corpus.store.triples(run.principal, turn["triples"]) if turn["triples"] else {}
    # One missing triple is enough: the rewritten query contains words of all of them.
    if reading.all_senses and len(triples) == len(turn["triples"]):
        return [text for text, _ in turn["search_queries"]]
    return [turn["stand_alone_question"]] if turn["search_queries"] else []


def _list_triples(reading: _Reading, run: RunContext) -> list[tuple[str, str, str]]:
    ids = reading.turn["triples"]
    found = run.corpus.store.triples(run.principal, ids) if ids else {}
    return [(found[one].source, found[one].action, found[one].target) for one in ids if one in found]
