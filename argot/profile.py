"""Profiles: which stages of a question's journey run, and how. Every ablation of the papers is a profile."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from argot.errors import InvalidSettings
from argot.types import DerivedKind, Effort, SearchChoice

MissPolicy = Literal["strict", "ask", "lenient"]
Matching = Literal["sum", "published"]
SwitchValue = bool | int | float | str | list[str]


class Profile(BaseModel):
    """The switches of one run. The defaults are what `argot ask` and the chat use.

    Weights and thresholds were chosen only on validation data; bench/laboratory/ documents the data and the method.
    `argot profile show` prints the descriptions beside the switches.
    """

    # Python parses "nan" and "inf" as numbers, and they compare with nothing.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = "default"
    about: str = Field("", max_length=500, description="what the profile is for")

    # Stages
    stand_alone: bool = Field(True, description="make follow-ups readable alone; off: every question as it is")
    small_talk: bool = Field(True, description="off: a greeting is searched for like any question")
    find_verified: bool = Field(True, description="give the answer that an owner verified first; off: a new one")
    identify_jargon: bool = Field(True, description="find the question's terms (Golden-Retriever 3.2)")
    identify_context: bool = Field(True, description="score contexts (Golden-Retriever 3.3); off: senses without them")
    look_up_jargon: bool = Field(True, description="read terms in the glossary (Golden-Retriever 3.4)")
    choose_sense: bool = Field(True, description="ask back when senses tie; off: take the best one")
    augment_question: bool = Field(True, description="put meanings into the question (Golden-Retriever 3.5)")
    search_augmented: bool = Field(
        False, description="search the augmented question itself, as Golden-Retriever 3.5; off: terms spelt out"
    )
    reformulate_query: bool = Field(True, description="enhance the query by triples (KaPQA 5); off: its baseline")
    classify_triples: bool = Field(True, description="KaPQA's ablation 'w/o triple relevance classifier' when off")
    use_triples: bool = Field(True, description="KaPQA's ablation 'general purpose LLM' when off")
    search_semantic: bool = Field(True, description="search by meaning; off: keywords alone (AccurateRAG 2.3)")
    adapt_queries: bool = Field(True, description="embed questions by weights adapted to answers; off: the model's own")
    search_keyword: bool = Field(True, description="search by words, BM25; off: meaning alone (AccurateRAG 2.3)")
    search_passages: bool = Field(
        True, description="search passages themselves; off: derived texts alone (RAIDD-S, -Q)"
    )
    search_derived: bool = Field(True, description="search texts derived from passages; off: plain RAG (RAIDD)")
    derived_kinds: tuple[DerivedKind, ...] = Field(
        get_args(DerivedKind),
        min_length=1,
        description="derived texts searched (RAIDD-S: summary, -Q: question, -U: both)",
    )
    one_index: bool = Field(
        False, description="by meaning, passages and derived texts in one list by cosine (RAIDD 2.2); off: two, fused"
    )
    rank_fusion: bool = Field(
        False, description="fuse searches by rank alone (AccurateRAG 2.3.3); off: also by how far a passage stands out"
    )
    choose_document: bool = Field(True, description="ask back which document is meant; off: the best one answers")
    rerank: bool = Field(True, description="order by how well passages answer; off: as fused, and no abstaining")
    generate_answer: bool = Field(True, description="off: stop at the passages, for measuring retrieval")
    search_again: bool = Field(True, description="search in other words where the answer was not found; off: once")
    match_references: bool = Field(True, description="find what each sentence rests on; off: nothing is checked")

    # The language model, where one is configured
    use_model: bool = Field(True, description="off: the extractive side alone answers")
    spare_model: bool = Field(True, description="asked only where it can help; off: every call the papers make")
    triples_in_one_call: bool = Field(True, description="relevance and enhancement together; off: KaPQA's two calls")
    enhanced_replaces: bool = Field(False, description="search the enhanced query alone, as KaPQA does; off: beside it")

    # Effort
    effort: Effort = Field(
        "normal", description="quick: no second try, one call; thorough: a model researches by tools"
    )
    max_tool_calls: int = Field(12, ge=1, le=24, description="tools that a thorough answer may call")
    max_tool_tokens: int = Field(60_000, ge=1, le=500_000, description="tokens that it may use before it is written")

    # Manner
    misses: MissPolicy = Field("ask", description="unknown terms: strict ends the turn, ask asks back, lenient goes on")
    withhold_unsupported: bool = Field(False, description="strict: sentences appear only once checked")
    matching: Matching = Field("sum", description="of references: sum, or published (Trustworthy 3.4, Algorithm 1)")

    # Numbers
    candidates: int = Field(50, ge=1, le=1000, description="passages each search list may contribute")
    passages: int = Field(10, ge=1, le=100, description="passages kept after re-ranking, as in the JSON answer")
    passages_for_answer: int = Field(10, ge=1, le=50, description="those quoted from where no model answers")
    passages_for_model: int = Field(15, ge=1, le=50, description="those a model is given, as far as its window holds")
    weight_keyword: float = Field(1.0, ge=0, description="of the search by words")
    weight_semantic: float = Field(0.9, ge=0, description="of the search by meaning")
    weight_derived: float = Field(0.25, ge=0, description="of derived texts beside passages")
    weight_original: float = Field(0.3, ge=0, description="of the unaugmented question while senses are unsettled")
    weight_rivals: float = Field(0.7, ge=0, description="of a doubtful term's next likeliest sense")
    weight_enhanced: float = Field(0.3, ge=0, description="of the reformulated query beside the plain one")
    rrf_k: int = Field(60, ge=1, description="the constant of reciprocal rank fusion")
    rerank_weight: float = Field(0.57, ge=0, le=1, description="of the re-ranker's score beside the fused one")
    sense_margin: float = Field(0.1, ge=0, le=1, description="below it the asker chooses between senses")
    document_margin: float = Field(0.25, ge=0, le=1, description="above it the best document answers, unasked")
    abstain_below: float = Field(0.31, ge=0, le=1, description="best evidence under this: abstain, unless ...")
    weak_below: float = Field(0.55, ge=0, le=1, description="evidence under this: a quoted answer is called doubtful")
    answer_from: float = Field(0.6, ge=0, le=1, description="... a sentence is this like the question (cosine)")
    reference_threshold: float = Field(0.5, ge=0, le=1, description="a citation's least score (Trustworthy 3.4, 6)")

    @field_validator("derived_kinds", mode="before")
    @classmethod
    def _split_kinds(cls, given: object) -> object:
        """On the command line several kinds are separated by commas."""
        return tuple(part.strip() for part in given.split(",")) if isinstance(given, str) else given

    @model_validator(mode="after")
    def _check_withholding(self) -> Profile:
        if self.withhold_unsupported and not self.match_references:
            raise ValueError("withhold_unsupported needs match_references: without it no sentence is supported")
        return self

    @model_validator(mode="after")
    def _check_search(self) -> Profile:
        if not (self.search_semantic or self.search_keyword):
            raise ValueError("search_semantic and search_keyword cannot both be off: nothing would be searched")
        return self


def _search_switches(*kinds: DerivedKind, passages: bool) -> dict[str, SwitchValue]:
    if not kinds:
        return {"search_passages": True, "search_derived": False}
    return {"search_passages": passages, "search_derived": True, "derived_kinds": list(kinds)}


SEARCHES: Mapping[SearchChoice, Mapping[str, SwitchValue]] = {
    "passages": _search_switches(passages=True),
    "S": _search_switches("summary", passages=False),
    "Q": _search_switches("question", passages=False),
    "SQ": _search_switches("summary", "question", passages=False),
    "S+": _search_switches("summary", passages=True),
    "Q+": _search_switches("question", passages=True),
    "U": _search_switches("summary", "question", passages=True),
}
"""The switches of each choice."""

SWITCHES = tuple(name for name in Profile.model_fields if name not in ("name", "about"))


# Only the glossary's part: follow-up questions are still read with their history.
def _drop_jargon(profile: Profile) -> Profile:
    return profile.model_copy(
        update=dict.fromkeys(
            ("identify_jargon", "identify_context", "look_up_jargon", "choose_sense", "augment_question"), False
        )
    )


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(about="Answers with citations; asks back when a term has several meanings."),
        Profile(
            name="strict",
            about="Says nothing that no passage supports, and answers no question with an unknown term.",
            misses="strict",
            withhold_unsupported=True,
        ),
        Profile(
            name="lenient",
            about="Never asks back: takes the likeliest meaning.",
            misses="lenient",
            choose_sense=False,
            choose_document=False,
        ),
        Profile(
            name="paper",
            about="As the papers run: every call they make, and a query miss ends the turn.",
            choose_sense=False,
            misses="strict",
            matching="published",
            spare_model=False,
            search_augmented=True,
            triples_in_one_call=False,
            enhanced_replaces=True,
            one_index=True,
            rank_fusion=True,
            adapt_queries=False,
            choose_document=False,
            search_again=False,
            find_verified=False,
        ),
        Profile(name="extractive", about="Quotes the documents; asks no language model.", use_model=False),
        _drop_jargon(
            Profile(name="no_jargon", about="For measuring: everything but the glossary.", find_verified=False)
        ),
        _drop_jargon(
            # The baseline for Argot: one retrieval without jargon or rewriting, and one call.
            Profile(
                name="plain_rag",
                about="For measuring: one search and one answer, nothing else.",
                stand_alone=False,
                reformulate_query=False,
                adapt_queries=False,
                search_derived=False,
                choose_document=False,
                rerank=False,
                search_again=False,
                find_verified=False,
            )
        ),
    )
}


def find_profile(name: str) -> Profile:
    """Return the built-in profile of this name.

    Raises:
        InvalidSettings: there is none; the message lists the existing ones.
    """
    try:
        return PROFILES[name]
    except KeyError:
        raise InvalidSettings(f"Unknown profile '{name}'. Profiles: {', '.join(sorted(PROFILES))}.") from None


def change_profile(profile: Profile, changes: Mapping[str, object]) -> Profile:
    """Return the profile with these switches changed, which its name lists.

    Raises:
        InvalidSettings: a switch or value is invalid; the message names it.
    """
    if not changes:
        return profile
    _require_switches(changes)
    changed = _validate({**profile.model_dump(), **changes})
    # By the parsed values, so that "false", "off" and False give one name.
    switches = (f"{switch}={format_switch(getattr(changed, switch))}" for switch in changes)
    return changed.model_copy(update={"name": " ".join([profile.name, *switches])})


def compare_switches(profile: Profile, other: Profile | None = None) -> dict[str, SwitchValue]:
    """Return the switches that differ from the other profile (the default), with their values as JSON."""
    mine, theirs = profile.model_dump(mode="json"), (other or PROFILES["default"]).model_dump(mode="json")
    return {switch: mine[switch] for switch in SWITCHES if mine[switch] != theirs[switch]}


def format_switch(value: object) -> str:
    """Return a switch's value as `--set` accepts it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def parse_changes(texts: Sequence[str]) -> dict[str, SwitchValue]:
    """Parse `["rerank=off"]` into switches and values.

    Raises:
        InvalidSettings: there is no switch of that name, or no value.
    """
    changes = dict(_change(text) for text in texts)
    _require_switches(changes)
    return changes


def _change(text: str) -> tuple[str, SwitchValue]:
    name, sign, value = text.partition("=")
    if not sign:
        raise InvalidSettings(f"'{text}' changes nothing. Write a switch and its value, e.g. rerank=off.")
    words: dict[str, SwitchValue] = {"on": True, "off": False}
    return name.strip(), words.get(value.strip(), value.strip())


def _require_switches(names: Iterable[str]) -> None:
    for name in names:
        if name not in SWITCHES:
            close = difflib.get_close_matches(name, SWITCHES, n=1)
            known = ", ".join(sorted(SWITCHES))
            if close:
                raise InvalidSettings(f"Unknown switch '{name}'. Did you mean {close[0]}? Switches: {known}.")
            raise InvalidSettings(f"Unknown switch '{name}'. Switches: {known}.")


def _validate(values: Mapping[str, object]) -> Profile:
    try:
        return Profile.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        boolean = first["type"].startswith("bool_")
        problem = "write on or off" if boolean else first["msg"].removeprefix("Value error, ")
        # A rule between switches has no location; for a list the switch is known, not the position in it.
        text = f"{first['loc'][0]} cannot be {first['input']!r}: {problem}" if first["loc"] else problem
        raise InvalidSettings(f"{text}.") from error
