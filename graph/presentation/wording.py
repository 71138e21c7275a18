"""The fixed texts of the journey, as pure functions: the augmented question, the search queries, the templates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from argot.graph.presentation.listing_wording import NO_DOCUMENTS, NO_TERMS, write_contexts
from argot.graph.presentation.model_troubles import translate_trouble
from argot.graph.state import DoubtRecord, TurnPart
from argot.graph.state_records import DEFINED_BY_DOCUMENTS, MIN_CLEAR_CONTEXT_SCORE, get_term
from argot.jargon_db.formats.table_format import DEFAULT_CONTEXT
from argot.languages.catalogues import (
    join_with_and,
    join_with_or,
    quote_name,
    translate,
    translate_number,
)
from argot.locations import place
from argot.results import NO_ANSWER, FoundPassage, MissedTerm
from argot.tools.reading.chitchat import SmallTalk
from argot.tools.reading.library_questions import find_listing_parts
from argot.tools.text.words import bare, content_stems
from argot.types import Context, ReadTerm, Sense

MAX_REPLACEMENT_WORDS = 10
"""Limit in words. A longer expansion is a definition, not a name: the term stays in the query, followed by the
expansion in brackets."""

_OPENINGS: dict[SmallTalk, str] = {
    "greeting": "Hello. I am Argot. Ask me a question, and I answer from the documents here.",
    "about": "I am Argot. I answer questions from the documents of this knowledge base.",
    "thanks": "You are welcome.",
    "farewell": "Goodbye.",
    "reply": "All right. Nothing is waiting for an answer here: ask a question in your own words.",
    "rewording": "I cannot word the last answer anew. Ask for the part that you need, such as one value or one step.",
    "certainty": "I answer from the documents, and cannot judge whether they are right. Please read the cited sources.",
    "clock": "I do not know the time or the date. I answer from the documents.",
    "model": "“How this was answered” under an answer says whether a language model wrote it or documents are quoted.",
    "privacy": (
        "In the chat window, nobody else can open your conversations unless you share one, and you can delete them in"
        " the list on the left. Managers read a question only if you send it to them, for example with a thumb."
    ),
    "no_file": "There is no file in this conversation. In the chat window you can add one with the paper clip.",
    "unasked": "I cannot tell what to look for. Please ask in a whole sentence.",
    "library": NO_DOCUMENTS,
    "glossary": NO_TERMS,
    "recall": "Nothing has been asked in this conversation yet, or I no longer have that part of it.",
}
_NOTHING_NEAR = "No passage comes close enough to answer this."
_OTHER_WORDS = "Try other words, or name the document or the thing that you mean."
_WITHHELD = (
    "%(number)s sentence is withheld: no passage supports what was written.",
    "%(number)s sentences are withheld: no passage supports what was written.",
)
_HIDDEN = (
    "%(number)s sentence is not shown: the documents changed, or you may no longer read them.",
    "%(number)s sentences are not shown: the documents changed, or you may no longer read them.",
)
_READ_AS = "“%(term)s” was read as “%(meaning)s”."
_UNKNOWN = "“%(term)s” is neither in the glossary nor in the documents."
_WHAT_IT_DOES = (
    "I cite the passages that support an answer. I read abbreviations as your organisation uses them, "
    "and I ask if one can have several meanings. If I find no answer in the documents, I say so."
)


def write_augmented_question(question: str, terms: Sequence[ReadTerm], context: Context | None) -> str:
    """Return the paper's structured template: question, context, definitions (Golden-Retriever 3.5).

    Without terms, a context that has only a name is left out: it says nothing to a reader of the question.
    """
    lines = [question]
    if context and (terms or context.description):
        lines.append(f"Context: {context.name}" + (f" ({context.description})" if context.description else ""))
    if terms:
        lines.append("Terms:")
        lines += [f"- {_define_term(term)}" for term in _drop_repeated_terms(terms)]
    return "\n".join(lines)


def expand_query(question: str, terms: Sequence[ReadTerm]) -> str:
    """Return the question with each term replaced by its expansion.

    Short on purpose: the definitions of the template above contain many other words, which distract both keyword and
    embedding search. A question that already spells the term out stays as it is, and a term that the documents both use
    and define is not replaced.
    """
    text = question
    plain = bare(question)
    # Compared without case and punctuation: "What does flash-translation layer (FTL) do?" needs no expansion.
    foreign = [term for term in terms if term.chosen_by != DEFINED_BY_DOCUMENTS]
    missing = [term for term in foreign if not term.sense.expansion or bare(term.sense.expansion) not in plain]
    # From the end, so that earlier positions stay valid.
    for term in sorted(missing, key=lambda term: term.mention.start, reverse=True):
        mention = term.mention
        text = text[: mention.start] + _write_replacement(term) + text[mention.end :]
    return text


def write_query_miss(misses: Sequence[MissedTerm], *, waiting: bool = False) -> str:
    """Return the paper's response for terms that the glossary lacks (Golden-Retriever 3.6).

    `waiting`: the asker may still have the question answered without the terms.
    """
    number = len(misses)
    names = join_quoted([miss.term for miss in misses])
    suggestions = _write_suggestions(misses)
    lines = [
        translate_number(
            "I cannot answer this reliably: %(names)s is not in the glossary. "
            "Please check the spelling of the term%(suggestions)s.",
            "I cannot answer this reliably: %(names)s are not in the glossary. "
            "Please check the spelling of these terms%(suggestions)s.",
            number,
            names=names,
            suggestions=suggestions,
        )
    ]
    contacts = sorted({miss.contact for miss in misses if miss.contact})
    # Without a contact nobody is named: the wrong person is worse than none, and the managers' queue has the term.
    if contacts:
        one, many = (
            "If it is right, contact %(contacts)s to have it added.",
            "If they are right, contact %(contacts)s to have them added.",
        )
        lines.append(translate_number(one, many, number, contacts=join_with_and(contacts)))
    else:
        one = "If it is right, those who look after the glossary see that people ask for it."
        many = "If they are right, those who look after the glossary see that people ask for them."
        lines.append(translate_number(one, many, number))
    if waiting:
        lines.append(translate("Or say “answer anyway”, and I answer from the documents as well as I can."))
    return " ".join(lines)


def write_sense_choice(term: str, choices: Sequence[str]) -> str:
    return _number_lines(translate("“%(term)s” means several things here. Which one do you mean?", term=term), choices)


def write_document_choice(phrase: str, choices: Sequence[str]) -> str:
    asked = translate("“%(phrase)s” fits several documents. Which one do you mean?", phrase=phrase)
    return _number_lines(asked, choices)


def write_unknown_term(term: str, choices: Sequence[str]) -> str:
    asked = "“%(term)s” is neither in the glossary nor in the documents. Did you mean something else?"
    return _number_lines(translate(asked, term=term), choices)


def write_abstention(
    nearest: Sequence[FoundPassage], *, unwritten: bool = False, repeated: str = "", untold: str = ""
) -> str:
    """Return the text shown instead of an answer if the evidence is too weak; it lists the closest passages.

    Args:
        nearest: the passages that could matter.
        unwritten: the profile asks for no answer, whatever the evidence.
        repeated: the follow-up that the passages answer only with the last answer again.
        untold: the reason why Argot cannot tell whether the documents answer; empty: it can.
    """
    if unwritten:
        text = translate("No answer was asked for (generate_answer is off).")
    elif untold:
        text = untold
    elif repeated:
        text = translate("No answer to “%(question)s” was found beyond the one above.", question=repeated)
    else:
        text = translate(NO_ANSWER) if nearest else f"{translate(_NOTHING_NEAR)} {translate(_OTHER_WORDS)}"
    if not nearest:
        return text
    shown = "\n".join(map(_format_passage, nearest))
    return f"{text} {translate('The closest passages are:')}\n{shown}"


def write_definition(sense: Sense) -> str:
    """Return the glossary's definition of a term, as one line that names its source."""
    where = translate("In the glossary")
    context = name_context(sense)
    where = f"{where} ({context})" if context else where
    meaning = quote_name(sense.term)
    if sense.expansion:
        meaning = translate("“%(term)s” means %(expansion)s", term=sense.term, expansion=sense.expansion)
    # Glossaries often repeat the expansion in the description column.
    more = sense.description if bare(sense.description) != bare(sense.expansion) else ""
    between = ". " if sense.expansion else ": "
    definition = f"{meaning.rstrip('.')}{between}{more}" if more else meaning
    definition = " ".join(definition.split())
    return f"{where}: {definition}{'' if definition.endswith(('.', '!', '?')) else '.'}"


