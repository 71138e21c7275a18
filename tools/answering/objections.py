"""Finds reasons why a passage cannot support a sentence, however similar they are.

Similarity measures overlook such differences: "5 ns" is very similar to "50 ns", "is allowed" to "is not allowed", and
"only managers get it" to "managers get it". Numbers with their units, currencies and rates, dates, names, words of
scope and direction and negation therefore have to agree, and every clause needs support. The rules read English; in
other languages numbers, units, identifiers and clauses are compared, and denials by rules of their own
(`foreign_denial.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.languages.english_contractions import NOT
from argot.languages.language_data import ENGLISH
from argot.languages.question_words import join_verdicts
from argot.tools.answering.bounds import find_bound_objection, has_other_side
from argot.tools.answering.denial import (
    CLAUSE,
    NEGATION,
    has_denied_clause,
    is_denied_elsewhere,
    is_negated,
    name_cells,
    strip_idle_negations,
)
from argot.tools.answering.exchanges import find_exchanged
from argot.tools.answering.foreign_denial import has_foreign_denial, identify_shared_language
from argot.tools.answering.like_denials import is_denied_alike
from argot.tools.answering.missing_names import find_missing_name, is_joined, list_words
from argot.tools.answering.replaced_words import find_replaced
from argot.tools.answering.row_values import find_other_row
from argot.tools.answering.scope import find_directions, find_opposed_clause, find_scope_objection
from argot.tools.answering.statement_parts import is_place, split_statement
from argot.tools.answering.support import (
    find_column_names,
    find_lead_in,
    find_nearest_unit,
    find_nearest_units,
    find_statement_stems,
    is_quoted,
    list_units,
    read_visible,
    strip_links,
)
from argot.tools.answering.turned_words import find_turned_word
from argot.tools.text.quantities import (
    CURRENCY_CODES,
    find_missing_quantity,
    find_other_noun,
    find_other_rate,
    is_bare_amount,
    is_rate,
)
from argot.tools.text.totals import strip_counts, strip_reckoned_hours, strip_totals
from argot.tools.text.units import is_unit
from argot.tools.text.words import NUMBER_WORDS, find_identifiers, fold_words, stem

_VERDICT = re.compile(
    rf"^(?:{join_verdicts()}"
    r"|not (?P<manner>necessarily|at once|always|quite|yet|directly|immediately|exactly|entirely|by default"
    r"|automatically)"
    # "Two: projects may have two channels": compared as a number by itself
    rf"|(?P<number>\d[\d.,]*|{'|'.join(NUMBER_WORDS)})(?: [\w-]+)?(?=:))\b[,.:;]\s+",
    re.IGNORECASE,
)
"""The answer to the question, not a negation of the following text: "No, scaffolding of less than 90 days is
exempt"."""
_UNLISTED = re.compile(rf"\b(?:is|are){NOT} (?P<how>listed|named|mentioned|spelt out)\b", re.IGNORECASE)
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|be|been|has|have|had|will|can|must|may|should|do|does|did)\b")
_MIN_CLAUSE_WORDS = 3  # words with a meaning; a shorter clause is an aside ("as usual")
_MANY_CLAUSE_WORDS = 4
_MIN_PART_STEMS = 3  # stems of a part that is compared by itself
_MIN_COVERED = 0.7  # share of a part's stems in another sentence of the passage that it may be about
_MAX_CHANCE_SHARE = 0.25  # a passage with this many words may contain one or the other by chance
_ABOUT_ITSELF = """according accordance passage document guide handbook manual page section source text policy note
example general generally summary short case rule fact word answer question mentioned stated described following
provided information context addition particular important overall result therefore however furthermore moreover
additionally also finally usually typically"""
_EXCEPTION = re.compile(r"\b(?:unless|except|excepting|apart from|excluding) ([^,;:.()]+)", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:if|when|once|provided(?: that)?|(?:as|so) long as|in case of|outside(?: of)?"
    r"|only (?:on|for|in|with|after|by)|with the (?:consent|approval|permission) of) ([^,;:.()]+)",
    re.IGNORECASE,
)
_NOBODY_ELSE = re.compile(r"\b(?:nobody else|no[ -]?one else|none else|nothing else|no others?)\b", re.IGNORECASE)
# A condition that refers back: "if they do", "if needed".
_REFERENCE = re.compile(
    r"(?:it|they|you|we|that|this|these|those|none|nobody|no one|so|not)\b|(?:\w+ly )?\w+(?:ed|ble|ary|en)$",
    re.IGNORECASE,
)
_MIN_CONDITION_WORDS = 2  # words with a meaning; a shorter condition may refer back
_MIN_BEGINNING = 5  # letters that two words for the same may begin with
_FRAMING = frozenset(map(stem, _ABOUT_ITSELF.split()))
"""Stems of an answer's remarks about itself, which no passage has to support."""
_OTHER_NOUN = "noun of "
_NO_CURRENCY = "currency "
_ONLY = "scope 'only'"
_STRESSED = "scope 'only' as a stress"
_HALF_KNOWN = "condition "
_DENIED_ALIKE = "negation in other words"
_OPPOSITE = "against its opposite"
_MIN_ELSEWHERE_STEMS = 3  # stems that another unit about the same shares with the sentence
_MIN_ELSEWHERE_SHARE = 0.5  # of those that the nearest unit shares
_ALPHABETIC = re.compile(r"ok|[a-z]+(?:-[a-z]+)+")
_SITE_LINK = re.compile(r"\[([^\[\]\n]{2,100})\]\(https?://([\w.-]{1,250})", re.IGNORECASE)
_MISSING_KINDS = (
    _OTHER_NOUN,
    _NO_CURRENCY,
    _HALF_KNOWN,
    "number ",
    "name ",
    "identifier ",
    "clause ",
    "rate ",
    "scope ",
)
"""Beginnings of the reasons that a passage lacks something, without saying otherwise."""
_PUT_OTHERWISE = frozenset(map(repr, ("at least", "at most", "always", "all", "must", "optional", "exempt")))


