"""State of a thread and of one turn: ids and short texts, in plain types only.

Passages, senses and triples are kept by id and read through the stores, which check access, whenever they are shown
(only the result of another server's tool is kept as text, for its asker alone: `argot.graph.tool_results`). A person
who loses access therefore loses it in resumed threads too. The few texts made from them (the augmented question, the
queries, the sentences of the answer) are shown only while the reader may see everything they rest on
(`argot.graph.presentation.turn_view`).

The asker's words arrive as `asked`. The first node moves the finished turn into `turns` and begins an empty one, so
that a turn never sees values of an earlier one.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from argot.graph.checkpoints.thread_history import append_turn
from argot.results import AnsweredBy, Status
from argot.tools.reading.chitchat import SmallTalk
from argot.types import Effort

MAX_QUESTIONS_BACK = 3
"""Number of clarifying questions in one turn; after them the best guess is used and marked as one."""


MAX_SEARCHES_AGAIN = 2
"""Number of times that one turn may search in other words."""


class MentionRecord(TypedDict):
    """`argot.types.Mention` in plain types."""

    surface: str
    start: int
    end: int
    term: str | None
    match: str
    explained: str


class ReadingRecord(TypedDict):
    """The sense that a mention was read in. `settled` False marks a guess.

    `sense` 0 marks a sense that the question itself explains, or that the documents spell out; `meaning` holds their
    words.

    `rivals` are the other senses that were nearly as likely, each with the ratio of its probability to that of the
    chosen one.
    """

    mention: int
    term: str
    sense: int
    margin: float
    chosen_by: str
    settled: bool
    rivals: list[tuple[int, float]]
    meaning: NotRequired[str]


class OpenTerm(TypedDict):
    """A term with several senses that fit about equally well, best first. The asker has to choose."""

    mention: int
    term: str
    senses: list[int]


class DoubtRecord(TypedDict):
    """A doubtful term: the documents bear out none of these senses, or a model alone took the word for a term."""

    term: str
    surface: str
    senses: list[int]


class SubjectRecord(TypedDict):
    """A thing that the question names ambiguously, and the documents or sections it may mean.

    `phrase` is the asker's wording, "our wireless router"; `noun` the part under which it is remembered, "router".
    `offered` lists them best first: each by one of its passages (id), and the index of the one of its `names` that
    distinguishes it. `chosen` is an index into `offered`; None: the asker has yet to choose, or accepted any.
    """

    phrase: str
    noun: str
    offered: list[tuple[str, int]]
    chosen: int | None


class QueryMissRecord(TypedDict):
    """An undefined term. `mention` is its first position; `suggestions` are spellings of known terms."""

    mention: int
    term: str
    suggestions: list[str]


class HitRecord(TypedDict):
    """A passage found, by id. `found_by` maps each result list that contains it to its rank there."""

    id: str
    score: float
    found_by: dict[str, int]


class CitationRecord(TypedDict):
    """The passage that a sentence rests on. [start, end) are characters of the revision's Markdown.

    `cell`: the column, from 0, if it bears out one cell of a table row.
    """

    passage: str
    start: int
    end: int
    score: float
    cell: NotRequired[int]


class SentenceRecord(TypedDict):
    """One sentence of the answer. `gap` is the white space before it.

    `remark`: it needs no passage, since it states only what the passages lack. `partly`: no passage supports at least
    one cell of this table row.
    """

    gap: str
    text: str
    citations: list[CitationRecord]
    remark: NotRequired[bool]
    partly: NotRequired[bool]


class PlanPart(TypedDict):
    """A sub-question of a thorough answer. `passages` (ids): those that answer it, best first, once it is settled."""

    question: str
    passages: list[str]
    is_settled: bool


class ToolCallRecord(TypedDict):
    """A call of a tool for the sub-question `part`, with what it found by id: passages, documents or senses.

    `is_told`: a note shows the asker its texts, because all names in them are in the question or its plan. `fault`:
    why another server gave no result; empty: it gave one.
    """

    part: int
    tool: str
    first: str
    second: str
    found: list[str]
    is_told: NotRequired[bool]
    fault: NotRequired[str]


class ToolResultRecord(TypedDict):
    """The result of a tool of another server, called at `at` (an ISO time). No store has it, so its text is kept here.

    Each of its `pieces` counts as a passage. Only the `asker` may see them, while they are in one of the `groups` that
    may use the server (empty: everybody).
    """

    id: str
    server: str
    tool: str
    at: str
    pieces: list[str]
    asker: str
    groups: list[str]


class VerifiedRecord(TypedDict):
    """A verified answer, as it was at a moment (ISO, UTC): it may be verified again later, with other words."""

    id: int
    at: str


# Not total, because a node writes some of its keys (`node_frame.StateUpdate`); `make_empty_turn` has them all.
class TurnPart(TypedDict, total=False):
    """The values gathered for one question. Begins empty at START.

    Threads outlive versions: a stored turn surely has only `question`, `stand_alone_question`, `mentions`, `contexts`,
    `readings`, `open_terms`, `unknown`, `misses`, `picked`, `let_be`, `asked_back`, `look_again`, `augmented_question`,
    `search_queries`, `triples`, `hits`, `evidence`, `enough_evidence`, `draft`, `sentences`, `withheld` and `status`.
    All other keys are read with a default, and so are `model` and `trouble` of the `State`.

    Attributes:
        number: index of the turn in the thread, from 0; it does not change when older turns are dropped.
        corrected: misspelt words of the question, each with the word that it was read as.
        rejected: the senses (ids) that are not meant, if the asker wants the last question read in another sense.
        replaced: no sentence of the model was supported, and a quotation replaced them.
        unchecked: the sentences were not matched with passages, because the profile says so.
        unwritten: no answer was to be written, because the profile says so.
        quotable: the evidence is enough for an answer in quotations, without a model's judgement; None: not judged yet.
        unnamed: part numbers and names of the question that no document has, and terms that only the glossary has.
        numbered_parts: the parts that the question names by a printed number ("clause 2.2"), as passage (id), start and
            end in its text.
        missing_parts: such names that occur in no document near the question.
        unanswered: those of a message's questions for which no passage is relevant.
        repeated: the follow-up, if the documents answer it only with the last answer again.
        defined: the senses (ids) whose meaning was asked for; the answer begins with them.
        small_talk: its kind, if nothing was asked.
        examples: passages (ids) that answer an example question, in a reply to small talk.
        recalled: the questions of the conversation that were asked for.
        open_subject: the ambiguous subject about which the asker has to choose.
        subject: the subject as it was chosen, in this turn or before.
        files: revisions of the conversation's files at that time.
        whole: the documents (ids) among them that were asked about as a whole.
        scope: the only documents (ids) searched; empty: all.
        tags, since, fields: the scope of the question (`argot.types.QuestionScope`).
        by_words_alone: vector search was unavailable.
        other_queries: the queries to search for next, after a search that did not find the answer; the question itself
            if only the next passages are read.
        searched_again: the other queries of each such search so far.
        titled: the documents (ids) whose titles a model was given to propose them.
        read: the passages found before the last such search; of a thorough answer those gathered so far.
        is_written: an answer was written, or refused, from the passages in `read`.
        lacking: the sentences of the draft that say what the passages do not tell.
        effort: as in the profile.
        plan, tool_calls: the sub-questions and calls of a thorough answer.
        tool_results: the results of other servers' tools, which `may_ask_servers` allows.
        tool_tokens: the model's tokens for the calls.
        compared: the things that the question compares.
        verified: the verified answer that was given, if one was.
    """

    number: int
    question: str
    stand_alone_question: str
    corrected: list[tuple[str, str]]
    rejected: list[int]
    mentions: list[MentionRecord]
    contexts: list[tuple[str, float]]
    readings: list[ReadingRecord]
    open_terms: list[OpenTerm]
    doubted: list[DoubtRecord]
    unknown: list[QueryMissRecord]
    misses: list[QueryMissRecord]
    picked: dict[str, int]
    let_be: list[str]
    asked_back: int
    look_again: bool
    augmented_question: str
    search_queries: list[tuple[str, float]]
    triples: list[str]
    hits: list[HitRecord]
    evidence: float
    enough_evidence: bool
    quotable: bool | None
    unnamed: list[str]
    numbered_parts: list[tuple[str, int, int]]
    missing_parts: list[str]
    unanswered: list[str]
    repeated: str
    defined: list[int]
    draft: str
    answered_by: AnsweredBy
    replaced: bool
    unchecked: bool
    unwritten: bool
    sentences: list[SentenceRecord]
    withheld: int
    small_talk: SmallTalk | Literal[""]
    examples: list[str]
    recalled: list[str]
    files: list[str]
    whole: list[str]
    scope: list[str]
    open_subject: SubjectRecord | None
    subject: SubjectRecord | None
    profile: str
    tags: list[str]
    since: str
    fields: list[tuple[str, str]]
    by_words_alone: bool
    other_queries: list[str]
    searched_again: list[list[str]]
    titled: list[str]
    read: list[HitRecord]
    is_written: bool
    lacking: str
    effort: Effort
    plan: list[PlanPart]
    compared: list[str]
    may_ask_servers: bool
    tool_calls: list[ToolCallRecord]
    tool_results: list[ToolResultRecord]
    tool_tokens: int
    verified: VerifiedRecord | None
    status: Status | Literal[""]


def _merge(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    return {**old, **new}


def add_seconds(old: dict[str, float], new: dict[str, float]) -> dict[str, float]:
    """Add the seconds of a stage that ran twice, because it was interrupted or searched again."""
    return {**old, **{stage: old.get(stage, 0.0) + seconds for stage, seconds in new.items()}}


def append(old: list[Any], new: list[Any]) -> list[Any]:
    return [*old, *new]


def keep_newer(old: str, new: str) -> str:
    """Return the newer text, unless it is empty; for parallel stages that may both write one."""
    # An empty text means no news, not that there is no text.
    return new or old


class State(TurnPart):
    """The whole state of a thread.

    `subjects`: the chosen document, by noun. `model`: the name of the language model that this turn asked. `trouble`:
    why it was not used from some point on, as one clause; empty if it was.
    """

    asked: str
    again: bool
    # A node returns only the new turn; the reducer adds it.
    turns: Annotated[list[bytes], append_turn]
    remembered: Annotated[dict[str, int], _merge]
    subjects: Annotated[dict[str, SubjectRecord], _merge]
    timings: Annotated[dict[str, float], add_seconds]
    model_calls: Annotated[list[dict[str, Any]], append]
    model: Annotated[str, keep_newer]
    trouble: Annotated[str, keep_newer]


class TurnInput(TypedDict):
    """The input of a turn. `again`: it replaces the last one. `remembered`: sense ids by term, chosen beforehand."""

    asked: str
    again: NotRequired[bool]
    remembered: NotRequired[dict[str, int]]


def make_empty_turn(question: str, number: int = 0) -> TurnPart:
    """Return a turn with only the question and its number."""
    return TurnPart(
        number=number,
        question=question,
        stand_alone_question=question,
        corrected=[],
        rejected=[],
        mentions=[],
        contexts=[],
        readings=[],
        open_terms=[],
        doubted=[],
        unknown=[],
        misses=[],
        picked={},
        let_be=[],
        asked_back=0,
        look_again=False,
        augmented_question="",
        search_queries=[],
        triples=[],
        hits=[],
        evidence=0.0,
        enough_evidence=False,
        quotable=False,
        unnamed=[],
        numbered_parts=[],
        missing_parts=[],
        unanswered=[],
        repeated="",
        defined=[],
        draft="",
        answered_by="extractive",
        replaced=False,
        unchecked=False,
        unwritten=False,
        sentences=[],
        withheld=0,
        small_talk="",
        examples=[],
        recalled=[],
        files=[],
        whole=[],
        scope=[],
        open_subject=None,
        subject=None,
        profile="",
        tags=[],
        since="",
        fields=[],
        by_words_alone=False,
        other_queries=[],
        searched_again=[],
        titled=[],
        read=[],
        is_written=False,
        lacking="",
        effort="normal",
        plan=[],
        compared=[],
        may_ask_servers=False,
        tool_calls=[],
        tool_results=[],
        tool_tokens=0,
        verified=None,
        status="",
    )


def finish_turn(state: State) -> dict[str, Any] | None:
    """Return the turn now in the state, as it is stored in `turns`; None if there was none yet."""
    if not state.get("question"):
        return None
    fresh = make_empty_turn(state["question"], len(state.get("turns", ())))
    # The state may be from an earlier version that lacks some of the keys.
    values: dict[str, Any] = {**fresh, "timings": {}, "model_calls": [], **state}
    beside = ("timings", "model_calls", "model", "trouble")
    # Unchecked text is never kept.
    return {key: values.get(key, "") for key in (*TurnPart.__annotations__, *beside)} | {"draft": "", "lacking": ""}
