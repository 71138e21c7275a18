"""Multiple-choice questions answered from passages without a language model (the kind of questions of
Golden-Retriever 4.1).

The score of an option says how well a part of a passage covers question and option together. "True/false" and "yes/no"
are decided by whether the passages support or contradict the question's statement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from argot.languages.english_contractions import NOT
from argot.tools.answering.denial import is_negated
from argot.tools.answering.objections import find_objection
from argot.tools.answering.quoting import read_units
from argot.tools.answering.support import find_statement_stems
from argot.tools.text.quantities import find_quantities
from argot.tools.text.rarity import compute_floored_idf
from argot.tools.text.words import fold, fold_words, stem

_TRUE = frozenset({"true", "yes", "correct", "right", "y", "t"})
_FALSE = frozenset({"false", "no", "incorrect", "wrong", "n", "f"})
# "All of the above", "both", "all options".
_ALL = re.compile(r"^(?:all|both)(?: of (?:these|them|the above)| the above| options)?$|^all$", re.IGNORECASE)
# "NOT" in capitals, as exams print it: a lower-case "not" mostly belongs to the statement in question.
_NOT = re.compile(rf"\bNOT\b|\bexcept\b|\b(?:does|is){NOT}\b|\bnever\b")
# "- PUC: power-up controller (firmware). ...": up to the bracket or full stop.
_EXPLAINED = re.compile(r"^- (?P<term>[^:]+): (?P<full>[^(.]+?)(?= \(|\.|$)")
_NEAR = 2
"""The most units between a question's words and its answer within one passage."""

_CLAUSE = re.compile(r"[.;:!?](?=\s)|,(?=\s)|\s(?:and|but|while|whereas)\s|\s[-–—]\s|\|")
_COUNTED = re.compile(r"\bhow many (\w+)(?: (\w+))?", re.IGNORECASE)
# Not the first word of the sentence, which has a capital anyway.
_NAME = re.compile(r"(?<=[\w,] )[A-Z][\w-]*")

# Chosen on the validation half of the samples and on 78 questions written for this purpose
# (bench/laboratory/jargon.md).
_WORTH = (1.0, 0.8, 0.4)  # weight of a question word in the option's clause, in its unit, in a unit near by
_EXACT = 1.2  # the clause contains the option word for word
_RIGHT_NOUN = 1.3  # the option's number counts the same things as the question
_OTHER_NAME = 0.6  # the clause is about something else that has a name
_ALL_SHARE = 0.6  # if every option has this share of the best score, all of them are right

Stems = frozenset[str]
Cue = tuple[Stems, ...]
"""A cue: something that the question is about, as a tuple of alternatives. A text has the cue if it has all stems of
one alternative. A word has one alternative, and a term has two: its short form and its expansion.

So "the patent board meets" is not about a change advisory board, and a passage that has only CAB is.
"""


def choose_option(question: str, options: Sequence[str], passages: Sequence[str]) -> int | None:
    """Return the index of the option that the passages support, or None if they support none.

    Args:
        question: the question in its first line; lines "- TERM: expansion" follow if jargon was explained.
        options: two or more.
        passages: Markdown, best first.
    """
    if not options:
        return None
    typed, meanings = _read_question(question)
    if yes_no := _find_yes_no(options):
        return yes_no[0] if _is_said(_expand_terms(typed, meanings), passages) else yes_no[1]
    scores = [_score_option(typed, meanings, option, options, passages) for option in options]
    everything = next((i for i, option in enumerate(options) if _ALL.match(option.strip())), None)
    if everything is not None:
        others = [score for i, score in enumerate(scores) if i != everything]
        # "All of the above" is right if every other option is supported about as well as the best.
        if others and min(others) >= _ALL_SHARE * max(others) > 0:
            return everything
        scores[everything] = 0.0
    if _NOT.search(typed):
        # "Which of these is NOT ...?" asks for the option that the passages support least.
        return min(range(len(options)), key=lambda i: scores[i])
    best = max(range(len(options)), key=lambda i: scores[i])
    return best if scores[best] > 0 else None


def _read_question(question: str) -> tuple[str, dict[str, str]]:
    """Return the question as it was asked, and the expansions of its terms, without the rest of the explanations."""
    typed, *explained = question.split("\n")
    found = (_EXPLAINED.match(line) for line in explained)
    return typed, {match["term"]: match["full"] for match in found if match}


def _expand_terms(typed: str, meanings: Mapping[str, str]) -> str:
    """Return the question with each explained term replaced by its expansion."""
    for term, full in meanings.items():
        typed = full.join(re.split(rf"(?<!\w){re.escape(term)}(?!\w)", typed))
    return typed


def _find_yes_no(options: Sequence[str]) -> tuple[int, int] | None:
    """Return the indexes of yes and no if these are the options."""
    bare = [option.strip().strip(".").casefold() for option in options]
    if len(bare) == 2 and set(bare) & _TRUE and set(bare) & _FALSE:
        yes = 0 if bare[0] in _TRUE else 1
        return yes, 1 - yes
    return None


# -- one option -------------------------------------------------------------------------------------------------------


