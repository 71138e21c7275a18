"""The input of callers and files about a sense, checked before anything is stored."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, get_args

from argot.errors import InvalidInput
from argot.jargon_db.lookup.normalise import normalise
from argot.types import Audience, SenseStatus

MAX_TERM_CHARS = 200
MAX_EXPANSION_CHARS = 10_000
_LIMITS = {"expansion": MAX_EXPANSION_CHARS, "context": MAX_TERM_CHARS, "owner": MAX_TERM_CHARS}
_MAX_SHOWN_CHARS = 80
STATUSES: tuple[SenseStatus, ...] = get_args(SenseStatus)


@dataclass(frozen=True, slots=True)
class SenseInput:
    """A caller's or file row's input about one sense. `None` leaves an existing value unchanged.

    An empty `review_by` removes the review date.
    """

    term: str
    context: str
    expansion: str
    description: str | None = None
    notes: str | None = None
    aliases: tuple[str, ...] | None = None
    owner: str | None = None
    status: SenseStatus | None = None
    audience: Audience | None = None
    review_by: str | None = None


class ExtraFields(TypedDict, total=False):
    """Fields of a sense that few callers give. None: nothing said."""

    notes: str | None
    aliases: Sequence[str] | None
    owner: str | None
    audience: Audience | None
    review_by: str | None


class SenseFields(ExtraFields, total=False):
    term: str | None
    context: str | None
    expansion: str | None
    description: str | None


def set_fields(given: SenseInput, fields: ExtraFields) -> SenseInput:
    """Return the input with those fields that are given."""
    changes: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    return replace(given, **changes)


def check_input(given: SenseInput) -> SenseInput:
    """Return the input, trimmed.

    Raises:
        InvalidInput: term or expansion is empty, the term is too long, or a text cannot be stored.
    """
    problems = find_problems(given)
    if problems:
        raise InvalidInput(
            f"Nothing was stored for the term {given.term!r}: {'; '.join(text for _, text in problems)}."
        )
    return trim(given)


def trim(given: SenseInput) -> SenseInput:
    """Return an input without problems, as it is stored."""
    return SenseInput(
        given.term.strip(),
        given.context.strip(),
        given.expansion.strip(),
        given.description,
        given.notes,
        None if given.aliases is None else clean_aliases(given.aliases),
        given.owner,
        given.status,
        given.audience,
        given.review_by,
    )


def find_problems(given: SenseInput) -> list[tuple[str, str]]:
    """Return (column, problem and remedy) for each field that cannot be stored."""
    return [] if _is_plainly_good(given) else _find_problems(given)


def _is_plainly_good(given: SenseInput) -> bool:
    # Fast path for the usual case: an import of 100,000 senses checks each twice.
    short = (given.term, given.context, given.owner or "", *(given.aliases or ()))
    # Rare in imports; the slow path names the problem.
    if given.audience or given.review_by or max(map(len, short)) > MAX_TERM_CHARS:
        return False
    if given.status is not None and given.status not in STATUSES:
        return False
    if not (normalise(given.term) and is_context_name(given.context) and given.expansion.strip()):
        return False
    text = "".join((*short, given.expansion, given.description or "", given.notes or ""))
    return len(given.expansion) <= MAX_EXPANSION_CHARS and is_storable(text)


def _find_problems(given: SenseInput) -> list[tuple[str, str]]:
    problems = []
    if not normalise(given.term):
        problems.append(("term", "the term is empty; give the word or abbreviation to be explained"))
    elif len(given.term.strip()) > MAX_TERM_CHARS:
        size = len(given.term.strip())
        problems.append(
            ("term", f"the term has {size} characters; shorten it to {MAX_TERM_CHARS} and describe it instead")
        )
    if not given.expansion.strip():
        problems.append(("expansion", f"the expansion of {given.term.strip()!r} is empty; say what it stands for"))
    if not normalise(given.context):
        problems.append(("context", "the context is empty; name the team or field the term belongs to"))
    elif not is_context_name(given.context):
        problems.append(("context", "'*' stands for every context; name the team or field the term belongs to"))
    for name in ("term", "context", "expansion", "description", "notes", "owner"):
        problems += _check_text(name, getattr(given, name) or "")
    return problems + _check_others(given)


def _check_text(name: str, text: str) -> list[tuple[str, str]]:
    problems = []
    if len(text) > _LIMITS.get(name, len(text)):
        problems.append((name, f"it has {len(text):,} characters; shorten it to {_LIMITS[name]:,}"))
    if not is_storable(text):
        problems.append((name, "it holds half of a surrogate pair, which is no character; type it again"))
    return problems


def _check_others(given: SenseInput) -> list[tuple[str, str]]:
    problems = []
    for alias in given.aliases or ():
        if len(alias.strip()) > MAX_TERM_CHARS:
            problems.append(("aliases", f"an alias has {len(alias)} characters; shorten it to {MAX_TERM_CHARS}"))
        if not is_storable(alias):
            problems.append(("aliases", "an alias holds half of a surrogate pair, which is no character"))
    if given.status is not None and given.status not in STATUSES:
        problems.append(("status", f"unknown status {_shorten(given.status)}. Statuses: {', '.join(STATUSES)}"))
    if given.review_by and not is_date(given.review_by):
        problems.append(("review_by", f"invalid date {given.review_by!r}; write it like 2027-01-31"))
    if not all(map(is_storable, given.audience or ())):
        problems.append(("audience", "a group holds half of a surrogate pair, which is no character"))
    return problems


def _shorten(text: str) -> str:
    return f"'{text if len(text) <= _MAX_SHOWN_CHARS else text[:_MAX_SHOWN_CHARS] + '...'}'"


def clean_aliases(aliases: Sequence[str]) -> tuple[str, ...]:
    """Return them trimmed, without empty ones and duplicates, in their order."""
    return tuple(dict.fromkeys(alias.strip() for alias in aliases if normalise(alias)))


def join_texts(texts: Iterable[str]) -> str:
    """Return several notes as one, separated by an empty line, without duplicates."""
    return "\n\n".join(dict.fromkeys(text for text in texts if text.strip()))


def is_storable(text: str) -> bool:
    # ASCII first: that check needs no loop over the characters.
    return not any("\ud800" <= char <= "\udfff" for char in text) if not text.isascii() else True


def is_date(text: str) -> bool:
    """Return whether it is a date as the glossary writes them: 2027-01-31."""
    try:
        # Converted back: Python also reads "20270131" and "2027-W05-1", which would not sort with the others.
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def is_context_name(name: str) -> bool:
    """Return whether a context may have this name. `*` means every context in lists of rights."""
    return bool(normalise(name)) and name.strip() != "*"


def normalise_context(name: str) -> str:
    return normalise(name)


def list_given_fields(given: SenseInput) -> dict[str, Any]:
    """Return the given fields other than term, context and expansion."""
    names = ("description", "notes", "aliases", "owner", "status", "audience", "review_by")
    found = {name: value for name in names if (value := getattr(given, name)) is not None}
    if "review_by" in found:
        # Missing fields are left out above; an empty one removes the date.
        found["review_by"] = found["review_by"] or None
    return found