def find_objection(sentence: str, passage: str) -> str:
    """Return why the passage cannot support the sentence; empty if nothing contradicts it, as for any quotation.

    Both are Markdown. Numbers, units, names and clauses may occur anywhere in the passage; a bound must occur with its
    number. Rates, scope, direction and negation are compared with the passage's sentences most similar to the sentence,
    or to each statement that it joins, and with the passage's clauses about the same. Words of the passage must not be
    exchanged, or stand in the place of others, and a number not be of another row of a table. A name also counts as
    present if it is abbreviated.
    """
    if is_quoted(sentence, passage):
        return ""
    said, source = read_visible(strip_links(sentence, passage)), read_visible(passage)
    soft = ""
    for found in _list_reasons(said, passage, source):
        reason = _compare_denials(said, passage, source) if found == "negation" else found
        if not is_soft(reason):
            return reason
        soft = soft or reason
    return soft


def _compare_denials(said: str, passage: str, source: str) -> str:
    """Return the objection to a sentence that seems to deny what the passage affirms, or the reverse: a soft one if the
    passage denies the same in other words, unless another objection is behind the negation.
    """
    statement = _strip_verdict(said, passage)
    if _is_foreign(statement, passage) or not is_denied_alike(statement, passage):
        return "negation"
    behind = _find_opposed_or_stressed(*(NEGATION.sub(" ", text) for text in (statement, passage, source)))
    return _DENIED_ALIKE if is_soft(behind) else behind


def is_soft(reason: str) -> bool:
    """Return whether a reason is empty, or names only a word that a passage may express otherwise: one of scope ("at
    most", "all"), the noun behind a number that the passage has, the currency of one if the passage names none, a
    denial that the passage makes in other words, or a condition of which the passage has half.

    "Only", "except" and "unless" are not among these: added to a true sentence they make it false. An "only" that may
    be a mere stress is.
    """
    return (
        reason in ("", _STRESSED, _DENIED_ALIKE)
        or reason.startswith((_OTHER_NOUN, _NO_CURRENCY, _HALF_KNOWN))
        or reason.removeprefix("scope ") in _PUT_OTHERWISE
    )


