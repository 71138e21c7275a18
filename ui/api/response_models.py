"""Response models for the OpenAPI document. More fields may be added; those named here stay."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from argot.results import AskResult
from argot.types import Document, Sense


class Shown(BaseModel):
    """An object of the API; the description of its use case names its fields."""

    # Use cases may return more fields than are named here, and generated clients must accept them.
    model_config = ConfigDict(extra="allow")


class ThreadShown(Shown):
    """A conversation. Times are in UTC, ISO 8601."""

    id: str
    title: str
    created_at: str
    updated_at: str


class FeedbackShown(Shown):
    """A judgement of the answer of a turn, counted from 0."""

    thread: str
    turn: int
    value: int
    comment: str
    at: str


class ThreadRead(ThreadShown):
    """A conversation with its turns, as far as its owner may still see them; the last one may be `waiting` for a
    choice.
    """

    turns: list[AskResult]
    waiting: bool
    feedback: list[FeedbackShown]


class PassageShown(Shown):
    """A passage; [start, end) are characters of the revision's Markdown."""

    id: str
    document_id: str
    revision_id: str
    start: int
    end: int
    text: str
    heading: str
    # None: a format without pages or sheets.
    page: int | None
    document: str
    uri: str


class DocumentShown(Shown):
    """A document with its passages."""

    document: Document
    passages: list[PassageShown]


class SourceShown(Shown):
    """The Markdown of a document's newest revision."""

    document: Document
    markdown: str


class TermShown(Shown):
    """All senses of a term, and those that have it as an alias."""

    term: str
    senses: list[Sense]
    alias_of: list[Sense]


class MemberShown(Shown):
    """The outcome of a file: added, updated, unchanged, or duplicate (its content is there under another name)."""

    kind: str
    name: str
    detail: str
    document: Document | None


class UploadShown(MemberShown):
    """The outcome of an upload; `files` are the first of those in an archive, each of which may also be skipped or
    failed; `unlisted` says how many more there are.
    """

    files: list[MemberShown]
    notices: list[str]
    unlisted: int


class Me(Shown):
    """The owner of a key."""

    name: str
    display_name: str
    role: str
    groups: list[str]
    manages: list[str]