def name_context(sense: Sense) -> str:
    """Return the context of a sense; empty for that of a glossary without contexts, which tells a reader nothing."""
    return "" if sense.context == DEFAULT_CONTEXT else sense.context


def write_small_talk(kind: SmallTalk, contexts: Sequence[str], examples: Sequence[str], *, empty: bool) -> str:
    """Return a short plain reply to a message that asks nothing: Argot's abilities, and questions that these documents
    answer.
    """
    if empty and kind in ("greeting", "about", "reply", "unasked"):
        return f"{translate(_OPENINGS[kind])} {translate(_OPENINGS['library'])}"
    lines = [translate(_OPENINGS[kind])]
    if kind == "about":
        lines = [f"{lines[0]} {translate(_WHAT_IT_DOES)} {write_contexts(contexts)}".rstrip()]
    if examples:
        lines += [translate("You could ask:"), *(f"- {example}" for example in examples)]
    return "\n".join(lines)


def write_recalled(questions: Sequence[str]) -> str:
    """Return the questions of the conversation, in one line."""
    if not questions:
        return translate(_OPENINGS["recall"])
    one, many = "The question was %(quoted)s", "The questions were, in this order: %(quoted)s"
    return translate_number(one, many, len(questions), quoted=join_quoted(questions))


def write_notes(
    turn: TurnPart, terms: Sequence[ReadTerm], senses: Mapping[int, Sense], *, cited_text: str = "", hidden: int = 0
) -> list[str]:
    """Return notes for the asker about how the question was read, and about what is not shown.

    `cited_text`: the passages behind the answer. A note about a term is left out where it says nothing about them.
    """
    still_open = {item["term"] for item in turn["open_terms"]}
    notes = [
        note
        for term in terms
        if get_term(term.mention) not in still_open
        for note in _write_term_notes(term, turn, senses)
    ]
    notes = [translate(_READ_AS, term=word, meaning=meant) for word, meant in turn.get("corrected", [])] + notes
    missed = [miss["term"] for miss in turn["misses"]]
    # In a query miss the answer itself names them.
    if turn["status"] != "query_miss":
        notes += [translate(_UNKNOWN, term=term) for term in missed]
    set_aside = [term for term in turn["let_be"] if term not in missed]
    unread = "“%(term)s” was used as written, in none of its known senses."
    notes += [translate(unread, term=term) for term in set_aside]
    doubted = [one for one in turn.get("doubted", []) if one["term"] not in set_aside]
    # Passages that use the term show its meaning there themselves.
    notes += [_write_doubt(one, senses) for one in doubted if not _has_word(cited_text, one["surface"])]
    lacking = turn.get("missing_parts", [])
    # An answer is about a term's meaning, which stands beside it, and has no need of the term.
    understood = {term.mention.surface for term in terms} if turn["status"] == "answered" else set()
    unnamed = [name for name in turn.get("unnamed", []) if name not in understood]
    notes += [translate("No document that you may read names “%(name)s”.", name=name) for name in unnamed]
    notes += [translate("The documents nearest to the question have no “%(name)s”.", name=name) for name in lacking]
    # If nothing is answered at all, the answer says so.
    if turn["status"] == "answered":
        open_parts = turn.get("unanswered", [])
        notes += [translate("The documents do not seem to answer “%(part)s”", part=part) for part in open_parts]
        alone = "“%(part)s” asks for a list, which is only given to a question by itself. Ask it again, alone."
        notes += [translate(alone, part=part) for part in find_listing_parts(turn["question"])]
    if turn.get("whole") and turn["status"] == "answered" and turn.get("answered_by") != "model":
        notes.append(translate("This is not a summary: it quotes the first words of each part of the file."))
    if turn.get("unchecked") and turn["sentences"]:
        notes.append(translate("No sentence was checked against the passages (match_references is off)."))
    if turn["withheld"]:
        notes.append(translate_number(*_WITHHELD, turn["withheld"]))
    if hidden:
        notes.append(translate_number(*_HIDDEN, hidden))
    # A term that occurs twice in the question makes the same note twice.
    return list(dict.fromkeys(notes))