def _score_option(
    typed: str, meanings: Mapping[str, str], option: str, options: Sequence[str], passages: Sequence[str]
) -> float:
    """Return how well the best part of a text covers the option (the words that not all options share) near the
    question's words.
    """
    common = (
        frozenset.intersection(*(_list_option_stems(other) for other in options)) if len(options) > 1 else frozenset()
    )
    # Words that all options share do not distinguish them.
    own = _list_option_stems(option) - common or _list_option_stems(option)
    rarity = _weigh_cues(_list_cues(typed, meanings, own), passages)
    named = _list_names(typed) - {fold(word) for term in meanings for word in term.split()}
    best = 0.0
    for place, passage in enumerate(passages):
        units = read_units(passage)
        stems = [_list_stems(unit.plain, own) for unit in units]
        for at, here in enumerate(stems):
            if not own & here:
                continue
            near = frozenset[str]().union(*stems[max(0, at - _NEAR) : at + _NEAR + 1])
            for clause, within in _split_clauses(units[at].plain, own):
                share = len(own & (within or here)) / max(1, len(own))
                score = sum(weight * _measure_closeness(cue, within, here, near) for cue, weight in rarity.items())
                fit = _EXACT if _is_in_text(option, clause) else 1.0
                fit *= _RIGHT_NOUN if _is_counted(typed, clause, own) else 1.0
                fit *= _OTHER_NAME if within and _has_other_name(named, clause, units[at].plain) else 1.0
                # Squared, because half of an option is much less than half an answer. 0.05: the option's words alone
                # count a little.
                best = max(best, share**2 * fit * (0.05 + score) / (1 + 0.15 * place))
    return best


def _list_option_stems(option: str) -> Stems:
    # "once" and "any" are stop words, but may be the only words of an option.
    return find_statement_stems(option) or frozenset(fold_words(option))


def _list_stems(text: str, own: Stems) -> Stems:
    return find_statement_stems(text) | (own & set(fold_words(text)))


def _list_cues(typed: str, meanings: Mapping[str, str], own: Stems) -> list[Cue]:
    terms = {term: full for term, full in meanings.items() if term in typed}
    short = frozenset[str]().union(*map(find_statement_stems, terms))
    words: list[Cue] = [(frozenset({one}),) for one in sorted(find_statement_stems(typed) - own - short)]
    both = [(find_statement_stems(term), find_statement_stems(full)) for term, full in terms.items()]
    return words + [tuple(filter(None, cue)) for cue in both if any(cue)]


def _is_held(cue: Cue, stems: Stems) -> bool:
    return any(alternative <= stems for alternative in cue)


def _split_clauses(text: str, own: Stems) -> list[tuple[str, Stems]]:
    """Return the parts between commas and similar marks, with their stems: if a sentence has two options, the nearer
    words of the question decide.

    If there are several parts, the whole text is returned, too, with no stems, so that no word counts as near in it.
    """
    parts = [part for part in _CLAUSE.split(text) if part.strip()]
    clauses = [(part, _list_stems(part, own)) for part in parts]
    return [(text, frozenset()), *clauses] if len(clauses) > 1 else clauses


def _measure_closeness(cue: Cue, clause: Stems, unit: Stems, near: Stems) -> float:
    return next((worth for worth, held in zip(_WORTH, (clause, unit, near), strict=True) if _is_held(cue, held)), 0.0)


def _is_counted(typed: str, clause: str, own: Stems) -> bool:
    """Return true if the option's number counts what the question asks for: "256 slots of 64 bytes" has 256 slots."""
    match = _COUNTED.search(typed)
    if match is None:
        return False
    counted = frozenset[str]().union(*(find_statement_stems(word or "") for word in match.groups()))
    words = [stem(word) for word in fold_words(clause)]
    return any(word in own and counted & set(words[n + 1 : n + 3]) for n, word in enumerate(words))


def _list_names(text: str) -> Stems:
    return frozenset(map(fold, _NAME.findall(text)))


def _has_other_name(named: Stems, clause: str, unit: str) -> bool:
    """Return true if the sentence names what the question names, and this clause is about something else that has a
    name.
    """
    here = _list_names(clause)
    return bool(here and not here & named and _list_names(unit) & named)


def _is_in_text(option: str, text: str) -> bool:
    bare = option.strip().strip(".").casefold()
    wanted = find_quantities(option)
    if wanted:
        return (
            wanted <= find_quantities(text)
            or re.search(rf"(?<![\w.]){re.escape(bare)}(?![\w.])", text.casefold()) is not None
        )
    return re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", text.casefold()) is not None


def _weigh_cues(cues: Sequence[Cue], passages: Sequence[str]) -> dict[Cue, float]:
    """Return the weight of each cue: rarer cues weigh more, and all weights add up to 1."""
    held = [find_statement_stems(unit.plain) for passage in passages for unit in read_units(passage)]
    weights = {}
    for cue in cues:
        weights[cue] = compute_floored_idf(sum(_is_held(cue, one) for one in held), len(held))
    total = sum(weights.values()) or 1.0
    return {cue: weight / total for cue, weight in weights.items()}


# -- yes or no --------------------------------------------------------------------------------------------------------

_SAID = 0.5


def _is_said(statement: str, passages: Sequence[str]) -> bool:
    """Return true if the unit that shares most with the statement supports it, and no number, name or negation
    contradicts it.
    """
    rarity = _weigh_cues([(frozenset({one}),) for one in sorted(find_statement_stems(statement))], passages)
    best, nearest = 0.0, ""
    for place, passage in enumerate(passages):
        for unit in read_units(passage):
            stems = find_statement_stems(unit.plain)
            share = sum(weight for cue, weight in rarity.items() if _is_held(cue, stems)) / (1 + 0.1 * place)
            if share > best:
                best, nearest = share, unit.plain
    if not nearest:
        return False
    against = find_objection(statement, nearest)
    if is_negated(statement) != is_negated(nearest):
        return False
    # A unit may lack names from the text around it, and some clauses of the question.
    return not against or against.startswith(("name", "clause")) or (best < _SAID and against.startswith("identifier"))
