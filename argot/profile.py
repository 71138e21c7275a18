"""A profile says which stages of a question's journey run, and how. Every ablation of the papers is one of these."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from argot.errors import InvalidSettings

MissPolicy = Literal["strict", "ask", "lenient"]
Matching = Literal["sum", "published"]


class Profile(BaseModel):
    """The knobs of one run. The defaults are what `argot ask` and the chat use.

    Weights and thresholds were chosen on validation data only; docs/measurements.md says on which and how.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "default"

    # Stages
    stand_alone: bool = True
    small_talk: bool = Field(True, description="off: a greeting is searched for like any question")
    identify_jargon: bool = True
    identify_context: bool = True
    look_up_jargon: bool = True
    choose_sense: bool = Field(True, description="ask back when senses tie; off: take the best one")
    augment_question: bool = True
    reformulate_query: bool = True
    classify_triples: bool = Field(True, description="KaPQA's ablation 'w/o triple relevance classifier' when off")
    use_triples: bool = Field(True, description="KaPQA's ablation 'general purpose LLM' when off")
    search_semantic: bool = True
    search_keyword: bool = True
    search_derived: bool = True
    rerank: bool = True
    generate_answer: bool = Field(True, description="off: stop at the passages, for measuring retrieval")
    match_references: bool = True

    # The language model, where one is configured
    use_model: bool = Field(True, description="off: the extractive side alone answers")
    spare_model: bool = Field(True, description="asked only where it can help; off: every call the papers make")
    triples_in_one_call: bool = Field(True, description="relevance and enhancement together; off: KaPQA's two calls")

    # Manner
    misses: MissPolicy = "ask"
    withhold_unsupported: bool = Field(False, description="strict: sentences appear only once checked")
    matching: Matching = "sum"

    # Numbers
    candidates: int = Field(50, ge=1, le=1000, description="passages each search list may contribute")
    passages: int = Field(10, ge=1, le=100, description="passages kept after re-ranking, as in the JSON answer")
    passages_for_answer: int = Field(5, ge=1, le=50, description="those quoted from where no model answers")
    passages_for_model: int = Field(20, ge=1, le=50, description="those a model is given, as far as its window holds")
    weight_keyword: float = Field(1.0, ge=0)
    weight_semantic: float = Field(0.9, ge=0)
    weight_derived: float = Field(0.25, ge=0)
    weight_original: float = Field(0.3, ge=0, description="of the unaugmented question while senses are unsettled")
    weight_rivals: float = Field(0.7, ge=0, description="of a doubtful term's next likeliest sense")
    weight_enhanced: float = Field(0.3, ge=0, description="of the reformulated query beside the plain one")
    rrf_k: int = Field(60, ge=1, description="the constant of reciprocal rank fusion")
    rerank_weight: float = Field(0.57, ge=0, le=1, description="of the re-ranker's score beside the fused one")
    sense_margin: float = Field(0.1, ge=0, le=1, description="below it the asker chooses between senses")
    abstain_below: float = Field(0.28, ge=0, le=1, description="best evidence under this: abstain, unless ...")
    answer_from: float = Field(0.6, ge=0, le=1, description="... a sentence is this like the question (cosine)")
    reference_threshold: float = Field(0.5, ge=0, le=1, description="a citation's least score (Trustworthy 3.4, 6)")

    @model_validator(mode="after")
    def _withholding_needs_matching(self) -> Profile:
        if self.withhold_unsupported and not self.match_references:
            raise ValueError("withhold_unsupported needs match_references: without it no sentence is supported")
        return self


# Only what the glossary does: follow-up questions are still read with their history.
def _without_jargon(profile: Profile) -> Profile:
    return profile.model_copy(
        update=dict.fromkeys(
            ("identify_jargon", "identify_context", "look_up_jargon", "choose_sense", "augment_question"), False
        )
    )


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(),
        Profile(name="strict", misses="strict", withhold_unsupported=True),
        Profile(name="lenient", misses="lenient", choose_sense=False),
        # As the papers run: every call they make, and a query miss ends the turn.
        Profile(name="paper", misses="strict", spare_model=False, triples_in_one_call=False),
        Profile(name="extractive", use_model=False),
        _without_jargon(Profile(name="no_jargon")),
        _without_jargon(
            # What Argot is compared with: one retrieval without jargon or rewriting, and one call.
            Profile(name="plain_rag", stand_alone=False, reformulate_query=False, search_derived=False, rerank=False)
        ),
    )
}


def profile_named(name: str) -> Profile:
    """The built-in profile of this name.

    Raises:
        InvalidSettings: there is none; the message lists those there are.
    """
    try:
        return PROFILES[name]
    except KeyError:
        raise InvalidSettings(f"Unknown profile '{name}'. Profiles: {', '.join(sorted(PROFILES))}.") from None


def profile_from(name_or_file: str, changes: Sequence[str] = ()) -> Profile:
    """A built-in profile by its name, or one of a TOML file, with single switches changed ("rerank=off").

    Raises:
        InvalidSettings: there is no such profile, file, switch or value; the message names it and what there is.
    """
    path = Path(name_or_file)
    profile = _from_file(path) if path.suffix == ".toml" else profile_named(name_or_file)
    return changed_profile(profile, dict(_change(one) for one in changes))


def changed_profile(profile: Profile, changes: Mapping[str, object]) -> Profile:
    """The profile with these switches changed; it is named after them.

    Raises:
        InvalidSettings: a switch or value is none; the message names it.
    """
    unknown = changes.keys() - Profile.model_fields.keys()
    if unknown:
        there = ", ".join(sorted(Profile.model_fields))
        raise InvalidSettings(f"Unknown switch '{min(unknown)}'. Switches: {there}.")
    if not changes:
        return profile
    name = " ".join([profile.name, *(f"{key}={value}" for key, value in changes.items())])
    try:
        return Profile.model_validate({**profile.model_dump(), "name": name, **changes})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the profile"
        raise InvalidSettings(f"{where} cannot be {first['input']!r}: {first['msg']}.") from error


def _change(text: str) -> tuple[str, object]:
    name, sign, value = text.partition("=")
    if not sign:
        raise InvalidSettings(f"'{text}' changes nothing. Write a switch and its value, e.g. rerank=off.")
    return name.strip(), {"on": True, "off": False}.get(value.strip(), value.strip())


def _from_file(path: Path) -> Profile:
    """`base = "strict"` names the built-in profile that the file starts from; without it, the default."""
    try:
        read = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidSettings(f"The profile {path} cannot be read: {error}.") from error
    name = read.pop("name", path.stem)
    return changed_profile(profile_named(read.pop("base", "default")), read).model_copy(update={"name": name})
