"""Makes the result of a turn that people see, from the ids in its state, through the stores, at the time of reading.

Access is checked here and now: a passage, sense or triple that the principal may no longer see (or that was replaced)
is absent from what the stores return, and with it goes every text that rests on it:
- a sentence is shown while all passages it cites may be seen, one without citation while all passages found may be;
- the augmented question and the queries are shown while every sense, context and triple in them may be seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from argot.graph.choices import ANSWER_ANYWAY, NONE_OF_THESE, TERM, document_choice, label, sense_choice
from argot.graph.presentation.document_notes import disagreement_note, succession_notes
from argot.graph.presentation.found_passages import Visible, citation_of, numbers_of, passages_found
from argot.graph.presentation.scope_wording import (
    documents_asked,
    empty_scope,
    scope_of,
    searched_note,
    values_by_name,
)
from argot.graph.presentation.wording import (
    abstained_answer,
    choose_document_text,
    choose_sense_text,
    definition,
    library_answer,
    model_notes,
    notes_on,
    query_miss_answer,
    recalled_answer,
    search_notes,
    selection_note,
    small_talk_answer,
    unknown_term_text,
)
from argot.graph.run_context import RunContext
from argot.graph.state import QueryMissRecord, SentenceRecord, TurnPart
from argot.graph.state_records import EXPLAINED, agreed_context, read_terms, senses_of, term_of
from argot.graph.subjects import offered_in, subject_notes
from argot.graph.thread_files import scope_notes
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
from argot.tools.answering.disagreements import disagreements
from argot.tools.answering.excerpts import best_excerpt
from argot.tools.answering.selections import quoted_of
from argot.tools.reading.answer_types import asks_for_several
from argot.tools.retrieval.suggested_questions import question_for
from argot.types import Document, Passage, ReadTerm, Sense

MOST_DISAGREEMENTS = 3
"""That are shown of one answer."""


@dataclass(frozen=True)
class _Reading:
    """What of a turn may be seen now. `defined`: the senses that the answer states."""

    turn: TurnPart
    passages: Visible
    senses: Mapping[int, Sense]
    terms: Sequence[ReadTerm]
    all_contexts: bool

    @property
    def all_senses(self) -> bool:
        """Every sense that was weighed, also one that lost: the queries spell the nearest rivals out."""
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
        # An unsupported sentence may say what any of the passages says.
        return all(one["passage"] in self.passages for one in citations) if citations else self.all_hits


def assemble(turn: Mapping[str, Any], run: RunContext, thread: str, *, waiting: bool = False) -> AskResult:
    """The result of a turn as this principal may see it now.

    Args:
        turn: the state of the thread, or one of its `past_turns`.
        run: whose eyes, and which stores.
        thread: the thread's id.
        waiting: the turn stands at an interrupt, and its choices are open.
    """
    reading = _read(cast(TurnPart, turn), run)
    choices = _choices(reading, run) if waiting else []
    status = _status(reading.turn, waiting)
    passages = passages_found(reading.turn, reading.passages)
    if status == "abstained":
        passages = [*_with_excerpts(passages[:MAX_NEAREST_TERMS], reading), *passages[MAX_NEAREST_TERMS:]]
    sentences = _sentences(reading)
    misses = _misses(reading, run, waiting=waiting or _was_asked(turn))
    examples, scope = _examples(reading, run), scope_of(turn)
    empty = empty_scope(scope, run) if status == "abstained" and not passages else ""
    searched = [] if empty else searched_note(scope)
    return AskResult(
        question=turn["question"],
        stand_alone_question=turn["stand_alone_question"],
        status=status,
        thread=thread,
        # Turns stored before they had numbers go by their place.
        turn=turn.get("number", len(turn.get("turns", ()))),
        # Small talk is no answer, but has words of its own.
        answer=empty or _answer(reading, status, choices, passages, misses) or _small_talk(reading, run, examples),
        answered_by=turn.get("answered_by", "extractive"),
        # The name of the configured model is in the state also where the turn asked nothing of it.
        model=turn.get("model", "") if turn.get("model_calls") else "",
        sentences=sentences,
        jargon=_jargon(reading),
        context=agreed_context(reading.turn, reading.terms),
        misses=misses,
        choices=choices,
        notes=[
            *searched,
            *scope_notes(turn, run),
            *subject_notes(turn, run),
            *_notes(reading, passages),
            *search_notes(turn),
            *model_notes(turn),
        ],
        augmented_question=turn["augmented_question"] if reading.all_senses and reading.all_contexts else "",
        search_queries=_queries(reading, run),
        triples=_triples(reading, run),
        passages=passages,
        examples=examples,
        profile=turn.get("profile", ""),
        tags=list(scope.tags),
        since=scope.since,
        fields=values_by_name(scope),
        timings=dict(turn.get("timings", {})),
        model_calls=[ModelCall(**call) for call in turn.get("model_calls", [])],
    )


def visible_answer(turn: Mapping[str, Any], run: RunContext) -> str:
    """The sentences of a past answer that may still be seen, as a follow-up question's history."""
    return _text(_read(cast(TurnPart, turn), run))


