"""Makes the result of a turn that people see from the ids in its state, through the stores, at the time of reading.

Access is checked at that time: the stores do not return a passage, sense or triple that the principal may no longer see
(or that was replaced), and every text that rests on it is hidden with it:
- a sentence is shown while the reader may see all passages it cites, one without citation while the reader may see all
  passages found;
- the augmented question and the queries are shown while the reader may see every sense, context and triple in them;
- other queries, a plan and the texts of tool calls are shown while the reader may see every sense considered, every
  passage found, and every document and sense whose name the model was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from argot.graph.choices import (
    ANSWER_ANYWAY,
    NONE_OF_THESE,
    TERM,
    describe_choice,
    make_document_choice,
    make_sense_choices,
)
from argot.graph.presentation.answer_context import build_answer_context
from argot.graph.presentation.answer_notes import write_reading_notes
from argot.graph.presentation.found_passages import build_citation, build_found_passages, number_passages
from argot.graph.presentation.language_wording import find_other_languages, write_other_languages
from argot.graph.presentation.listing_wording import write_glossary, write_library, write_topic
from argot.graph.presentation.scope_wording import (
    describe_empty_scope,
    find_asked_topic,
    group_values_by_name,
    list_asked_documents,
    read_scope,
    write_searched_note,
)
from argot.graph.presentation.search_notes import describe_searches, list_queries, list_triples
from argot.graph.presentation.turn_reading import TurnReading, join_text, read_turn
from argot.graph.presentation.verification import read_verification, write_verification_note
from argot.graph.presentation.wording import (
    name_context,
    write_abstention,
    write_document_choice,
    write_model_notes,
    write_query_miss,
    write_recalled,
    write_sense_choice,
    write_small_talk,
    write_unknown_term,
)
from argot.graph.run_context import RunContext
from argot.graph.state import QueryMissRecord, TurnPart
from argot.graph.state_records import MIN_LIKELY_CONTEXT_SCORE, find_agreed_context, get_term
from argot.graph.subjects import load_offered, write_subject_notes
from argot.graph.thread_files import write_scope_notes
from argot.graph.tool_results import find_results
from argot.jargon_db.lookup.ordinary_words import is_everyday_word, is_well_known
from argot.languages.catalogues import speak_as_asked, translate
from argot.languages.detection import find_question_language
from argot.languages.language_data import ENGLISH
from argot.results import (
    ASK_FOR_DOCUMENTS,
    MAX_NEAREST_PASSAGES,
    STOPPED_MESSAGE,
    AskResult,
    Choice,
    FoundPassage,
    Jargon,
    MissedTerm,
    ModelCall,
    Sentence,
    Status,
    select_nearest,
)
from argot.tools.answering.excerpts import choose_excerpt
from argot.tools.reading.chitchat import WITHOUT_EXAMPLES
from argot.tools.retrieval.suggested_questions import write_question
from argot.types import ReadTerm

WEAK_BEYOND_ENGLISH = 0.73
"""Share of `weak_below` that holds beyond English, where evidence is judged by meaning: of German answers to the German
samples 20 of 34 right ones and all 6 wrong ones are below 0.5, and 9 and 4 below 0.4."""


def assemble(
    turn: Mapping[str, Any], run: RunContext, thread: str, *, waiting: bool = False, withheld: str = ""
) -> AskResult:
    """Return the result of a turn as this principal may see it now, with all texts in the language of its question.

    Args:
        turn: the state of the thread, or one of its `read_past_turns`.
        run: the principal and the stores.
        thread: the thread's id.
        waiting: the turn is at an interrupt, and its choices are open.
        withheld: the text in place of sentences that the principal may not see; empty: they are left out.
    """
    with speak_as_asked(turn["question"]):
        return _assemble(turn, run, thread, waiting=waiting, withheld=withheld and translate(withheld))


def _assemble(turn: Mapping[str, Any], run: RunContext, thread: str, *, waiting: bool, withheld: str) -> AskResult:
    reading = read_turn(cast(TurnPart, turn), run, withheld)
    choices = _build_choices(reading, run) if waiting else []
    status = _find_status(reading.turn, waiting)
    passages = build_found_passages(reading.turn, reading.passages, reading.pictures)
    if status == "abstained":
        passages = [*_add_excerpts(passages[:MAX_NEAREST_PASSAGES], reading), *passages[MAX_NEAREST_PASSAGES:]]
    sentences = _build_sentences(reading)
    misses = _build_misses(reading, run, waiting=waiting or _has_open_question(turn))
    examples, scope = _write_examples(reading, run), read_scope(turn)
    visible = reading.all_senses and reading.all_searched
    searches = describe_searches(turn, reading.passages, reading.terms, visible=visible)
    verified = read_verification(reading, run)
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
        or _write_answer(reading, run, status, choices, passages, misses)
        or _write_small_talk(reading, run, examples),
        is_weak=status == "answered" and _is_weak(reading, run),
        answered_by=turn.get("answered_by", "extractive"),
        verified=verified,
        # The state holds the configured model's name even if the turn did not call it.
        model=turn.get("model", "") if turn.get("model_calls") else "",
        sentences=sentences,
        answer_context=build_answer_context(reading.turn, sentences, reading.passages),
        jargon=_build_jargon(reading),
        context=find_agreed_context(reading.turn, reading.terms),
        misses=misses,
        choices=choices,
        notes=[
            *write_verification_note(verified),
            *searched,
            *write_scope_notes(turn, run),
            *write_subject_notes(turn, run),
            *write_reading_notes(reading, passages, run),
            *searches.notes,
            *write_model_notes(turn),
        ],
        augmented_question=turn["augmented_question"] if reading.all_senses and reading.all_contexts else "",
        search_queries=list_queries(turn, run, senses=reading.all_senses, searched=reading.all_searched),
        searched_again=searches.searched_again,
        effort=turn.get("effort", "normal"),
        plan=searches.plan,
        tool_calls=searches.tool_calls,
        triples=list_triples(turn, run),
        passages=passages,
        examples=examples,
        profile=turn.get("profile", ""),
        tags=list(scope.tags),
        since=scope.since,
        fields=group_values_by_name(scope),
        timings=dict(turn.get("timings", {})),
        model_calls=[ModelCall(**call) for call in turn.get("model_calls", [])],
    )


def _is_weak(reading: TurnReading, run: RunContext) -> bool:
    """Return whether the evidence of an answer in quotations is weak."""
    turn = reading.turn
    quotes = turn.get("answered_by") != "model" and bool(turn["sentences"]) and not turn.get("numbered_parts")
    languages = {find_question_language(turn["stand_alone_question"])}
    languages.update(passage.language for passage, _ in list(reading.passages.values())[:1])
    share = 1.0 if languages <= {"", ENGLISH} else WEAK_BEYOND_ENGLISH
    return quotes and turn["evidence"] < share * run.profile.weak_below


def read_visible_answer(turn: Mapping[str, Any], run: RunContext) -> str:
    """Return the sentences of a past answer that may still be seen, for a follow-up question's history."""
    return join_text(read_turn(cast(TurnPart, turn), run))


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


