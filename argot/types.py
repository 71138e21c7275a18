"""The nouns of Argot, as frozen values. They do not read, write or compute beyond themselves.

Offsets are counted in characters (Python `str` indices) of a revision's Markdown. Pages, slides and sheets count
from 1. Boxes are in points (1/72 inch) with the origin in the top left corner of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from argot.document_names import listed_name_in, name_in

Audience = frozenset[str]
"""Readers of something: names of groups, or `@name` for one person. Empty: everyone."""

EVERYONE: Audience = frozenset()

MANAGERS = "managers"
"""Members of this group manage every context."""

THREAD = "thread:"
"""Prefix of the reader of a file that belongs to one conversation only. No group can have such a name."""


def is_of_thread(audience: Audience) -> bool:
    """Return whether a document belongs to one conversation. Even people who read everything do not find it
    elsewhere.
    """
    return any(token.startswith(THREAD) for token in audience)


LOCAL_NAME = "local"
"""The name of the local user: the command line, and the chat window of an unshared installation."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The person (or program) on whose behalf an action is done. Every read needs one.

    `manages` holds the names of the contexts whose senses this principal may change; `*` means all of them.
    """

    name: str
    groups: frozenset[str] = frozenset()
    sees_all: bool = False
    manages: frozenset[str] = frozenset()

    @property
    def tokens(self) -> frozenset[str]:
        """The tokens that grant this principal access: its groups and its own name as `@name`."""
        return self.groups | {f"@{self.name}"}

    def may_read(self, audience: Audience) -> bool:
        # Before `sees_all`, which does not open the files of conversations: only holders of their token may read them.
        if not audience or not audience.isdisjoint(self.tokens):
            return True
        return self.sees_all and not is_of_thread(audience)

    @property
    def manages_all(self) -> bool:
        """True if this principal may change the senses of every context, and create contexts."""
        return self.sees_all or "*" in self.manages or MANAGERS in self.groups

    @property
    def is_manager(self) -> bool:
        return self.manages_all or bool(self.manages)

    def may_manage(self, context: str) -> bool:
        """Return whether this principal may change the senses of the context with this name."""
        return self.manages_all or context in self.manages


# -- documents ------------------------------------------------------------------------------------------------------

PageKind = Literal["page", "slide", "sheet", "scanned page", "hardly legible page", "line"]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on one page of the original, in points from the top left corner."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class PageMark:
    """The page, slide or sheet of the text from this offset of the Markdown on."""

    start: int
    number: int
    kind: PageKind


@dataclass(frozen=True, slots=True)
class BoxMark:
    """The location in the original of the characters [start, end) of the Markdown."""

    start: int
    end: int
    box: Box


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of one revision: a figure, a chart, a photograph.

    Attributes:
        number: from 1, in the order of the document.
        start: its place in the revision's Markdown: where its caption or its words begin, else where it stands.
        label: as its caption has it ("Figure 3"), else "Picture" and its number. Parts of one figure share it.
        alternative: the text that its author gave for those who do not see it.
        words: the text that was read in it.
        page, page_kind: where it stands, if the document has pages; `box`: its place on that page.
        media_type, width, height, size: those of the copy that is shown; pixels and bytes.
        content_hash: of the copy's bytes, by which they are stored.
    """

    number: int
    start: int
    label: str
    content_hash: str
    media_type: str
    width: int
    height: int
    size: int
    caption: str = ""
    alternative: str = ""
    words: str = ""
    page: int | None = None
    page_kind: PageKind | None = None
    box: Box | None = None

    @property
    def place(self) -> str:
        """Its label and page, such as "Figure 3, page 12"."""
        return self.label if self.page is None else f"{self.label}, {self.page_kind or 'page'} {self.page}"


@dataclass(frozen=True, slots=True, order=True)
class DocumentField:
    """A property of a document as a whole: its author, status, region. `name` is in lower case; names may repeat."""

    name: str
    value: str


TAG = "tag"
"""The name of the fields for a file's own labels, tags or keywords."""
LANGUAGE = "language"
"""The name of the field for the language of a document, whose value is the language's English name."""


@dataclass(frozen=True, slots=True)
class QuestionScope:
    """The documents to which a question is limited. An empty scope means all.

    Attributes:
        tags: the documents have one of these.
        since: an ISO date (2025, 2025-03 or 2025-03-01): the documents are dated then or later.
        fields: the documents have each of these; if a name repeats, one of its values.
    """

    tags: tuple[str, ...] = ()
    since: str = ""
    fields: tuple[DocumentField, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tags or self.since or self.fields)