def _read(turn: TurnPart, run: RunContext) -> _Reading:
    cited = [citation["passage"] for sentence in turn["sentences"] for citation in sentence["citations"]]
    ids = list(dict.fromkeys([*(hit["id"] for hit in turn["hits"]), *cited, *turn.get("examples", [])]))
    passages = run.corpus.store.passages(run.principal, ids) if ids else {}
    terms = {reading["term"] for reading in turn["readings"] if reading["sense"] != EXPLAINED}
    senses = senses_of(terms | {item["term"] for item in turn["open_terms"]}, run)
    known = {context.name for context in run.glossary.contexts.all(run.principal)}
    # Left out here once, so that nothing below can name a context that was renamed or closed to the asker.
    contexts = [(name, score) for name, score in turn["contexts"] if name in known]
    all_contexts = len(contexts) == len(turn["contexts"])
    return _Reading({**turn, "contexts": contexts}, passages, senses, read_terms(turn, run), all_contexts)


def _status(turn: TurnPart, waiting: bool) -> Status:
    """The status of a turn; one without a status of its own waits for a choice, was left at one, or was cut off."""
    if turn["status"]:
        return turn["status"]
    # Cut off: the process was stopped, or the asker left.
    if not waiting and not _was_asked(turn):
        return "abstained"
    if turn["open_terms"] or turn.get("open_subject"):
        return "needs_choice"
    # An unknown term with nothing spelt like it leaves nothing to choose: a query miss.
    return "needs_choice" if turn["unknown"][0]["suggestions"] else "query_miss"


def _was_asked(turn: Mapping[str, Any]) -> bool:
    return bool(turn["open_terms"] or turn["unknown"] or turn.get("open_subject"))


# -- the answer ------------------------------------------------------------------------------------------------------


def _answer(
    reading: _Reading,
    status: Status,
    choices: Sequence[Choice],
    passages: Sequence[FoundPassage],
    misses: Sequence[MissedTerm],
) -> str:
    match status:
        case "answered":
            return _text(reading)
        case "query_miss":
            return query_miss_answer(misses, waiting=bool(choices))
        case "needs_choice":
            return _asking_back(reading.turn, choices)
        case "abstained":
            # No status of its own: the turn never came to its end.
            unwritten = reading.turn.get("unwritten", False)
            return abstained_answer(passages, unwritten=unwritten) if reading.turn["status"] else STOPPED_MESSAGE
        case "small_talk":
            return ""


def _small_talk(reading: _Reading, run: RunContext, examples: Sequence[str]) -> str:
    kind = reading.turn.get("small_talk")
    if not kind:
        return ""
    if kind == "recall":
        return recalled_answer(reading.turn.get("recalled", []))
    if kind == "library":
        return library_answer(documents_asked(reading.turn, run))
    contexts = [context.name for context in run.glossary.contexts.all(run.principal)]
    return small_talk_answer(kind, contexts, examples, empty=not run.corpus.store.count_passages(run.principal))