def is_contradiction(reason: str) -> bool:
    """Return whether a reason means that the passage says otherwise. A passage that only lacks something does not
    contradict: another one may have it.
    """
    return bool(reason) and not reason.startswith(_MISSING_KINDS)


def find_missing(said: str, source: str) -> str:
    """Return a number, identifier or name that the source does not contain, as `find_objection`; both as people read
    them.
    """
    number = find_missing_quantity(strip_reckoned_hours(strip_totals(said)), source)
    is_bare = bool(number) and is_bare_amount(number, source)
    if number and not is_bare:
        return f"number {number}"
    if counted := find_other_noun(said, source):
        return f"{_OTHER_NOUN}{counted}"
    if identifier := _find_missing_identifier(said, source):
        return f"identifier {identifier}"
    if name := find_missing_name(said, source):
        return f"name {name}"
    return f"{_NO_CURRENCY}{number}" if is_bare else ""


def _list_reasons(said: str, passage: str, source: str) -> Iterator[str]:
    """Yield all reasons, including empty ones; the quickest checks come first."""
    yield find_missing(strip_counts(_strip_linked_sites(said, passage), passage), source)
    statement = _strip_verdict(_strip_unlisted(said, source), passage)
    yield _find_opposed_or_stressed(statement, passage, source)
    yield "negation" if _has_denial(statement, passage) else ""
    word = find_opposed_clause(statement, passage)
    yield f"'{word}' against its opposite" if word else ""
    yield "" if _is_foreign(statement, passage) else find_turned_word(statement, passage)
    yield _find_unsupported_clause(said, source)
    yield _find_half_known_condition(said, source)
    things = find_exchanged(statement, source)
    yield f"{things} exchanged" if things else ""
    number = find_other_row(statement, passage)
    yield f"{number} from another row" if number else ""
    words = find_replaced(statement, passage)
    yield f"'{words}'" if words else ""


def _find_opposed_or_stressed(statement: str, passage: str, source: str) -> str:
    opposed = _find_opposed(statement, passage, source)
    return _STRESSED if opposed == _ONLY and _is_stressed(statement, source) else opposed


def _is_stressed(statement: str, source: str) -> bool:
    """Return whether an "only" may stress a statement without narrowing it: it stands within ("The run at 07:30 is only
    from June on"), or before one of the source's two sides of a bound ("Only up to 10 cm you carry on").

    "Only managers may open it" narrows.
    """
    return statement[:5].casefold() != "only " or has_other_side(statement, source)


def _strip_unlisted(said: str, source: str) -> str:
    """Return the sentence without what it says the source does not list, unless the source says of something whether
    it is listed.
    """
    return _UNLISTED.sub(lambda found: found[0] if found["how"].casefold() in source.casefold() else "", said)


def _strip_verdict(said: str, passage: str) -> str:
    """Return the sentence without the answer before it: "No, ...", "Two: ...", "Not always: ...".

    A number stays if the passage only has it elsewhere, and "not always" if the passage says "always" of the same:
    these are compared with the statement.
    """
    found = _VERDICT.match(said)
    if not found:
        return said
    statement = said[found.end() :]
    if _VERDICT.match(statement):  # "No, not yet: ..."
        return _strip_verdict(statement, passage)
    claim = found["number"] or found["manner"]
    if not claim or claim.casefold() not in passage.casefold():
        return statement
    nearest = [unit for unit in find_nearest_units(statement, passage) if claim.casefold() in unit.casefold()]
    is_claim = not nearest if found["number"] else not all(map(is_negated, nearest))
    return said if is_claim else statement


