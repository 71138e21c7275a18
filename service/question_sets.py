"""Sets of questions, each with the passage that answers it: one wing keeps them, another measures on them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, WithJsonSchema

from argot.errors import MissingWing
from argot.remedies import wing_command
from argot.service.usecases.usecase_registry import Text
from argot.wings import load_parts

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase
    from argot.types import Principal

_SET_NAME = r"^[a-z0-9][a-z0-9-]{0,59}$"


def _check_name(text: str) -> str:
    if not re.fullmatch(_SET_NAME, text):
        raise ValueError("use small letters, digits and hyphens, at most 60, e.g. manuals-2026")
    return text


# People read the rule in words, programs read the pattern.
SetName = Annotated[Text, AfterValidator(_check_name), WithJsonSchema({"type": "string", "pattern": _SET_NAME})]


@dataclass(frozen=True, slots=True)
class PassageQuestion:
    """A question by its id, the passage (id) that answers it, and the answer; empty where the set has none."""

    id: str
    question: str
    passage_id: str
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSets:
    """The sets of a wing.

    Attributes:
        list_names: lists the finished sets that a person may see, newest first.
        require_visible: raises NotFound where there is no set of this name that a person may see.
        load_questions: loads the questions of one part ("validation", "test") of a set, without those that stand word
            for word in their passage. It raises NotFound as `require_visible` does.
        page: the address of the page where sets are made.
        command: the command that shows a set.
    """

    list_names: Callable[[KnowledgeBase, Principal], list[str]]
    require_visible: Callable[[KnowledgeBase, Principal, str], object]
    load_questions: Callable[[KnowledgeBase, Principal, str, str], list[PassageQuestion]]
    page: str
    command: str


def find_question_sets() -> QuestionSets | None:
    """Return the sets that a wing offers; None where no wing that is installed does."""
    return next(load_parts("question_sets"), None)


def require_question_sets() -> QuestionSets:
    """
    Raises:
        MissingWing: no wing that is installed offers any.
    """
    if (found := find_question_sets()) is None:
        reason = "Sets of pairs are kept by the wing 'learn', which is not installed."
        raise MissingWing(f"{reason} Add it, {wing_command(['learn'])}")
    return found
