"""Check whether an objection concerns a claim of the sentence, or only the question's words or a reference back.

"With 950 cycles it is in class 2" takes 950 from the question, and no passage can contain it. Word matching does not
support such a sentence, but a model may be asked about it. A confirmation is none: "Yes, the limit is 950" claims the
number.
"""

from __future__ import annotations

import re

from argot.days import MONTH_NAMES
from argot.languages.language_data import ENGLISH
from argot.languages.negation_words import strip_negations
from argot.languages.question_words import is_confirmation
from argot.tools.answering.denial import CLAUSE, NEGATION, find_denied_stems, is_negated
from argot.tools.answering.foreign_denial import denies_by_question, identify_shared_language
from argot.tools.answering.missing_names import has_other_name
from argot.tools.answering.support import find_nearest_unit, find_statement_stems
from argot.tools.text.quantities import (
    WEEKDAY_NAMES,
    find_missing_quantity,
    find_quantities,
    find_rates,
    normalize_number,
)
from argot.tools.text.totals import is_reckoned, strip_reckoned_hours
from argot.tools.text.words import NUMBER_WORDS, stem

_OPENING = re.compile(
    r"(?:^|[,;(]\s*)(?:with|at|for|after|before|if|when|in case of|as|on|given|since|of)\b[^,;:()]*", re.IGNORECASE
)
_CONDITION = re.compile(r"^(?:.*\s)?(?:if|when|where|once|in case)$", re.IGNORECASE | re.DOTALL)
_FRAGMENT = re.compile(
    r"\W*(?:between|from|on|in|at|until|before|after|during|within|to|for|by|because|as|since)\b", re.IGNORECASE
)
_EXAMPLE = re.compile(
    r",? ?\(?\b(?:such as|like|for example|for instance|e\.g\.|including)\b"
    r"(?:(?! (?:and|but|because|while|which|who|if|when|unless|except)\b)[^,;:()])*\)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w:.,])[£$€]?\d[\d.,]*\d(?!:\d)|(?<![\w:.,])[£$€]?\d(?!\d|[:.,]\d)")
_MIN_REST_STEMS = 2  # stems; less says nothing that could be checked
_FEW = {number: word for word, number in NUMBER_WORDS.items() if word in ("two", "three", "four")}