def _strip_linked_sites(said: str, passage: str) -> str:
    """Return the sentence without the names of sites that say only where a link of the passage leads: "the #help Slack
    channel" for "[#help](https://org.slack.com/archives/C04)".
    """
    hosts = [host for label, host in _list_site_links(passage) if label in said]
    for part in (part for host in hosts for part in re.split(r"[.-]", host) if len(part) > 2):
        name = rf"(?<!\w){re.escape(part)} (?=(?:channel|page|site|group|repository|repo|board|form|folder)\b)"
        said = re.sub(name, "", said, flags=re.IGNORECASE)
    return said


@lru_cache(maxsize=1_000)
def _list_site_links(passage: str) -> list[tuple[str, str]]:
    """Return label and host of each link, found once for all sentences that are compared with the passage."""
    return _SITE_LINK.findall(passage)


def _has_denial(statement: str, passage: str) -> bool:
    is_foreign = _is_foreign(statement, passage)
    return has_foreign_denial(statement, passage) if is_foreign else has_denied_clause(statement, passage)


def _is_foreign(said: str, passage: str) -> bool:
    """Return whether other rules of denial apply than those of English: "no" denies in Spanish, too."""
    return identify_shared_language(said, passage) != ENGLISH


def _find_opposed(statement: str, passage: str, source: str) -> str:
    """Return a rate, scope, direction or negation that differs from that of the most similar sentence."""
    opposed = _find_opposed_part(statement, passage, source)
    parts = split_statement(statement)
    if len(parts) == 1:
        return opposed
    # "Only managers ..." is said of the whole sentence, unless the passage says so of these managers elsewhere.
    if opposed == _ONLY and statement[:5].casefold() == "only ":
        subject = find_statement_stems(parts[0])
        return _find_opposed_part(parts[0], passage, source) if len(subject) >= _MIN_PART_STEMS else opposed
    # "Bake for 24 hours; at most twice": the passage may have two sentences, each similar to one part only
    nearest = find_statement_stems(find_nearest_unit(statement, passage))
    looked_at = [
        place
        for place, part in enumerate(parts)
        if opposed or (_is_covered_elsewhere(part, nearest, passage) and not (place == 0 and is_place(part)))
    ]
    return next(filter(None, (_find_opposed_in_turn(parts, place, passage, source) for place in looked_at)), "")


def _find_opposed_in_turn(parts: Sequence[str], place: int, passage: str, source: str) -> str:
    """Return the objection to the part of a sentence at index `place`.

    A part without a negation may continue an earlier one that has it: "You must not read logs, check graphs ...".
    """
    reason = _find_opposed_part(parts[place], passage, source)
    if reason == "negation" and any(map(is_negated, parts[:place])) and not is_negated(parts[place]):
        reason = _find_opposed_part(f"not {parts[place]}", passage, source)
    return reason


def _is_covered_elsewhere(part: str, nearest: frozenset[str], passage: str) -> bool:
    """Return whether a part of a sentence is about another sentence of the passage than the whole is.

    `nearest`: the stems of the passage's sentence nearest to the whole; it has fewer than half of the part's.
    """
    stems = find_statement_stems(part)
    own = find_statement_stems(find_nearest_unit(part, passage))
    if len(stems) < _MIN_PART_STEMS or 2 * len(stems & nearest) >= len(stems):
        return False
    return len(stems & own) >= _MIN_COVERED * len(stems)


def _find_opposed_part(said: str, passage: str, source: str) -> str:
    """Return an objection that all of the passage's most similar sentences raise."""
    if is_quoted(said, passage):
        return ""
    found = ""
    for nearest in find_nearest_units(said, passage):
        named = name_cells(nearest, find_column_names(nearest, passage))
        reason = _find_opposed_by(said, named, source)
        # "These need no clearance: ..." denies each entry of the list.
        if reason == "negation" and (lead_in := find_lead_in(nearest, passage)):
            reason = _find_opposed_by(said, f"{lead_in} {nearest}", source)
        if reason == "negation" and is_denied_elsewhere(said, passage):
            # Compared once more without the negations, behind which there may be another objection.
            reason = _find_opposed_by(NEGATION.sub(" ", said), NEGATION.sub(" ", nearest), source)
        if is_soft(reason):
            return reason
        found = found or reason
    return "" if not found or _is_said_elsewhere(found, said, passage, source) else found


