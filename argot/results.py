"""The result of a question: the JSON of `argot ask --json`, of the API and of the evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from argot.types import Effort, PageKind

Status = Literal["answered", "abstained", "query_miss", "needs_choice", "small_talk"]
"""`small_talk`: the message asked nothing of the documents (a greeting, thanks, "who are you?"), and nothing was
searched."""

AnsweredBy = Literal["model", "extractive", "person"]
WRITTEN_BY: tuple[AnsweredBy, ...] = ("model", "person")
"""Those who write an answer in words of their own, instead of quoting."""

STOPPED_MESSAGE = "This question was stopped before it was answered. Ask it again to have it answered."
"""The answer of a turn that never ended. Its status is "abstained"."""

NO_ANSWER = "No passage answers this for sure."
"""The first words of a refusal: passages that could matter may follow."""

ASK_FOR_DOCUMENTS = "What documents do you have?"
"""A question that every knowledge base answers, offered where its documents suggest none."""

MAX_NEAREST_PASSAGES = 3
"""Number of passages that are shown if there is no answer."""

MIN_NEAREST_SCORE = 0.15
"""Least score of a passage that is shown if there is no answer: one below it could hardly matter."""

WEAK_MATCH = "The closest passage, perhaps not what you mean:"
"""Line above a quoted answer that rests on weak evidence."""


# A misspelt field fails where the result is built, and not in a client's JSON.
class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Citation(_Frozen):
    """A passage that supports a sentence. `span` is [start, end) in the revision's Markdown, in characters."""

    n: int = Field(description="the number shown to people; equals the passage's n")
    passage_id: str
    document: str
    revision: str
    page: int | None
    heading: str
    span: tuple[int, int]
    score: float
    page_kind: PageKind | None = Field(None, description="what `page` counts, as it was read: also a scanned page")
    cell: int | None = Field(None, description="the column, from 0, if it supports one cell of a table row")


class Sentence(_Frozen):
    """One sentence of the answer. An unsupported sentence has no citation; neither has one from the glossary, nor one
    that states only what the passages lack.
    """

    text: str
    supported: bool
    checked: bool = Field(True, description="false: no passage was looked for that supports it (match_references off)")
    citations: list[Citation] = []
    sense_id: int = Field(0, description="the sense of the glossary that it states; 0: it rests on passages")

    @property
    def lacks_support(self) -> bool:
        """True if passages were compared and none supports it."""
        return self.checked and not self.supported

    @property
    def cited(self) -> list[int]:
        """The numbers of the passages it rests on, each once, in order."""
        return sorted({citation.n for citation in self.citations})


class AnswerContext(_Frozen):
    """The text that surrounds a quoted answer in its passage: shown muted, and no part of the answer."""

    n: int = Field(description="the number of the passage")
    passage_id: str
    text: str = Field(description="Markdown, with the answer in it")
    spans: list[tuple[int, int]] = Field([], description="[start, end) of the answer in the text, in characters")


MAX_DESCRIPTION_CHARS = 120
"""Characters of a description beside an answer or a choice; glossaries have descriptions of a hundred words."""


def shorten_description(description: str) -> str:
    """Return a description up to `MAX_DESCRIPTION_CHARS`, cut between words."""
    return shorten(description, MAX_DESCRIPTION_CHARS, placeholder=" …")


class Jargon(_Frozen):
    """The meaning that was chosen for one term of the question. `sense_id` 0: the meaning that the question itself
    explains.
    """

    term: str
    surface: str
    context: str
    expansion: str
    description: str = ""
    notes: str = ""
    sense_id: int = 0

    @property
    def label(self) -> str:
        """The term as it was asked, with the glossary's term if that is spelt differently."""
        same = self.surface.casefold() == self.term.casefold()
        return self.surface if same else f"{self.surface} → {self.term}"

    @property
    def meaning(self) -> str:
        """The expansion, else the beginning of the description, else the term."""
        return self.expansion or shorten_description(self.description) or self.term