def write_selection_note(quoted: int, there: int, document: str) -> str:
    """Return the note about a list or table quoted in part."""
    text = "This is a selection: %(quoted)s of %(there)s entries of a list or table in %(document)s."
    return translate(text, quoted=quoted, there=there, document=document)


def write_model_notes(turn: Mapping[str, Any]) -> list[str]:
    """Return a note if the language model should have helped in this turn and did not."""
    quoted = turn["status"] == "answered" and turn.get("answered_by") != "model" and bool(turn["sentences"])
    if turn.get("trouble"):
        text = (
            "The language model server %(trouble)s; this answer quotes the documents instead."
            if quoted
            else "The language model server %(trouble)s; what it would have done was done without it."
        )
        return [translate(text, trouble=translate_trouble(turn["trouble"]))]
    if turn.get("replaced") and quoted:
        return [
            translate("The documents support nothing that the language model wrote; this answer quotes them instead.")
        ]
    return []


def _write_term_notes(term: ReadTerm, turn: TurnPart, senses: Mapping[int, Sense]) -> list[str]:
    mention, sense = term.mention, term.sense
    meaning = sense.expansion or sense.term
    misspelt = mention.match == "misspelt"
    notes = [translate(_READ_AS, term=mention.surface, meaning=sense.term)] if misspelt else []
    context = _find_named_context(turn)
    theirs = {other.context for other in senses.values() if other.term == sense.term}
    settled = all(one["settled"] for one in turn["readings"] if one["sense"] == sense.id)
    if not settled:
        text = "“%(term)s” has several senses that fit; it was read as %(meaning)s (%(context)s)."
        notes.append(translate(text, term=mention.surface, meaning=meaning, context=sense.context))
    # An asker who chose the sense ("your choice") knows its context.
    elif context and sense.context and not term.chosen_by.startswith("your ") and context not in theirs:
        text = "“%(term)s” has no sense in %(context)s; it was read as in %(other)s: %(meaning)s."
        notes.append(translate(text, term=mention.surface, context=context, other=sense.context, meaning=meaning))
    return notes


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _write_doubt(doubt: DoubtRecord, senses: Mapping[int, Sense]) -> str:
    term, known = doubt["surface"], [senses[one] for one in doubt["senses"] if one in senses]
    if not known:
        return translate(_UNKNOWN, term=term)
    meanings = join_with_or(list(dict.fromkeys(sense.expansion or sense.term for sense in known)))
    text = "“%(term)s” was searched as written: no document speaks of the glossary's meaning, %(meanings)s."
    return translate(text, term=term, meanings=meanings)


