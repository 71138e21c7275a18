"""What a manager should know before a sense is saved, and what stands against what in the whole glossary.

One set of rules for both: they look at groups of senses that share a key. Only senses one may read are ever looked at,
so a warning never tells of a hidden one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal, NamedTuple

from argot.jargon_db.base import Store
from argot.jargon_db.inputs import SenseInput, clean_aliases
from argot.jargon_db.normalise import normalise
from argot.jargon_db.rows import keys_json, may_read, readable, sense_of
from argot.jargon_db.words import is_ordinary_word
from argot.types import Principal, Sense

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

_LIVE = """
SELECT senses.id, terms.spelling, terms.key, contexts.name, contexts.key, senses.expansion, senses.owner,
       senses.review_by, senses.audience, contexts.audience
FROM senses JOIN terms ON terms.id = senses.term JOIN contexts ON contexts.id = senses.context
WHERE NOT senses.removed AND senses.status <> 'retired' ORDER BY terms.key, contexts.key, senses.id
"""
_ALIASES = "SELECT sense, spelling, key FROM aliases ORDER BY sense, place"
_RELATED = """
SELECT * FROM sense_rows
WHERE status <> 'retired' AND id IN (
    SELECT senses.id FROM json_each(:keys) AS wanted JOIN terms ON terms.key = json_extract(wanted.value, '$[2]')
        JOIN senses ON senses.term = terms.id
    UNION SELECT aliases.sense FROM json_each(:keys) AS wanted
        JOIN aliases ON aliases.key = json_extract(wanted.value, '$[2]')
) ORDER BY key, context_key, id
"""
_MANY = 5
_MOST_SHOWN = 200
"""Characters of an expansion that a message shows; it may have 10,000."""
_WORST_FIRST: dict[WarningKind, int] = {
    "conflicting_expansion": 0,
    "duplicate": 1,
    "alias_collides": 2,
    "review_due": 3,
    "same_elsewhere": 4,
    "expansion_is_term": 5,
}
"""What is worth acting on later; the other kinds say something while one writes, and harm nothing once it is saved."""


@dataclass(frozen=True, slots=True)
class SenseWarning:
    """One thing to look at, and the ids of the stored senses it is about."""

    kind: WarningKind
    message: str
    senses: tuple[int, ...] = ()


class _Entry(NamedTuple):
    """What a sense's conflicts depend on, with the keys that are stored: `aliases` are (spelling, key)."""

    id: int
    term: str
    key: str
    context: str
    context_key: str
    expansion: str
    owner: str
    review_by: str | None
    aliases: Sequence[tuple[str, str]]


class Conflicts(Store):
    """The part of `Glossary` that warns."""

    def warnings(self, principal: Principal, given: SenseInput, sense_id: int | None = None) -> list[SenseWarning]:
        """What speaks against saving this, as a new sense or in the place of `sense_id`. It need not be complete."""
        one = _entry(_as_sense(given, sense_id or 0))
        keys = [key for key in dict.fromkeys((one.key, *(key for _, key in one.aliases))) if key]
        rows = self._select(_RELATED, keys=keys_json([(0, 0, key) for key in keys]))
        others = [_entry(sense_of(row)) for row in readable(rows, principal) if row["id"] != one.id]
        found = [*_grouped([*others, one]), *_alone(one)]
        return [_without(warning, 0) for warning in found if one.id in warning.senses]

    def found_conflicts(self, principal: Principal, today: str) -> list[SenseWarning]:
        """What stands against what over every draft and approved sense, and the senses whose review is due by `today`:
        the worst first, and only what somebody can act on. A term may well be an ordinary word, or have an alias that
        does nothing.
        """
        senses = self._live(principal)
        singly = (warning for sense in senses for warning in (*_alone(sense), *_due(sense, today)))
        found = (warning for warning in (*_grouped(senses), *singly) if warning.kind in _WORST_FIRST)
        return sorted(found, key=lambda warning: _WORST_FIRST[warning.kind])

    def _live(self, principal: Principal) -> list[_Entry]:
        reader = self._connections.reader()
        aliases: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
        for sense, spelling, key in reader.execute(_ALIASES):
            aliases[sense].append((spelling, key))
        passes = cache(partial(may_read, principal))
        return [_Entry._make((*row[:8], aliases.get(row[0], ()))) for row in reader.execute(_LIVE) if passes(*row[8:])]