class MissedTerm(_Frozen):
    """An undefined term, with suggestions and the person to ask."""

    term: str
    suggestions: list[str] = []
    contact: str = ""


class Choice(_Frozen):
    """One thing the asker may choose at an interrupt. `answer` is the value to send back."""

    answer: str
    term: str
    context: str = ""
    expansion: str = ""
    description: str = ""


class FoundPicture(_Frozen):
    """A picture in a passage."""

    address: str = Field(description="the path at this service that returns it, to those who may read its document")
    label: str = Field(description="as its caption has it, and its page: Figure 3, page 12")
    caption: str = ""
    alternative: str = Field("", description="the text that its author gave for those who do not see it")
    description: str = Field("", description="by a vision model, where one has described it")


TOOL_RESULT = "mcp:"
"""Prefix of the URI of a tool's result, which no document has."""


class ToolSource(_Frozen):
    """The tool of another server whose result is a source, and when it was called (an ISO time)."""

    server: str
    tool: str
    at: str


class FoundPassage(_Frozen):
    """A passage the answer could use. The list is best first; `n` follows the order of citation."""

    n: int
    passage_id: str
    document: str
    uri: str
    page: int | None
    heading: str
    text: str
    score: float
    found_by: dict[str, int] = {}
    date: str | None = Field(None, description="of its document: when it was last revised, as it says itself")
    page_kind: PageKind | None = Field(None, description="what `page` counts, as it was read: also a scanned page")
    freshness: str = Field(
        "",
        description="how fresh its document is, and for which place it holds where others have its title",
    )
    excerpt: str = Field("", description="its words nearest to the question, where it is shown instead of an answer")
    pictures: list[FoundPicture] = Field([], description="the pictures that stand in it")
    tool: ToolSource | None = Field(
        None, description="another server's tool, if this is of its result; then `document` names no document"
    )
    folder: str = Field(
        "", description="as many folders of its document as tell it from others of this name among the passages"
    )

    @property
    def name(self) -> str:
        """The document's name, with its folder where another document has the same."""
        return f"{self.folder}/{self.document}" if self.folder else self.document


def select_nearest(passages: Sequence[FoundPassage]) -> list[FoundPassage]:
    """Return the best passages that could matter if none answers."""
    return [one for one in passages[:MAX_NEAREST_PASSAGES] if one.score >= MIN_NEAREST_SCORE]


class ToolCall(_Frozen):
    """One call of a tool while a thorough answer was researched."""

    tool: str
    text: str = Field(description="what it searched for, opened or looked up; empty if the asker may not see it")
    found: int = Field(0, description="passages, documents or senses")
    server: str = Field("", description="the other server whose tool was called; empty: it is a tool of Argot")
    fault: str = Field("", description="why the other server gave no result, such as timeout; empty: it did")


class ModelCall(_Frozen):
    """One call to a language model."""

    prompt: str
    seconds: float
    first_token_seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    failed: str = Field("", description="what went wrong, in one clause; empty: nothing")


class Verification(_Frozen):
    """The verification of an answer: by whom, and when. `id`: its number among the verified answers."""

    id: int
    by: str = Field(description="the person's name; empty: they have none")
    at: str = Field(description="ISO, UTC")