def _write_answer(  # noqa: PLR0917
    reading: TurnReading,
    run: RunContext,
    status: Status,
    choices: Sequence[Choice],
    passages: Sequence[FoundPassage],
    misses: Sequence[MissedTerm],
) -> str:
    match status:
        case "answered":
            return join_text(reading)
        case "query_miss":
            return write_query_miss(misses, waiting=bool(choices))
        case "needs_choice":
            return _write_question_back(reading.turn, choices)
        case "abstained":
            if not reading.turn["status"]:  # the turn never ended
                return STOPPED_MESSAGE
            return _write_abstention(reading, run, passages)
        case "small_talk":
            return ""


def _write_abstention(reading: TurnReading, run: RunContext, passages: Sequence[FoundPassage]) -> str:
    question, unwritten = reading.turn["stand_alone_question"], reading.turn.get("unwritten", False)
    others = [] if unwritten else find_other_languages(question, run)
    if not others:
        repeated = reading.turn.get("repeated", "")
        return write_abstention(select_nearest(passages), unwritten=unwritten, repeated=repeated)
    # Two languages share few words, so that even the nearest passages have low scores.
    return write_abstention(passages[:MAX_NEAREST_PASSAGES], untold=write_other_languages(question, others))


def _write_small_talk(reading: TurnReading, run: RunContext, examples: Sequence[str]) -> str:
    kind = reading.turn.get("small_talk")
    if not kind:
        return ""
    if kind == "recall":
        return write_recalled(reading.turn.get("recalled", []))
    if kind == "library":
        topic, about = find_asked_topic(reading.turn, run)
        return write_topic(topic, about) if topic else write_library(list_asked_documents(reading.turn, run))
    contexts = [context.name for context in run.glossary.contexts.all(run.principal)]
    if kind == "glossary":
        return write_glossary(len(run.glossary.lookup.matcher(run.principal).terms()), contexts)
    return write_small_talk(kind, contexts, examples, empty=not run.corpus.store.count_passages(run.principal))


def _write_examples(reading: TurnReading, run: RunContext) -> list[str]:
    # The questions are worded again from what the reader may see now.
    found = [reading.passages[id_] for id_ in reading.turn.get("examples", []) if id_ in reading.passages]
    worded = [write_question(passage, document, run.corpus.store, run.principal) for passage, document in found]
    kind = reading.turn.get("small_talk")
    if any(worded) or not kind or kind in WITHOUT_EXAMPLES or not run.corpus.store.count_passages(run.principal):
        return [text for text in worded if text]
    return [translate(ASK_FOR_DOCUMENTS)]