def _entry(sense: Sense) -> _Entry:
    aliases = [(alias, normalise(alias)) for alias in sense.aliases]
    keys = (sense.term, normalise(sense.term), sense.context, normalise(sense.context))
    return _Entry(sense.id, *keys, sense.expansion, sense.owner, sense.review_by, aliases)


def _as_sense(given: SenseInput, number: int) -> Sense:
    return Sense(
        number,
        given.term.strip(),
        given.context.strip(),
        given.expansion.strip(),
        aliases=clean_aliases(given.aliases or ()),
    )


def _without(warning: SenseWarning, number: int) -> SenseWarning:
    return SenseWarning(warning.kind, warning.message, tuple(one for one in warning.senses if one != number))


def _grouped(senses: Iterable[_Entry]) -> Iterator[SenseWarning]:
    by_term: defaultdict[str, list[_Entry]] = defaultdict(list)
    by_alias: defaultdict[str, list[_Entry]] = defaultdict(list)
    for sense in senses:
        by_term[sense.key].append(sense)
        for key in dict.fromkeys(key for _, key in sense.aliases):
            by_alias[key].append(sense)
    for key, group in by_term.items():
        if key and len(group) > 1:
            yield from _of_one_term(group)
    for key, holders in by_alias.items():
        if len(holders) > 1 or key in by_term:
            yield from _of_one_alias(key, holders, by_term.get(key, []))


def _of_one_term(group: list[_Entry]) -> Iterator[SenseWarning]:
    term = group[0].term
    by_context: defaultdict[str, list[_Entry]] = defaultdict(list)
    by_meaning: defaultdict[str, list[_Entry]] = defaultdict(list)
    for sense in group:
        by_context[sense.context_key].append(sense)
        by_meaning[normalise(sense.expansion)].append(sense)
    for alike in by_context.values():
        meanings = list(dict.fromkeys(normalise(sense.expansion) for sense in alike))
        for meaning in meanings:
            same = [sense for sense in alike if normalise(sense.expansion) == meaning]
            if len(same) > 1:
                message = (
                    f"'{term}' has the meaning {_quoted(same[0].expansion)} {len(same)} times in '{same[0].context}'."
                )
                yield SenseWarning("duplicate", message, _ids(same))
        if len(meanings) > 1:
            message = f"'{term}' means several things in '{alike[0].context}': {_listed(s.expansion for s in alike)}."
            yield SenseWarning("conflicting_expansion", message, _ids(alike))
    for meaning, alike in by_meaning.items():
        if meaning and len({sense.context_key for sense in alike}) > 1:
            contexts = _listed(sense.context for sense in alike)
            message = f"'{term}' means {_quoted(alike[0].expansion)} in several contexts: {contexts}."
            yield SenseWarning("same_elsewhere", message, _ids(alike))


def _of_one_alias(key: str, holders: list[_Entry], terms: list[_Entry]) -> Iterator[SenseWarning]:
    others = [sense for sense in terms if any(holder.key != key for holder in holders)]
    told = {holder.key for holder in holders if holder.key != key}
    if not others and len(told) < 2:
        return
    alias = next(one for one, its_key in holders[0].aliases if its_key == key)
    names = _listed(sense.term for sense in holders)
    if others:
        message = f"'{alias}' is an alias of {names}, and a term itself: it leads to both."
    else:
        message = f"'{alias}' is an alias of several terms: {names}."
    yield SenseWarning("alias_collides", message, _ids([*holders, *others]))


def _alone(sense: _Entry) -> Iterator[SenseWarning]:
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
    """Whether a text may have this key: a look at one letter, which is enough for nearly all."""
    return not (text.isascii() and text.isprintable()) or text.lstrip()[:1].lower() == key[:1]


def _due(sense: _Entry, today: str) -> Iterator[SenseWarning]:
    if sense.review_by is not None and sense.review_by <= today:
        whose = f" by {sense.owner}" if sense.owner else ""
        message = f"'{sense.term}' in '{sense.context}' was to be reviewed{whose} until {sense.review_by}."
        yield SenseWarning("review_due", message, (sense.id,))


def _ids(senses: Iterable[_Entry]) -> tuple[int, ...]:
    return tuple(sorted({sense.id for sense in senses}))


def _listed(names: Iterable[str]) -> str:
    each = [_quoted(name) for name in dict.fromkeys(names)]
    return ", ".join(each[:_MANY]) + (f" and {len(each) - _MANY} more" if len(each) > _MANY else "")


def _quoted(name: str) -> str:
    return f"'{name if len(name) <= _MOST_SHOWN else name[:_MOST_SHOWN] + '...'}'"