ALL_DOCUMENTS = QuestionScope()


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """The result of reading a file: Markdown that keeps headings, lists and tables, and the position of everything in
    the original. `picture_data`: the bytes of its pictures, by their hashes.
    """

    title: str
    markdown: str
    media_type: str
    pages: tuple[PageMark, ...] = ()
    boxes: tuple[BoxMark, ...] = ()
    date: str | None = None
    warnings: tuple[str, ...] = ()
    fields: tuple[DocumentField, ...] = ()
    pictures: tuple[Picture, ...] = ()
    picture_data: Mapping[str, bytes] = field(default_factory=dict)


def distinct_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return each tag once, sorted: "Winter" and "winter" are one, and the first spelling is kept."""
    first: dict[str, str] = {}
    for tag in tags:
        first.setdefault(tag.casefold(), tag)
    return tuple(sorted(first.values()))


@dataclass(frozen=True, slots=True)
class Document:
    """A source, in its newest revision. `id` depends only on its first URI, `revision_id` also on the content.

    `date` is its own: when it was last revised, else created. `fields`: its other properties, by name. `warnings`: the
    parts that could not be read, or hardly, in words for people.
    """

    id: str
    uri: str
    title: str
    media_type: str
    revision_id: str
    content_hash: str
    added_at: str
    date: str | None = None
    tags: tuple[str, ...] = ()
    audience: Audience = EVERYONE
    passages: int = 0
    size: int = 0
    fields: tuple[DocumentField, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return name_in(self.uri)

    @property
    def listed_name(self) -> str:
        """Its name among others; for a file in an archive with the archive's."""
        return listed_name_in(self.uri)

    @property
    def all_tags(self) -> tuple[str, ...]:
        """The tags given to it, and those in its file."""
        return distinct_tags((*self.tags, *self.values(TAG)))

    def values(self, name: str) -> tuple[str, ...]:
        """Return the values of its fields of this name."""
        return tuple(field.value for field in self.fields if field.name == name)


@dataclass(frozen=True, slots=True)
class Passage:
    """A contextual unit of one revision: what is retrieved, read and cited (AccurateRAG 2.1).

    `text` is the Markdown slice [start, end). `header` is "title > heading > path (page n)". The id depends on
    revision and span, never on an embedder. `language`: as in ISO 639-1; empty: unknown.
    """

    id: str
    document_id: str
    revision_id: str
    ordinal: int
    start: int
    end: int
    text: str
    header: str
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    page_kind: PageKind | None = None
    boxes: tuple[Box, ...] = ()
    language: str = ""

    @property
    def heading(self) -> str:
        return " > ".join(self.heading_path)

    @property
    def with_columns(self) -> str:
        """The text; if it begins within a table, preceded by the row that names the columns."""
        columns = self.header.partition("\n")[2]
        return f"{columns}\n{self.text}" if columns else self.text

    @property
    def with_header(self) -> str:
        return f"{self.header}\n{self.text}" if self.header else self.text


DerivedKind = Literal["summary", "expert_summary", "question", "description", "picture"]
DerivableKind = Literal["triple", "expert_summary", "summary", "question", "description", "picture"]
"""Texts that a model can derive from a passage, in the order in which they are derived. A `picture` is a description of
a picture in it, which takes a vision model; the others take a language model."""
PICTURE: Literal["picture"] = "picture"
Effort = Literal["quick", "normal", "thorough"]
"""The cost that an answer may have, in calls of a language model and searches."""
SearchChoice = Literal["passages", "S", "Q", "SQ", "S+", "Q+", "U"]
"""Search targets, as RAIDD 2.2 names them: summaries (S), questions (Q), both (SQ); with "+" beside the passages
themselves; U: all three."""


@dataclass(frozen=True, slots=True)
class DerivedText:
    """A text derived from passages and searched instead of them (RAIDD 2.1; Golden-Retriever 3.1).

    `picture`: the number of the picture in the document that it describes.
    """

    id: str
    kind: DerivedKind
    text: str
    passage_ids: tuple[str, ...]
    prompt: str = ""
    model: str = ""
    picture: int | None = None