def _is_said_elsewhere(reason: str, said: str, passage: str, source: str) -> bool:
    """Return whether another unit of the passage says what the sentence says in the point that the nearest ones lack:
    "only", a negation, a direction. It has words of the sentence that they lack, or they would be more exactly about
    the same.
    """
    mine, directions = find_statement_stems(said), find_directions(said).keys()
    units = list_units(passage)
    shared = [mine & stems for _, stems in units]
    most = max(map(len, shared), default=0)
    nearest_units = frozenset(find_nearest_units(said, passage))
    nearest = [some for (unit, _), some in zip(units, shared, strict=True) if unit in nearest_units]
    subject = _find_subject(said, frozenset().union(*nearest))
    for (unit, stems), some in zip(units, shared, strict=True):
        if len(some) < max(_MIN_ELSEWHERE_STEMS, _MIN_ELSEWHERE_SHARE * most) or any(some <= one for one in nearest):
            continue
        is_same = is_negated(unit) == is_negated(said) if reason == "negation" else reason.startswith("scope ")
        is_same |= reason.endswith(_OPPOSITE) and bool(directions & find_directions(unit).keys())
        about = len(subject & stems) >= _MIN_COVERED * len(subject)
        if is_same and about and is_soft(_find_opposed_by(said, unit, source)):
            return True
    return False


def _find_subject(said: str, known: frozenset[str]) -> frozenset[str]:
    """Return the stems of what a sentence is about, if it shows that: "Only managers ...", or the words before "may".

    `known`: the sentence's stems in the units nearest to it. Other words may stand for "you".
    """
    if said[:5].casefold() == "only ":
        return find_statement_stems(split_statement(said)[0])
    subject, *rest = _AUXILIARY.split(said, maxsplit=1)
    return find_statement_stems(subject) & known if rest else frozenset()


def _find_opposed_by(said: str, nearest: str, source: str) -> str:
    if rate := find_other_rate(said, nearest, source):
        return f"rate {rate}"
    found = find_scope_objection(said, nearest)
    found = "" if found == "negation" and _is_foreign(said, source) else found
    bound = (
        find_bound_objection(strip_idle_negations(said), strip_idle_negations(nearest), strip_idle_negations(source))
        if is_soft(found)
        else ""
    )
    return found if is_soft(bound) and found else bound


# -- identifiers ------------------------------------------------------------------------------------------------------


def _find_missing_identifier(said: str, source: str) -> str:
    there = find_identifiers(source)
    for name in sorted(find_identifiers(said) - there):
        # "ODTs" for "ODT", and the other way round.
        bare = name.removesuffix("s")
        if bare in there or f"{name}s" in there:
            continue
        if _has_name(bare, source) or _is_spelt_out(bare, source) or is_joined(name, said, source):
            continue
        if re.fullmatch(r"\d+[a-z%µ]{1,3}", name) or name in CURRENCY_CODES or is_rate(name):
            continue  # a quantity, compared as one
        if is_unit(name) and re.search(rf"\d ?{re.escape(name)}\b", said, re.IGNORECASE):
            continue
        # "CNCF-funded" for "funded by the CNCF", and "if you say it's OK"
        if _ALPHABETIC.fullmatch(name) and (name == "ok" or {*name.split("-")} <= list_words(source)):
            continue
        # "STDOUT/STDERR": either of two names
        if "/" in name.strip("/") and all(_has_name(part, source) for part in name.split("/") if part):
            continue
        return name
    return ""


def _has_name(name: str, source: str) -> bool:
    # Search the folded text first: usually the name is absent, and a pattern costs more.
    if name not in _fold_source(source):
        return False
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", source, re.IGNORECASE) is not None


