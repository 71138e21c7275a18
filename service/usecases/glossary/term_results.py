"""Terms as everybody reads them: approved meanings, who looks after each, and the sentence that defines it."""

from __future__ import annotations

from dataclasses import dataclass, field

from argot.types import PageKind, Sense


@dataclass(frozen=True, slots=True)
class DefiningSentence:
    """The words of a document that state a meaning, and where they are."""

    text: str
    passage_id: str
    document_id: str
    document: str
    heading: str
    page: int | None
    page_kind: PageKind | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeaningShown(Sense):
    """An approved sense, and the contact of its context, who looks after it.

    `definition`: where a document says so; None: no document that the reader may read does, or it was not looked for.
    """

    contact: str = ""
    definition: DefiningSentence | None = None


@dataclass(frozen=True, slots=True)
class ListedTerm:
    """A term in the list, with its meanings."""

    term: str
    meanings: list[MeaningShown]


@dataclass(frozen=True, slots=True)
class TermListing:
    """One page of the list of terms.

    `initials`: those with which terms begin; empty for a search. `next`: the `after` of the next page; empty: there is
    none. `similar`: if nothing was found, terms that may have been meant.
    """

    terms: list[ListedTerm]
    initials: list[str]
    next: str = ""
    similar: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RelatedTerm:
    """Another term: its meaning names the term, or is named in it."""

    term: str
    expansion: str


@dataclass(frozen=True, slots=True)
class TermEntry:
    """A term in the glossary's spelling with its meanings; a meaning with another `term` has this one as a name.

    `related`: terms to read next. `similar`: if it is unknown, terms that may have been meant.
    """

    term: str
    meanings: list[MeaningShown]
    related: list[RelatedTerm]
    similar: list[str]