@dataclass(frozen=True, slots=True)
class Triple:
    """(source, action, target): the tool, the user's intention, and its object (KaPQA 5, step 1)."""

    id: str
    source: str
    action: str
    target: str
    passage_id: str

    @property
    def text(self) -> str:
        return f"{self.source} {self.action} {self.target}"


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found by a search, best first. `found_by` names the lists it came from, with its rank in each."""

    passage: Passage
    document: Document
    score: float
    found_by: Mapping[str, int] = field(default_factory=dict)


# -- jargon ---------------------------------------------------------------------------------------------------------

SenseStatus = Literal["draft", "approved", "retired"]


@dataclass(frozen=True, slots=True)
class Context:
    """A team, product or field in which terms have their meaning (Golden-Retriever 3.3).

    `version` increases with every save.
    """

    id: int
    name: str
    description: str = ""
    contact: str = ""
    audience: Audience = EVERYONE
    version: int = 1


LabelStatus = Literal["preferred", "admitted", "deprecated", "forbidden"]
RelationKind = Literal["broader", "narrower", "related", "see also"]
LABEL_STATUSES: tuple[LabelStatus, ...] = get_args(LabelStatus)
RELATION_KINDS: tuple[RelationKind, ...] = get_args(RelationKind)


@dataclass(frozen=True, slots=True)
class Label:
    """One name of a sense, with a terminologist's notes about it (ISO 30042: a term section).

    Attributes:
        text: the sense's term, its expansion or one of its aliases.
        language: as in BCP 47, in lower case ("de", "pt-br"); empty: unknown.
        part_of_speech, gender: as the source has them: "noun", "feminine".
        kind: the type of the name, as in TBX: "abbreviation", "acronym", "fullForm".
    """

    text: str
    status: LabelStatus = "admitted"
    language: str = ""
    part_of_speech: str = ""
    gender: str = ""
    kind: str = ""

    @property
    def is_usable(self) -> bool:
        """True if the name may be used: it is neither deprecated nor forbidden."""
        return self.status in ("preferred", "admitted")


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation to another term, by its name; an empty `context` is that of the sense which has the relation."""

    kind: RelationKind
    term: str
    context: str = ""


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of a term in one context. The expansion may be empty if there is a description.

    `version` counts its changes from 1: a caller that saves one names the version they saw. `review_by` is an ISO date.

    Attributes:
        labels: the names of which more is known than `all_labels` assumes.
        source: the address or citation from which the description was taken.
        concept: the identifier of the concept in the program that it came from; senses that share it are one concept.
    """

    id: int
    term: str
    context: str
    expansion: str
    description: str = ""
    notes: str = ""
    aliases: tuple[str, ...] = ()
    owner: str = ""
    status: SenseStatus = "approved"
    audience: Audience = EVERYONE
    version: int = 1
    review_by: str | None = None
    labels: tuple[Label, ...] = ()
    relations: tuple[Relation, ...] = ()
    source: str = ""
    example: str = ""
    concept: str = ""

    @property
    def full_name(self) -> str:
        """The term spelt out; the term itself if it stands for nothing."""
        return self.expansion or self.term

    @property
    def meaning(self) -> str:
        """The expansion, else the description."""
        return self.expansion or self.description or self.term

    @property
    def all_labels(self) -> tuple[Label, ...]:
        """Every name once: by default term and expansion are preferred, aliases are admitted."""
        known = {label.text: label for label in self.labels}
        main = [name for name in (self.term, self.expansion) if name]
        names = dict.fromkeys((*main, *self.aliases))
        return tuple(known.get(name) or Label(name, "preferred" if name in main else "admitted") for name in names)

    @property
    def usable_names(self) -> tuple[Label, ...]:
        """The names beside term and expansion that may be used."""
        others = (label for label in self.all_labels if label.text not in (self.term, self.expansion))
        return tuple(label for label in others if label.is_usable)

    @property
    def avoided_names(self) -> tuple[Label, ...]:
        """The names that are deprecated or forbidden."""
        return tuple(label for label in self.all_labels if not label.is_usable)

    @property
    def preferred(self) -> str:
        """The name to use instead of a deprecated or forbidden one; empty if none is left."""
        ranked = sorted(self.all_labels, key=lambda label: label.status != "preferred")
        return next((label.text for label in ranked if label.is_usable), "")


@dataclass(frozen=True, slots=True)
class Mention:
    """A jargon term in a question: question[start:end] == surface.

    `term` is the glossary's spelling if the glossary has it, else None. `match` is how it was recognised. `explained`
    is the meaning that the question itself states, as in "SLA (stereolithography)".
    """

    surface: str
    start: int
    end: int
    term: str | None = None
    match: Literal["exact", "variant", "misspelt", "shape", "model"] = "exact"
    explained: str = ""


@dataclass(frozen=True, slots=True)
class ContextScore:
    """The fit of a context to a question; scores of one question add up to at most 1."""

    context: str
    score: float


@dataclass(frozen=True, slots=True)
class ReadTerm:
    """The reading of one mention: the chosen sense, and the confidence of the choice (0 to 1, a margin)."""

    mention: Mention
    sense: Sense
    margin: float = 1.0
    chosen_by: str = "only sense"


# -- turns ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Turn:
    """One finished exchange of a thread, reduced to the fields that a follow-up question needs."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class MatchedSegment:
    """Sentences [first, last] of an answer, both inclusive and from 0, and the passage they rest on.

    `passage` is an index into the given passages; `score` is the scorer's, in [0, 1].
    """

    first: int
    last: int
    passage: int
    score: float
