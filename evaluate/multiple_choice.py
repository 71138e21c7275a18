"""Multiple-choice questions answered from passages, without a language model (Golden-Retriever 4.1's kind of question).

Each option is scored by how well some stretch of a passage covers question and option together. "True/false" and
"yes/no" are decided by whether the passages support the question's statement, or deny it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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
# "NOT" in capitals, as exams print it: a small "not" mostly belongs to the statement that is asked about.
_NOT = re.compile(r"\bNOT\b|\bexcept\b|\bdoes(?:n't| not)\b|\bis(?:n't| not)\b|\bnever\b")
# "- PUC: power-up controller (firmware). ...": up to the bracket or full stop.
_EXPLAINED = re.compile(r"^- (?P<term>[^:]+): (?P<full>[^(.]+?)(?= \(|\.|$)")
_NEAR = 2
"""Units that may lie between a question's words and its answer within one passage."""

_CLAUSE = re.compile(r"[.;:!?](?=\s)|,(?=\s)|\s(?:and|but|while|whereas)\s|\s[-–—]\s|\|")
_COUNTED = re.compile(r"\bhow many (\w+)(?: (\w+))?", re.IGNORECASE)
# Not the first word of the sentence, which is capitalised anyway.
_NAME = re.compile(r"(?<=[\w,] )[A-Z][\w-]*")

# Chosen on the validation half of the samples and on 78 questions written beside it (bench/laboratory/jargon.md).
_WORTH = (1.0, 0.8, 0.4)  # of a word of the question: in the option's clause, its unit, a unit near by
_EXACT = 1.2  # the clause contains the option word for word
_RIGHT_NOUN = 1.3  # its number counts the same things as the question
_OTHER_NAME = 0.6  # the clause is about something else that has a name
_ALL_SHARE = 0.6  # of the best option's score, from which on all options are right

Stems = frozenset[str]
Cue = tuple[Stems, ...]
"""Something that the question is about: alternatives, of which a text must hold all stems of one. A word has one
alternative, a term two: its short form and its expansion.

So "the patent board meets" is not about a change advisory board, and a passage that writes CAB is.
"""


def choose_option(question: str, options: Sequence[str], passages: Sequence[str]) -> int | None:
    """Return the index of the option that the passages support; None when they support none.

    Args:
        question: on its first line, with lines "- TERM: expansion" below it where jargon was explained.
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
        # "All of the above" is right where every other option is supported about as well as the best.
        if others and min(others) >= _ALL_SHARE * max(others) > 0:
            return everything
        scores[everything] = 0.0
    if _NOT.search(typed):
        # "Which of these is NOT ...?" asks for the option that the passages support least.
        return min(range(len(options)), key=lambda i: scores[i])
    best = max(range(len(options)), key=lambda i: scores[i])
    return best if scores[best] > 0 else None


def _read_question(question: str) -> tuple[str, dict[str, str]]:
    """Return the question as it was asked, and the expansions of its terms; the rest of an explanation is not asked."""
    typed, *explained = question.split("\n")
    found = (_EXPLAINED.match(line) for line in explained)
    return typed, {match["term"]: match["full"] for match in found if match}


def _expand_terms(typed: str, meanings: Mapping[str, str]) -> str:
    """Return the question with each explained term replaced by its expansion."""
    for term, full in meanings.items():
        typed = full.join(re.split(rf"(?<!\w){re.escape(term)}(?!\w)", typed))
    return typed


def _find_yes_no(options: Sequence[str]) -> tuple[int, int] | None:
    """Return the places of yes and no if these are the options."""
    bare = [option.strip().strip(".").casefold() for option in options]
    if len(bare) == 2 and set(bare) & _TRUE and set(bare) & _FALSE:
        yes = 0 if bare[0] in _TRUE else 1
        return yes, 1 - yes
    return None


# -- one option -------------------------------------------------------------------------------------------------------


def _score_option(
    typed: str, meanings: Mapping[str, str], option: str, options: Sequence[str], passages: Sequence[str]
) -> float:
    """Return how well the best stretch of text covers the option (what sets it apart from the others) near the
    question.
    """
    common = (
        frozenset.intersection(*(_list_option_stems(other) for other in options)) if len(options) > 1 else frozenset()
    )
    # Words that all options share tell none of them apart.
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
                said = sum(weight * _measure_closeness(cue, within, here, near) for cue, weight in rarity.items())
                fit = _EXACT if _is_in_text(option, clause) else 1.0
                fit *= _RIGHT_NOUN if _is_counted(typed, clause, own) else 1.0
                fit *= _OTHER_NAME if within and _has_other_name(named, clause, units[at].plain) else 1.0
                # Squared: half of an option is much less than half an answer. 0.05: its words alone count a little.
                best = max(best, share**2 * fit * (0.05 + said) / (1 + 0.15 * place))
    return best


def _list_option_stems(option: str) -> Stems:
    # "once" and "any" are stop words, but may be all there is of an option.
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
    """Return the parts between commas and the like, with their stems: of two options in a sentence the nearer words
    decide.

    Where there are several, also the whole, within which nothing is near.
    """
    parts = [part for part in _CLAUSE.split(text) if part.strip()]
    clauses = [(part, _list_stems(part, own)) for part in parts]
    return [(text, frozenset()), *clauses] if len(clauses) > 1 else clauses


def _measure_closeness(cue: Cue, clause: Stems, unit: Stems, near: Stems) -> float:
    return next((worth for worth, held in zip(_WORTH, (clause, unit, near), strict=True) if _is_held(cue, held)), 0.0)


def _is_counted(typed: str, clause: str, own: Stems) -> bool:
    """Return true if the option's number is one of what the question counts: "256 slots of 64 bytes" has 256 slots."""
    match = _COUNTED.search(typed)
    if match is None:
        return False
    counted = frozenset[str]().union(*(find_statement_stems(word or "") for word in match.groups()))
    words = [stem(word) for word in fold_words(clause)]
    return any(word in own and counted & set(words[n + 1 : n + 3]) for n, word in enumerate(words))


def _list_names(text: str) -> Stems:
    return frozenset(map(fold, _NAME.findall(text)))


def _has_other_name(named: Stems, clause: str, unit: str) -> bool:
    """Return true if the sentence is about what the question names, and this clause about something else with a
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
    """Return the weight of each cue, adding up to 1: the rarer, the more."""
    held = [find_statement_stems(unit.plain) for passage in passages for unit in read_units(passage)]
    weights = {}
    for cue in cues:
        weights[cue] = compute_floored_idf(sum(_is_held(cue, one) for one in held), len(held))
    total = sum(weights.values()) or 1.0
    return {cue: weight / total for cue, weight in weights.items()}


# -- yes or no --------------------------------------------------------------------------------------------------------

_SAID = 0.5


def _is_said(statement: str, passages: Sequence[str]) -> bool:
    """Return true if the unit that shares most with the statement supports it: no number, name or negation against
    it.
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
    # One unit need not hold what the passage names around it, nor each clause of a question.
    return not against or against.startswith(("name", "clause")) or (best < _SAID and against.startswith("identifier"))