def _examples(reading: _Reading, run: RunContext) -> list[str]:
    # The questions are worded anew from what may be seen now.
    found = [reading.passages[id_] for id_ in reading.turn.get("examples", []) if id_ in reading.passages]
    worded = (question_for(passage, document, run.corpus.store, run.principal) for passage, document in found)
    return [text for text in worded if text]


def _text(reading: _Reading) -> str:
    shown = [sentence for sentence in reading.turn["sentences"] if reading.shows(sentence)]
    quoted = "".join(sentence["gap"] + sentence["text"] for sentence in shown).strip()
    return "\n\n".join(filter(None, [*map(definition, reading.defined), quoted]))


def _asking_back(turn: TurnPart, choices: Sequence[Choice]) -> str:
    labels = [label(choice) for choice in choices]
    if turn["open_terms"]:
        return choose_sense_text(turn["open_terms"][0]["term"], labels)
    if subject := turn.get("open_subject"):
        return choose_document_text(subject["phrase"], labels)
    return unknown_term_text(turn["unknown"][0]["term"], labels) if turn["unknown"] else ""


def _notes(reading: _Reading, passages: Sequence[FoundPassage]) -> list[str]:
    notes = notes_on(reading.turn, reading.terms, reading.senses, hidden=_hidden(reading))
    documents = [reading.passages[one.passage_id][1] for one in passages]
    cited = {held[1].id for _, held in _cited(reading)}
    answered = reading.turn["status"] == "answered"
    said = [*_disagreements(reading), *succession_notes(documents, cited)] if answered else []
    return [*notes, *_selections(reading), *said]


def _disagreements(reading: _Reading) -> list[str]:
    """Where another passage that was found gives another number than the one that the answer cites."""
    found = [reading.passages[hit["id"]] for hit in reading.turn["hits"] if hit["id"] in reading.passages]
    told = dict.fromkeys(map(disagreement_note, disagreements(_cited(reading), found)))
    return list(told)[:MOST_DISAGREEMENTS]


def _cited(reading: _Reading) -> list[tuple[str, tuple[Passage, Document]]]:
    """The sentences that rest on a passage, each with the first of them."""
    return [
        (sentence["text"], reading.passages[citation["passage"]])
        for sentence in reading.turn["sentences"]
        if reading.shows(sentence)
        for citation in sentence["citations"][:1]
    ]


def _selections(reading: _Reading) -> list[str]:
    """Where several of a kind were asked for, and a list or table is quoted in part."""
    turn = reading.turn
    question, quotes = turn["stand_alone_question"], turn.get("answered_by") != "model"
    if turn["status"] != "answered" or not quotes or turn.get("whole"):
        return []
    if not asks_for_several(question):
        return []
    shown = [sentence for sentence in turn["sentences"] if reading.shows(sentence)]
    cited = dict.fromkeys(citation["passage"] for sentence in shown for citation in sentence["citations"])
    texts = [sentence["text"] for sentence in shown]
    counts = ((id_, quoted_of(texts, reading.passages[id_][0].with_columns)) for id_ in cited)
    return [selection_note(*count, reading.passages[id_][1].name) for id_, count in counts if count[1]]


def _hidden(reading: _Reading) -> int:
    closed = len(reading.turn.get("defined", [])) - len(reading.defined)
    return closed + sum(not reading.shows(sentence) for sentence in reading.turn["sentences"])


def _sentences(reading: _Reading) -> list[Sentence]:
    numbers = numbers_of(reading.turn)
    told = [Sentence(text=definition(sense), supported=True, sense_id=sense.id) for sense in reading.defined]
    return told + [
        Sentence(
            text=sentence["text"],
            supported=bool(sentence["citations"]),
            checked=not reading.turn.get("unchecked", False),
            citations=[citation_of(one, numbers[one["passage"]], reading.passages) for one in sentence["citations"]],
        )
        for sentence in reading.turn["sentences"]
        if reading.shows(sentence)
    ]


