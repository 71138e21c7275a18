"""The input of callers and files about a sense, checked before anything is stored."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, get_args

from argot.errors import InvalidInput
from argot.jargon_db.lookup.normalise import normalise
from argot.types import LABEL_STATUSES, RELATION_KINDS, Audience, Label, Relation, SenseStatus

MAX_TERM_CHARS = 200
MAX_EXPANSION_CHARS = 10_000
_LIMITS = {"expansion": MAX_EXPANSION_CHARS, "context": MAX_TERM_CHARS, "owner": MAX_TERM_CHARS}
_MAX_SHOWN_CHARS = 80
_BLANK = "".join(char for char in map(chr, range(0x3001)) if char.isspace()) + "\ufeff\u200b\u2060"
"""Characters that show nothing: white space, and those that copied text brings along."""
STATUSES: tuple[SenseStatus, ...] = get_args(SenseStatus)
_GIVEN_FIELDS = (
    "description", "notes", "aliases", "owner", "status", "audience", "review_by", "labels", "relations", "source",
    "example", "concept",
)  # fmt: skip


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
    labels: tuple[Label, ...] | None = None
    relations: tuple[Relation, ...] | None = None
    source: str | None = None
    example: str | None = None
    concept: str | None = None


class ExtraFields(TypedDict, total=False):
    """Fields of a sense that few callers give. None: nothing said."""

    notes: str | None
    aliases: Sequence[str] | None
    owner: str | None
    audience: Audience | None
    review_by: str | None
    labels: Sequence[Label] | None
    relations: Sequence[Relation] | None
    source: str | None
    example: str | None


class SenseFields(ExtraFields, total=False):
    term: str | None
    context: str | None
    expansion: str | None
    description: str | None


def set_fields(sense_input: SenseInput, fields: ExtraFields) -> SenseInput:
    """Return the input with those fields that are given."""
    changes: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    return replace(sense_input, **changes)


def check_input(sense_input: SenseInput) -> SenseInput:
    """Return the input, trimmed.

    Raises:
        InvalidInput: term or expansion is empty, the term is too long, or a text cannot be stored.
    """
    problems = find_problems(sense_input)
    if problems:
        raise InvalidInput(
            f"Nothing was stored for the term {sense_input.term!r}: {'; '.join(text for _, text in problems)}."
        )
    return trim(sense_input)


def trim(sense_input: SenseInput) -> SenseInput:
    """Return an input without problems, as it is stored. A label that is no name yet becomes an alias."""
    term, expansion = clean_name(sense_input.term), clean_name(sense_input.expansion)
    aliases = sense_input.aliases
    if sense_input.labels:
        others = (one.text for one in sense_input.labels if clean_name(one.text) not in (term, expansion))
        aliases = (*(aliases or ()), *others)
    kept = None if aliases is None else clean_aliases(aliases)
    return SenseInput(
        term,
        clean_name(sense_input.context),
        expansion,
        sense_input.description,
        sense_input.notes,
        kept,
        sense_input.owner,
        sense_input.status,
        sense_input.audience,
        sense_input.review_by,
        None if sense_input.labels is None else _clean_labels(sense_input.labels, (term, expansion), kept or ()),
        None if sense_input.relations is None else tuple(dict.fromkeys(sense_input.relations)),
        sense_input.source,
        sense_input.example,
        sense_input.concept,
    )


def _clean_labels(labels: Iterable[Label], main: tuple[str, str], aliases: tuple[str, ...]) -> tuple[Label, ...]:
    """Return the labels that say more than `Sense.all_labels` assumes of their names, in the order of the names."""
    found: dict[str, Label] = {}
    for label in labels:
        text = clean_name(label.text)
        default = Label(text, "preferred" if text in main else "admitted")
        if replace(label, text=text) != default:
            found.setdefault(text, replace(label, text=text))
    return tuple(found[name] for name in dict.fromkeys((*main, *aliases)) if name in found)


def find_problems(sense_input: SenseInput) -> list[tuple[str, str]]:
    """Return (column, problem and remedy) for each field that cannot be stored."""
    return [] if _is_plainly_good(sense_input) else _find_problems(sense_input)


def _is_plainly_good(sense_input: SenseInput) -> bool:
    # Fast path for the usual case: an import of 100,000 senses checks each twice.
    short = (sense_input.term, sense_input.context, sense_input.owner or "", *(sense_input.aliases or ()))
    # Rare in imports; the slow path names the problem.
    if sense_input.audience or sense_input.review_by or max(map(len, short)) > MAX_TERM_CHARS:
        return False
    if (
        (sense_input.status is not None and sense_input.status not in STATUSES)
        or sense_input.labels
        or sense_input.relations
    ):
        return False
    if not (normalise(sense_input.term) and is_context_name(sense_input.context) and _has_meaning(sense_input)):
        return False
    others = (sense_input.notes or "", sense_input.source or "", sense_input.example or "", sense_input.concept or "")
    text = "".join((*short, sense_input.expansion, sense_input.description or "", *others))
    return len(sense_input.expansion) <= MAX_EXPANSION_CHARS and is_storable(text)


def _find_problems(sense_input: SenseInput) -> list[tuple[str, str]]:
    problems = []
    if not normalise(sense_input.term):
        problems.append(("term", "the term is empty; give the word or abbreviation to be explained"))
    elif len(sense_input.term.strip()) > MAX_TERM_CHARS:
        size = len(sense_input.term.strip())
        problems.append(
            ("term", f"the term has {size} characters; shorten it to {MAX_TERM_CHARS} and describe it instead")
        )
    if not _has_meaning(sense_input):
        remedy = "say what it stands for, or describe it"
        problems.append(
            ("expansion", f"{sense_input.term.strip()!r} has neither an expansion nor a description; {remedy}")
        )
    if not normalise(sense_input.context):
        problems.append(("context", "the context is empty; name the team or field the term belongs to"))
    elif not is_context_name(sense_input.context):
        problems.append(("context", "'*' stands for every context; name the team or field the term belongs to"))
    for name in ("term", "context", "expansion", "description", "notes", "owner", "source", "example", "concept"):
        problems += _check_text(name, getattr(sense_input, name) or "")
    return problems + _check_others(sense_input)


def _has_meaning(sense_input: SenseInput) -> bool:
    return bool(sense_input.expansion.strip() or (sense_input.description or "").strip())


def _check_text(name: str, text: str) -> list[tuple[str, str]]:
    problems = []
    if len(text) > _LIMITS.get(name, len(text)):
        problems.append((name, f"it has {len(text):,} characters; shorten it to {_LIMITS[name]:,}"))
    if not is_storable(text):
        problems.append((name, "it holds half of a surrogate pair, which is no character; type it again"))
    return problems


def _check_others(sense_input: SenseInput) -> list[tuple[str, str]]:
    problems = []
    for alias in sense_input.aliases or ():
        if len(alias.strip()) > MAX_TERM_CHARS:
            problems.append(("aliases", f"an alias has {len(alias)} characters; shorten it to {MAX_TERM_CHARS}"))
        if not is_storable(alias):
            problems.append(("aliases", "an alias holds half of a surrogate pair, which is no character"))
    if sense_input.status is not None and sense_input.status not in STATUSES:
        problems.append(("status", f"unknown status {_shorten(sense_input.status)}. Statuses: {', '.join(STATUSES)}"))
    if sense_input.review_by and not is_date(sense_input.review_by):
        problems.append(("review_by", f"invalid date {sense_input.review_by!r}; write it like 2027-01-31"))
    problems += [("labels", problem) for label in sense_input.labels or () if (problem := _check_label(label))]
    for relation in sense_input.relations or ():
        if relation.kind not in RELATION_KINDS:
            kinds = ", ".join(RELATION_KINDS)
            problems.append(("relations", f"unknown relation {_shorten(relation.kind)}. Relations: {kinds}"))
        elif not normalise(relation.term) or max(len(relation.term), len(relation.context)) > MAX_TERM_CHARS:
            problems.append(
                ("relations", f"{_shorten(relation.term)} is no term; name one of 1 to {MAX_TERM_CHARS} characters")
            )
        elif not is_storable(relation.term + relation.context):
            problems.append(("relations", "a relation holds half of a surrogate pair, which is no character"))
    if not all(map(is_storable, sense_input.audience or ())):
        problems.append(("audience", "a group holds half of a surrogate pair, which is no character"))
    return problems


def _check_label(label: Label) -> str:
    """Return what is wrong with a label; empty: nothing."""
    if label.status not in LABEL_STATUSES:
        return f"unknown status {_shorten(label.status)} of a label. Statuses: {', '.join(LABEL_STATUSES)}"
    if not normalise(label.text) or len(label.text.strip()) > MAX_EXPANSION_CHARS:
        return f"{_shorten(label.text)} is no label; give a name of 1 to {MAX_EXPANSION_CHARS:,} characters"
    if max(map(len, (label.language, label.part_of_speech, label.gender, label.kind))) > MAX_TERM_CHARS:
        return f"a property of the label {_shorten(label.text)} is too long; shorten it to {MAX_TERM_CHARS} characters"
    texts = (label.text, label.language, label.part_of_speech, label.gender, label.kind)
    return "" if all(map(is_storable, texts)) else "a label holds half of a surrogate pair, which is no character"


def _shorten(text: str) -> str:
    return f"'{text if len(text) <= _MAX_SHOWN_CHARS else text[:_MAX_SHOWN_CHARS] + '...'}'"


def clean_aliases(aliases: Sequence[str]) -> tuple[str, ...]:
    """Return them trimmed, without empty ones and duplicates, in their order."""
    return tuple(dict.fromkeys(clean_name(alias) for alias in aliases if normalise(alias)))


def clean_name(text: str) -> str:
    """Return a name with single spaces and nothing invisible around it: two that look alike are one."""
    return " ".join(text.strip(_BLANK).split())


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


def list_given_fields(sense_input: SenseInput) -> dict[str, Any]:
    """Return the given fields other than term, context and expansion."""
    found = {name: value for name in _GIVEN_FIELDS if (value := getattr(sense_input, name)) is not None}
    if "review_by" in found:
        # Missing fields are left out above; an empty one removes the date.
        found["review_by"] = found["review_by"] or None
    return found