class AskResult(_Frozen):
    """The complete result of one question."""

    question: str
    stand_alone_question: str
    status: Status
    thread: str
    turn: int = Field(0, description="its place in the thread, from 0")
    answer: str
    is_weak: bool = Field(False, description="the evidence of a quoted answer is weak: it may be about something else")
    answered_by: AnsweredBy = Field(
        "extractive", description="a language model, a person who verified it, or nobody (quotations)"
    )
    verified: Verification | None = Field(None, description="an owner of its documents or terms verified this answer")
    model: str = Field("", description="the language model that was asked, as its server calls it; empty: none was")
    sentences: list[Sentence] = []
    answer_context: list[AnswerContext] = Field([], description="what surrounds a quoted answer in its passages")
    jargon: list[Jargon] = []
    context: str | None = None
    misses: list[MissedTerm] = []
    choices: list[Choice] = []
    notes: list[str] = Field([], description="what the asker should know of how the question was read")
    augmented_question: str = ""
    search_queries: list[str] = []
    searched_again: list[list[str]] = Field(
        [],
        description="the other queries of each further search, made because the answer was not found before; "
        "without any, the model read the next passages",
    )
    effort: Effort = Field("normal", description="quick, normal or thorough, as asked")
    plan: list[str] = Field([], description="the sub-questions of a thorough answer")
    tool_calls: list[ToolCall] = Field([], description="the tools that were called for them, in order")
    triples: list[tuple[str, str, str]] = []
    passages: list[FoundPassage] = []
    examples: list[str] = Field([], description="questions the documents answer, offered with small talk")
    profile: str = Field("", description="the profile it was answered with")
    tags: list[str] = Field([], description="only documents with one of these tags were searched; empty: all")
    since: str = Field("", description="only documents dated then or later were searched; empty: all")
    fields: dict[str, list[str]] = Field({}, description="only documents with these fields were searched; empty: all")
    timings: dict[str, float] = Field({}, description="seconds, by stage")
    model_calls: list[ModelCall] = []

    @property
    def cited_passages(self) -> list[FoundPassage]:
        """The passages that sentences rest on, in the order of their numbers."""
        cited = {n for sentence in self.sentences for n in sentence.cited}
        return sorted((passage for passage in self.passages if passage.n in cited), key=lambda one: one.n)

    @property
    def caution(self) -> str:
        """The line above a quoted answer that rests on weak evidence; else empty."""
        return WEAK_MATCH if self.is_weak else ""

    @property
    def nearest_passages(self) -> list[FoundPassage]:
        """The passages that could matter, if there is no answer; none for a stopped question."""
        # A stopped question has no result, and passages below it would look like one.
        is_ended = self.status == "abstained" and self.answer != STOPPED_MESSAGE
        return select_nearest(self.passages) if is_ended else []

    def list_marks(self) -> list[list[int]]:
        """Return the numbers to show behind each sentence. Sentences of a paragraph, list or table with the same
        numbers show them once, behind the last one.
        """
        gaps = self._list_gaps()
        marks = []
        for place, one in enumerate(self.sentences):
            goes_on = (
                place + 1 < len(self.sentences)
                and self.sentences[place + 1].cited == one.cited
                and ("\n\n" not in gaps[place + 1] or one.text.rstrip().endswith(":"))
            )
            marks.append([] if goes_on else one.cited)
        return marks

    def _list_gaps(self) -> list[str]:
        """Return the text before each sentence in the answer."""
        gaps, end = [], 0
        for one in self.sentences:
            at = self.answer.find(one.text, end)
            gaps.append(self.answer[end:at] if at >= 0 else " ")
            end = at + len(one.text) if at >= 0 else end
        return gaps


@dataclass(frozen=True, slots=True)
class AskEvent:
    """One event while a question is answered.

    - `stage`: the stage `name` began (`seconds` is None, `data` empty) or ended (`data`: its findings, one clause). A
      stage that asks the asker begins again when it is answered. `model_seconds` of its time were spent waiting for the
      language model.
    - `step`: sub-question number `name` of a thorough answer, in `data`; sent again, with what was found, once it is
      settled.
    - `token`: `data` is a piece of the answer, to be joined without separators. The `result` is final: an answer
      without support is retracted there, and a model's marks ("[2]") are provisional until then.
    - `retract`: every piece sent so far is taken back; others may follow (a model's stream broke off).
    - `result`: `data` is the `AskResult`. It is always the last event.
    """

    kind: Literal["stage", "step", "token", "retract", "result"]
    name: str = ""
    seconds: float | None = None
    data: str | AskResult = ""
    model_seconds: float = 0.0