def _write_question_back(turn: TurnPart, choices: Sequence[Choice]) -> str:
    labels = [describe_choice(choice) for choice in choices]
    if turn["open_terms"]:
        return write_sense_choice(turn["open_terms"][0]["term"], labels)
    if subject := turn.get("open_subject"):
        return write_document_choice(subject["phrase"], labels)
    return write_unknown_term(turn["unknown"][0]["term"], labels) if turn["unknown"] else ""


def _build_sentences(reading: TurnReading) -> list[Sentence]:
    numbers, results = number_passages(reading.turn), find_results(reading.turn.get("tool_results", []))
    definitions = [Sentence(text=text, supported=True, sense_id=sense) for text, sense in reading.definitions]
    return definitions + [
        Sentence(
            text=sentence["text"],
            supported=(bool(sentence["citations"]) and not sentence.get("partly")) or sentence.get("remark", False),
            checked=not reading.turn.get("unchecked", False),
            citations=[
                build_citation(one, numbers[one["passage"]], reading.passages, results) for one in sentence["citations"]
            ],
        )
        for sentence in reading.sentences
    ]


def _add_excerpts(nearest: Sequence[FoundPassage], reading: TurnReading) -> Iterator[FoundPassage]:
    # Of the terms only those the asker may still know: `reading.terms` has no others.
    asked = " ".join([reading.turn["stand_alone_question"], *(term.sense.full_name for term in reading.terms)])
    for passage in nearest:
        text = reading.passages[passage.passage_id][0].with_columns
        yield passage.model_copy(update={"excerpt": choose_excerpt(asked, text)})


# -- how the question was read ---------------------------------------------------------------------------------------


def _build_jargon(reading: TurnReading) -> list[Jargon]:
    """Return the terms that were understood, without those whose sense the asker has yet to choose, and without
    everyday words.
    """
    still_open = {item["term"] for item in reading.turn["open_terms"]}
    return [
        Jargon(
            term=term.sense.term,
            surface=term.mention.surface,
            context=name_context(term.sense),
            expansion=term.sense.expansion,
            description=term.sense.description,
            notes=term.sense.notes,
            sense_id=term.sense.id,
        )
        for term in reading.terms
        if get_term(term.mention) not in still_open and not _is_plain_word(term, reading)
    ]


def _is_plain_word(term: ReadTerm, reading: TurnReading) -> bool:
    """Return whether a term is an everyday word that is only described, in one way: "price". Everybody understands
    it so, and nothing was searched in its place.
    """
    sense, surface = term.sense, term.mention.surface
    if sense.expansion or surface.casefold() != sense.term.casefold() or surface.isupper():
        return False
    senses = [one for one in reading.senses.values() if one.term == sense.term]
    return len(senses) <= 1 and (is_everyday_word(surface.casefold()) or is_well_known(surface))


def _build_misses(reading: TurnReading, run: RunContext, *, waiting: bool) -> list[MissedTerm]:
    records = [*reading.turn["misses"], *(reading.turn["unknown"] if waiting else [])]
    contact = _find_contact(reading, run) if records else ""
    return [
        MissedTerm(term=miss["term"], suggestions=_filter_suggestions(miss, run), contact=contact) for miss in records
    ]


def _filter_suggestions(miss: QueryMissRecord, run: RunContext) -> list[str]:
    # A near spelling that the asker may not know must not be suggested.
    known = run.glossary.lookup.senses(run.principal, miss["suggestions"]) if miss["suggestions"] else {}
    return [term for term in miss["suggestions"] if known.get(term)]


def _find_contact(reading: TurnReading, run: RunContext) -> str:
    """Return the person to ask: the contact of the context that the question is likely in, else of the asker's own,
    else of the only context; else nobody, because the wrong person is worse.
    """
    contexts = run.glossary.contexts.all(run.principal)
    contacts = {context.name: context.contact for context in contexts}
    wanted = [
        find_agreed_context(reading.turn, reading.terms, MIN_LIKELY_CONTEXT_SCORE),
        run.asker_context,
        contexts[0].name if len(contexts) == 1 else None,
    ]
    return next((contacts[name] for name in wanted if name and contacts.get(name)), "")


def _build_choices(reading: TurnReading, run: RunContext) -> list[Choice]:
    """Return the choices that the asker has at the interrupt where the turn stands."""
    if reading.turn["open_terms"]:
        item = reading.turn["open_terms"][0]
        offered = [reading.senses[sense] for sense in item["senses"] if sense in reading.senses]
        return [*make_sense_choices(item["term"], offered), Choice(answer=NONE_OF_THESE, term=item["term"])]
    if reading.turn["unknown"]:
        miss = reading.turn["unknown"][0]
        meant = [Choice(answer=f"{TERM}{term}", term=term) for term in _filter_suggestions(miss, run)]
        return [*meant, Choice(answer=ANSWER_ANYWAY, term=miss["term"])]
    if subject := reading.turn.get("open_subject"):
        meant = [make_document_choice(one) for one in load_offered(subject, run).values()]
        return [*meant, Choice(answer=ANSWER_ANYWAY, term="")]
    return []
