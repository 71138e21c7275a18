"""The rules by which senses conflict: each examines a group of senses that share a key.

The rules see only the senses passed to them, so that a warning never reveals another one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.lookup.ordinary_words import is_ordinary_word
from argot.types import Sense

WarningKind = Literal[
    "duplicate",
    "conflicting_expansion",
    "same_elsewhere",
    "alias_collides",
    "ordinary_word",
    "expansion_is_term",
    "alias_is_term",
    "review_due",
]

_MAX_LISTED = 5
_MAX_NAME_CHARS = 200
"""Maximum characters of an expansion in a message; it may have 10,000."""
_WORST_FIRST: dict[WarningKind, int] = {
    "conflicting_expansion": 0,
    "duplicate": 1,
    "alias_collides": 2,
    "review_due": 3,
    "same_elsewhere": 4,
    "expansion_is_term": 5,
}
"""Kinds that need action later; the others are hints while writing, and harmless once saved."""


@dataclass(frozen=True, slots=True)
class SenseWarning:
    """One problem to review, and the ids of the stored senses concerned."""

    kind: WarningKind
    message: str
    senses: tuple[int, ...] = ()


class ConflictEntry(NamedTuple):
    """The parts of a sense that its conflicts depend on, with the stored keys: `aliases` are (spelling, key)."""

    id: int
    term: str
    key: str
    context: str
    context_key: str
    expansion: str
    owner: str
    review_by: str | None
    aliases: Sequence[tuple[str, str]]


def find_conflicts_of(one: ConflictEntry, others: Iterable[ConflictEntry]) -> list[SenseWarning]:
    """Return the warnings about a sense compared with these others."""
    return [warning for warning in (*_check_groups([*others, one]), *_check_sense(one)) if one.id in warning.senses]


def find_conflicts_among(senses: Sequence[ConflictEntry], today: str) -> list[SenseWarning]:
    """Return the conflicts among these, and the senses with a review due by `today`: the worst first, and only
    actionable ones. A term may well be an ordinary word, or have an alias without effect.
    """
    singly = (warning for sense in senses for warning in (*_check_sense(sense), *_check_review(sense, today)))
    found = (warning for warning in (*_check_groups(senses), *singly) if warning.kind in _WORST_FIRST)
    return sorted(found, key=lambda warning: _WORST_FIRST[warning.kind])


def build_entry(sense: Sense) -> ConflictEntry:
    aliases = [(alias, normalise(alias)) for alias in sense.aliases]
    keys = (sense.term, normalise(sense.term), sense.context, normalise(sense.context))
    return ConflictEntry(sense.id, *keys, sense.expansion, sense.owner, sense.review_by, aliases)


def _check_groups(senses: Iterable[ConflictEntry]) -> Iterator[SenseWarning]:
    by_term: defaultdict[str, list[ConflictEntry]] = defaultdict(list)
    by_alias: defaultdict[str, list[ConflictEntry]] = defaultdict(list)
    for sense in senses:
        by_term[sense.key].append(sense)
        # Each key once: "P.U.C." and "PUC" as aliases of one sense are no collision.
        for key in dict.fromkeys(key for _, key in sense.aliases):
            by_alias[key].append(sense)
    for key, group in by_term.items():
        if key and len(group) > 1:
            yield from _check_term(group)
    for key, holders in by_alias.items():
        if len(holders) > 1 or key in by_term:
            yield from _check_alias(key, holders, by_term.get(key, []))


def _check_term(group: list[ConflictEntry]) -> Iterator[SenseWarning]:
    term = group[0].term
    by_context: defaultdict[str, list[ConflictEntry]] = defaultdict(list)
    by_meaning: defaultdict[str, list[ConflictEntry]] = defaultdict(list)
    for sense in group:
        by_context[sense.context_key].append(sense)
        by_meaning[normalise(sense.expansion)].append(sense)
    for alike in by_context.values():
        meanings = list(dict.fromkeys(normalise(sense.expansion) for sense in alike))
        for meaning in meanings:
            same = [sense for sense in alike if normalise(sense.expansion) == meaning]
            if len(same) > 1:
                message = (
                    f"'{term}' has the meaning {_quote(same[0].expansion)} {len(same)} times in '{same[0].context}'."
                )
                yield SenseWarning("duplicate", message, _list_ids(same))
        if len(meanings) > 1:
            message = (
                f"'{term}' means several things in '{alike[0].context}': {_join_names(s.expansion for s in alike)}."
            )
            yield SenseWarning("conflicting_expansion", message, _list_ids(alike))
    for meaning, alike in by_meaning.items():
        # Two drafts without an expansion do not agree.
        if meaning and len({sense.context_key for sense in alike}) > 1:
            contexts = _join_names(sense.context for sense in alike)
            message = f"'{term}' means {_quote(alike[0].expansion)} in several contexts: {contexts}."
            yield SenseWarning("same_elsewhere", message, _list_ids(alike))


def _check_alias(key: str, holders: list[ConflictEntry], terms: list[ConflictEntry]) -> Iterator[SenseWarning]:
    # A term that is an alias of itself is reported under "alias_is_term".
    others = [sense for sense in terms if any(holder.key != key for holder in holders)]
    told = {holder.key for holder in holders if holder.key != key}
    # Several senses of one term may share an alias.
    if not others and len(told) < 2:
        return
    alias = next(one for one, its_key in holders[0].aliases if its_key == key)
    names = _join_names(sense.term for sense in holders)
    if others:
        message = f"'{alias}' is an alias of {names}, and a term itself: it leads to both."
    else:
        message = f"'{alias}' is an alias of several terms: {names}."
    yield SenseWarning("alias_collides", message, _list_ids([*holders, *others]))


def _check_sense(sense: ConflictEntry) -> Iterator[SenseWarning]:
    key = sense.key
    if key and " " not in key and is_ordinary_word(key):
        how = (
            "it is only recognised in capitals"
            if sense.term.isupper()
            else "questions that mean the word will meet it too"
        )
        yield SenseWarning("ordinary_word", f"'{sense.term}' is an ordinary English word: {how}.", (sense.id,))
    if key and _may_be(sense.expansion, key) and normalise(sense.expansion) == key:
        yield SenseWarning("expansion_is_term", f"The expansion of '{sense.term}' says no more than it.", (sense.id,))
    if key and (own := next((spelling for spelling, alias in sense.aliases if alias == key), None)) is not None:
        if is_ordinary_word(key) and own != sense.term:
            message = f"With the alias '{own}', the ordinary word is read as '{sense.term}' where it is written so."
        else:
            message = f"'{sense.term}' is its own alias; spellings like it are recognised anyway."
        yield SenseWarning("alias_is_term", message, (sense.id,))


def _may_be(text: str, key: str) -> bool:
    # The first letter distinguishes nearly all; normalising each expansion of a large glossary would take much longer.
    return not (text.isascii() and text.isprintable()) or text.lstrip()[:1].lower() == key[:1]


def _check_review(sense: ConflictEntry, today: str) -> Iterator[SenseWarning]:
    if sense.review_by is not None and sense.review_by <= today:
        whose = f" by {sense.owner}" if sense.owner else ""
        message = f"'{sense.term}' in '{sense.context}' was to be reviewed{whose} until {sense.review_by}."
        yield SenseWarning("review_due", message, (sense.id,))


def _list_ids(senses: Iterable[ConflictEntry]) -> tuple[int, ...]:
    return tuple(sorted({sense.id for sense in senses}))


def _join_names(names: Iterable[str]) -> str:
    each = [_quote(name) for name in dict.fromkeys(names)]
    return ", ".join(each[:_MAX_LISTED]) + (f" and {len(each) - _MAX_LISTED} more" if len(each) > _MAX_LISTED else "")


def _quote(name: str) -> str:
    return f"'{name if len(name) <= _MAX_NAME_CHARS else name[:_MAX_NAME_CHARS] + '...'}'"