@lru_cache(maxsize=2_000)
def _fold_source(source: str) -> str:
    return source.casefold()


def _is_spelt_out(abbreviation: str, source: str) -> bool:
    """Return whether consecutive words of the source begin with the abbreviation's letters ("ODT": on-die
    termination).
    """
    if not abbreviation.isalpha() or len(abbreviation) < 2:
        return False
    return any(abbreviation in initials for initials in _list_initials(source))


@lru_cache(maxsize=2_000)
def _list_initials(source: str) -> tuple[str, str]:
    """Return the first letters of all words, and of those that are no stop words."""
    every = fold_words(source)
    return "".join(word[0] for word in every), "".join(word[0] for word in every if word not in STOP_WORDS)


# -- clauses ----------------------------------------------------------------------------------------------------------


def _find_unsupported_clause(said: str, source: str) -> str:
    """Return a clause of three content words, or of two and an auxiliary, none of which the source has; or an exception
    of which the source lacks a half.
    """
    there = list_words(source)
    for exception in _EXCEPTION.findall(said):
        stems = _list_content(exception)
        if 2 * len(stems & there) <= len(stems) and not _is_abbreviated(exception, there):
            return f"clause '{exception.strip()}'"
    for condition in (CLAUSE.split(found)[0] for found in _CONDITION.findall(said)):
        stems = _list_content(condition)
        # "If needed", "if that fails": it refers back, and adds nothing.
        refers_back = len(stems) < _MIN_CONDITION_WORDS and _REFERENCE.match(condition)
        known = sum(_has_like(word, there) for word in stems)
        if stems and not refers_back and 2 * known < len(stems) and not _is_abbreviated(condition, there):
            return f"clause '{condition.strip()}'"
    # "Only these, and nobody else": the "only" is compared
    is_limited = re.search(r"\bonly\b", said, re.IGNORECASE) is not None
    for place, clause in enumerate(CLAUSE.split(said)):
        stems = _list_content(_NOBODY_ELSE.sub(" ", clause) if is_limited else clause)
        least = _MIN_CLAUSE_WORDS - bool(_AUXILIARY.search(clause))
        known = len(stems & there)
        added = place > 0 and len(stems) >= _MANY_CLAUSE_WORDS
        is_foreign = known <= _MAX_CHANCE_SHARE * len(stems) if added else not known
        if len(stems) >= least and is_foreign and not _is_abbreviated(clause, there):
            return f"clause '{clause.strip()}'"
    return ""


def _find_half_known_condition(said: str, source: str) -> str:
    """Return a condition of which the source has half of the words, so that it may have it in others."""
    there = list_words(source)
    for condition in (CLAUSE.split(found)[0] for found in _CONDITION.findall(said)):
        stems = _list_content(condition)
        refers_back = len(stems) < _MIN_CONDITION_WORDS and _REFERENCE.match(condition)
        if stems and not refers_back and 2 * sum(_has_like(word, there) for word in stems) == len(stems):
            return "" if _is_abbreviated(condition, there) else f"{_HALF_KNOWN}'{condition.strip()}'"
    return ""


def _has_like(word: str, there: frozenset[str]) -> bool:
    """Return whether the stems of a text have the word's, or one with the same beginning: "explicitly", "explicit";
    "failure", "fails".
    """
    if word in there or len(word) <= _MIN_BEGINNING:
        return word in there
    return word[: _MIN_BEGINNING - 1] in there or any(one.startswith(word[:_MIN_BEGINNING]) for one in there)


def _list_content(clause: str) -> set[str]:
    """Return the stems of a clause's statement about its subject."""
    return {stem(word) for word in fold_words(clause) if word not in STOP_WORDS and not is_unit(word)} - _FRAMING


def _is_abbreviated(clause: str, there: frozenset[str]) -> bool:
    """Return whether the source has the clause's initials ("the on-die termination": ODT)."""
    return any(len(initials) > 1 and initials in there for initials in _list_initials(clause))