def _find_named_context(turn: TurnPart) -> str:
    """Return the context that the question names, if it is clear; a guessed context is never named to the asker."""
    clear = next((name for name, score in turn["contexts"] if score >= MIN_CLEAR_CONTEXT_SCORE), "")
    return clear if set(content_stems(clear)) & set(content_stems(turn["question"])) else ""


def _number_lines(head: str, labels: Sequence[str]) -> str:
    return "\n".join((head, *(f"{number}. {text}" for number, text in enumerate(labels, 1))))


def _drop_repeated_terms(terms: Sequence[ReadTerm]) -> list[ReadTerm]:
    first: dict[tuple[int, str], ReadTerm] = {}
    for term in terms:
        # By expansion as well: what the question explains has no id.
        first.setdefault((term.sense.id, term.sense.expansion), term)
    return list(first.values())


def _define_term(term: ReadTerm) -> str:
    sense = term.sense
    name = term.mention.surface if term.mention.match != "misspelt" else sense.term
    text = f"{name}: {sense.expansion}" if sense.expansion else name
    text += f" ({sense.context})" if sense.context else ""
    for more in (sense.description, sense.notes):
        # Glossaries often repeat the expansion in the description column.
        if more and more.casefold() != sense.expansion.casefold():
            text += f". {more.rstrip('.')}"
    return text


def _write_replacement(term: ReadTerm) -> str:
    """Return the text that replaces the mention in the query."""
    mention, sense = term.mention, term.sense
    written = sense.term if mention.match == "misspelt" else mention.surface
    # A term that the question explains is already spelt out in it.
    if mention.explained or not sense.expansion:
        return written
    if len(sense.expansion.split()) > MAX_REPLACEMENT_WORDS:
        return f"{written} ({sense.expansion})"
    return sense.expansion


def _write_suggestions(misses: Sequence[MissedTerm]) -> str:
    names = [name for miss in misses for name in miss.suggestions]
    return f" ({translate('did you mean %(names)s?', names=join_with_or(names))})" if names else ""


def _format_passage(passage: FoundPassage) -> str:
    excerpt = f"\n    {quote_name(passage.excerpt)}" if passage.excerpt else ""
    return f"[{passage.n}] {_format_place(passage)}{excerpt}"


def _format_place(passage: FoundPassage) -> str:
    fresh = f", {passage.freshness}" if passage.freshness else ""
    heading = f": {passage.heading}" if passage.heading else ""
    return f"{passage.name}{place(passage.document, passage.page, passage.page_kind)}{fresh}{heading}"


def join_quoted(texts: Sequence[str]) -> str:
    """Return the texts in quotation marks, as one list."""
    return join_with_and([quote_name(text) for text in texts])