def _with_excerpts(nearest: Sequence[FoundPassage], reading: _Reading) -> Iterator[FoundPassage]:
    # Of the terms only what the asker may still know: `reading.terms` has no others.
    asked = " ".join([reading.turn["stand_alone_question"], *(term.sense.expansion for term in reading.terms)])
    for passage in nearest:
        text = reading.passages[passage.passage_id][0].with_columns
        yield passage.model_copy(update={"excerpt": best_excerpt(asked, text)})


# -- how the question was read ---------------------------------------------------------------------------------------


def _jargon(reading: _Reading) -> list[Jargon]:
    """The terms that were understood; one the asker has yet to choose a sense for is not."""
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
        if term_of(term.mention) not in still_open
    ]


def _misses(reading: _Reading, run: RunContext, *, waiting: bool) -> list[MissedTerm]:
    records = [*reading.turn["misses"], *(reading.turn["unknown"] if waiting else [])]
    contact = _contact(reading, run) if records else ""
    return [MissedTerm(term=miss["term"], suggestions=_suggestions(miss, run), contact=contact) for miss in records]


def _suggestions(miss: QueryMissRecord, run: RunContext) -> list[str]:
    # A near spelling that the asker may not know must not be suggested.
    known = run.glossary.lookup.senses(run.principal, miss["suggestions"]) if miss["suggestions"] else {}
    return [term for term in miss["suggestions"] if known.get(term)]


def _contact(reading: _Reading, run: RunContext) -> str:
    """Whom to ask: the manager of the question's context, else of the asker's own, else of the only context."""
    contexts = run.glossary.contexts.all(run.principal)
    contacts = {context.name: context.contact for context in contexts}
    wanted = [
        agreed_context(reading.turn, reading.terms),
        run.asker_context,
        contexts[0].name if len(contexts) == 1 else None,
    ]
    return next((contacts[name] for name in wanted if name and contacts.get(name)), "")


def _choices(reading: _Reading, run: RunContext) -> list[Choice]:
    """What the asker may pick at the interrupt the turn stands at."""
    if reading.turn["open_terms"]:
        item = reading.turn["open_terms"][0]
        offered = [reading.senses[sense] for sense in item["senses"] if sense in reading.senses]
        meant = [sense_choice(item["term"], sense) for sense in offered]
        return [*meant, Choice(answer=NONE_OF_THESE, term=item["term"])]
    if reading.turn["unknown"]:
        miss = reading.turn["unknown"][0]
        meant = [Choice(answer=f"{TERM}{term}", term=term) for term in _suggestions(miss, run)]
        return [*meant, Choice(answer=ANSWER_ANYWAY, term=miss["term"])]
    if subject := reading.turn.get("open_subject"):
        meant = [document_choice(one) for one in offered_in(subject, run).values()]
        return [*meant, Choice(answer=ANSWER_ANYWAY, term="")]
    return []


# -- how it was searched ---------------------------------------------------------------------------------------------


def _queries(reading: _Reading, run: RunContext) -> list[str]:
    turn = reading.turn
    triples = run.corpus.store.triples(run.principal, turn["triples"]) if turn["triples"] else {}
    # One triple that is gone is enough: the rewritten query holds words of all of them.
    if reading.all_senses and len(triples) == len(turn["triples"]):
        return [text for text, _ in turn["search_queries"]]
    return [turn["stand_alone_question"]] if turn["search_queries"] else []


def _triples(reading: _Reading, run: RunContext) -> list[tuple[str, str, str]]:
    ids = reading.turn["triples"]
    found = run.corpus.store.triples(run.principal, ids) if ids else {}
    return [(found[one].source, found[one].action, found[one].target) for one in ids if one in found]