_VERBS = ("may", "march")  # months only with a capital
_AMOUNT = re.compile(
    # Not a part of "14:00".
    rf"(?:\bno\.? ?)?(?<![\d:.,])\b(?P<number>\d[\d.,]*\d|\d|{'|'.join(NUMBER_WORDS)})"
    # "12m" and "2nd"
    r"(?:(?:st|nd|rd|th)?\b|(?=(?:[a-zµ]{1,3}|mins|secs)\b))(?!:\d)"
    rf"|\b(?P<name>{'|'.join(one for one in WEEKDAY_NAMES + MONTH_NAMES if one not in _VERBS)}|(?-i:May|March))\b",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(
    r",? (?:and )?(?:so|thus|therefore|hence|which means(?: that)?)\b(?:[^;:]|:(?=\d))*", re.IGNORECASE
)
_CASE = re.compile(
    r"^(?:(?:if|when|in case)\b[^:;.]*:\s"
    r"|(?:otherwise|without (?:it|them|either|(?:such|this|that|these|those)(?: an?)? [\w-]+)(?: \([^()]*\))?),?"
    r" (?=\w))",
    re.IGNORECASE,
)
_RESTATED = re.compile(r"^(?:yes|no)\b[,.:–—-]? (?P<what>[^:;]*)[:;]\s", re.IGNORECASE)
_TO_ASKER = re.compile(r"\b(?:you|yours?|your)\b", re.IGNORECASE)
_SINCE = re.compile(rf"\b(?:from|after|before|until|since|by) (?P<month>{'|'.join(MONTH_NAMES)})\b", re.IGNORECASE)
_DERIVES = re.compile(
    r"\b(?:so|thus|therefore|hence|makes?|comes? to|adds? up|plus|minus|times|doubled|trebled|tripled|halved|altogether"
    r"|in total|that is|which is)\b|[×+=]",
    re.IGNORECASE,
)


def remove_asked_amounts(sentence: str, source: str, asked: str) -> str:
    """Return the sentence without the numbers and dates that it only repeats from the question.

    Unless the sentence has numbers of the source beside them, it is unchanged if it confirms them ("Yes, ..."), or if
    the source's nearest sentence has a number that the sentence lacks: another one may then stand in its place.
    """
    known = {_read_amount(found) for found in _AMOUNT.finditer(asked)} | _find_adjoining_months(sentence, source)
    texts = (find_nearest_unit(sentence, source), strip_reckoned_hours(sentence), asked, source)
    nearest, mine, theirs, sourced = ({one for one, _ in find_quantities(text)} for text in texts)
    own = mine - theirs - known
    if not (own and own <= sourced) and (is_confirmation(sentence) or not nearest <= mine):
        return sentence
    return _AMOUNT.sub(lambda found: " " if _read_amount(found) in known else found[0], sentence)


def _find_adjoining_months(sentence: str, source: str) -> set[str]:
    """Return the months up to or since which a sentence says something, if the source names the one before or behind:
    "from October on" for "in September".
    """
    named = {found["name"].casefold() for found in _AMOUNT.finditer(source) if found["name"]}
    months = {found["month"].casefold() for found in _SINCE.finditer(sentence)}
    places = {month: MONTH_NAMES.index(month) for month in months}
    return {
        month
        for month, place in places.items()
        if not named.isdisjoint(MONTH_NAMES[(place + step) % len(MONTH_NAMES)] for step in (-1, 1))
    }


def _read_amount(found: re.Match[str]) -> str:
    return normalize_number(found["number"]) if found["number"] else found["name"].casefold()


def remove_conclusions(sentence: str, source: str, asked: str) -> str:
    """Return the sentence without what it concludes for the asker's case, which no passage can contain: "so at 220 it
    is not blocked" for a question about 220, "so you are too late"; without the question's words before the reason:
    "No, you can't get it tomorrow: ..."; without the case that it begins with: "If it is on your skin: ...", "Without
    such work ..."; and without amounts that it derives from others: "£39: £30 plus £9".

    It is unchanged if nothing is left that the source could bear out.
    """
    amounts = {_read_amount(found) for found in _AMOUNT.finditer(asked)}

    def drop(found: re.Match[str]) -> str:
        named = {_read_amount(one) for one in _AMOUNT.finditer(found[0])}
        return "" if named & amounts or _is_for_asker(found[0], source, asked) else found[0]

    rest = _RESTATED.sub(lambda found: "" if _is_of_question(found["what"], asked) else found[0], sentence, count=1)
    rest = _CASE.sub("", _CONCLUSION.sub(drop, rest), count=1)
    rest = _remove_derived(rest, sentence, source, amounts)
    return rest if len(find_statement_stems(rest)) >= _MIN_REST_STEMS else sentence


def _is_for_asker(conclusion: str, source: str, asked: str) -> bool:
    """Return whether a conclusion speaks of the asker or of what was asked, and has no number or further clause that
    neither question nor source has. "So that" names a purpose.
    """
    is_purpose = re.match(r",? (?:and )?so that\b", conclusion, re.IGNORECASE)
    if is_purpose or find_missing_quantity(conclusion, f"{source}\n{asked}"):
        return False
    known = find_statement_stems(f"{source}\n{asked}")
    stems = [find_statement_stems(clause) for clause in CLAUSE.split(conclusion)]
    if any(some and some.isdisjoint(known) for some in stems[1:]):
        return False
    return _TO_ASKER.search(conclusion) is not None or _repeats(conclusion, asked)


def _is_of_question(words: str, asked: str) -> bool:
    stems = find_statement_stems(NEGATION.sub(" ", words))
    return bool(stems) and stems <= find_statement_stems(asked)


def _repeats(words: str, asked: str) -> bool:
    """Return whether half of a text's stems are the question's."""
    stems = find_statement_stems(words)
    return bool(stems) and 2 * len(stems & find_statement_stems(asked)) >= len(stems)


def _remove_derived(said: str, sentence: str, source: str, asked: set[str]) -> str:
    """Return a part of a sentence without the numbers that the source lacks, if the sentence derives them: it says so,
    or they are the sum, difference or product of others in it. Those of the question then go as well.
    """
    stated = {one for one, _ in find_quantities(source)}
    lacking = [one for one in _NUMBER.findall(said) if not {number for number, _ in find_quantities(one)} <= stated]
    if not stated & {one for one, _ in find_quantities(said)}:
        return said
    reckoned = set(lacking if _DERIVES.search(said) else (one for one in lacking if is_reckoned(one, sentence)))
    if reckoned:
        reckoned.update(one for one in lacking if normalize_number(one.lstrip("£€$")) in asked)
    return _NUMBER.sub(lambda found: " " if found[0] in reckoned else found[0], said)


def remove_premise(reason: str, said: str, source: str, asked: str) -> tuple[str, str]:
    """Return sentence and source without the subject of the objection `reason`, if that is no claim of the sentence.

    Both are plain prose, `asked` is the question. They are unchanged if it is a claim.
    """
    kind, _, what = reason.partition(" ")
    # "When must nothing end?" is answered by "Between 5 and 6": the denial is in the question.
    if kind == "negation" and is_negated(asked) and not is_negated(said) and _FRAGMENT.match(said):
        return said, NEGATION.sub(" ", source)
    if kind == "negation" and (language := identify_shared_language(said, source)) != ENGLISH:
        return said, strip_negations(source, language) if denies_by_question(said, asked) else source
    match kind:
        case "clause" | "condition":
            said = _remove_condition(what.strip("'"), said, asked)
        case "number":
            number = what.split()[0]
            said = _remove_example(number, _remove_opening(number, said, asked), source, asked)
            said = _remove_counted(what, said, source)
        case "rate":
            said = _remove_rate(what, said, asked)
        case "name" | "identifier":
            said = _remove_name(what, said, source, asked)
    return said, source


def is_denied_answer(said: str, source: str, asked: str) -> bool:
    """Return whether the source denies what the question and a fragment that answers it say together.

    "Between 5 and 6" answers "When do runs end?" with the opposite of "Do not let runs end between 5 and 6".
    """
    if not _FRAGMENT.match(said) or is_negated(asked) or is_negated(said):
        return False
    denied, wanted = find_denied_stems(find_nearest_unit(said, source)), find_statement_stems(asked)
    return bool(wanted) and 2 * len(wanted & denied) >= len(wanted)


def _remove_condition(clause: str, said: str, asked: str) -> str:
    """Return the sentence without the question's own words after an "if"."""
    at = said.find(clause)
    # At the beginning of a sentence the "if" is a part of the clause.
    if at <= len("when ") and said[:4].casefold() == "when" and re.search(r"\bwhen\b", asked, re.IGNORECASE):
        return said[5:]  # the answer to "when ...?"
    conjunction = f"{said[:at]}{clause.split(maxsplit=1)[0] if at == 0 else ''}".strip()
    if at < 0 or not _CONDITION.match(conjunction) or not find_statement_stems(clause) <= find_statement_stems(asked):
        return said
    return said[:at] + said[at + len(clause) :]


def _remove_opening(number: str, said: str, asked: str) -> str:
    """Return the sentence without the question's number if it opens a clause: "With 950 cycles ..."."""
    opening = _OPENING.search(said)
    numbers = [{one for one, _ in find_quantities(text)} for text in (asked, opening[0] if opening else "")]
    if opening is None or not all(number in known for known in numbers):
        return said
    return said[: opening.start()] + re.sub(r"\d[\d.,]*", "", opening[0]) + said[opening.end() :]


def _remove_example(number: str, said: str, source: str, asked: str) -> str:
    """Return the sentence without an example from the question ("such as 4 July"), unless the source's nearest sentence
    has a number, which the example might contradict.
    """
    example, known = _EXAMPLE.search(said), {one for one, _ in find_quantities(asked)}
    if example is None or number not in known or find_quantities(find_nearest_unit(said, source)):
        return said
    if not set(re.findall(r"\d+", example[0])) <= set(re.findall(r"\d+", asked)):
        return said
    return said[: example.start()] + said[example.end() :]


def _remove_rate(name: str, said: str, asked: str) -> str:
    """Return the sentence without a rate that the question names: "8 per group" for "how many in one group?"."""
    rate = re.compile(rf"\b(?:per|an?|each|every) {re.escape(name)}\w*", re.IGNORECASE)
    is_asked = name in find_statement_stems(asked) or bool(find_rates(asked) & {name})
    return rate.sub(" ", said) if is_asked else said


def _remove_name(name: str, said: str, source: str, asked: str) -> str:
    """Return the sentence without a name from the question, unless the source's nearest sentence has another name.

    A name with digits stays: it is one of many alike, of which the source may mean another.
    """
    if any(map(str.isdigit, name)) or not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", asked, re.IGNORECASE):
        return said
    if has_other_name(find_nearest_unit(said, source)):
        return said
    return re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", said, flags=re.IGNORECASE)


def _remove_counted(number: str, said: str, source: str) -> str:
    """Return the sentence without the "two" of "the two counters": it counts things just named, which the source does
    not count.
    """
    word = _FEW.get(number)
    found = (
        re.search(rf"\b(?:the|these|those|all)(?: other| first| last)? {word} (\w+)", said, re.IGNORECASE)
        if word
        else None
    )
    if not found:
        return said
    counted = re.findall(rf"\b(?:\d+|{'|'.join(NUMBER_WORDS)}) (\w+)", source, re.IGNORECASE)
    known = stem(found[1].casefold()) in {stem(one.casefold()) for one in counted}
    return said if known else f"{said[: found.start()]}the {found[1]}{said[found.end() :]}"
