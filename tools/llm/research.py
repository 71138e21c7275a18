"""The model's part in a thorough answer: its plan of sub-questions, and the tools that it calls for one of them.

The model's texts are only looked up, or shown to the asker as the plan. A sub-question with a name or number that the
model was not given is dropped, as in `other_queries`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from argot.prompts.loader import number_lines, prompt
from argot.tools.llm.rewording import MAX_REWORDED_CHARS, clean_rewording, has_foreign_names
from argot.tools.llm.token_budget import estimate_tokens
from argot.tools.text.words import content_stems, fold_words

if TYPE_CHECKING:
    from argot.tools.llm.session import Model

PLAN_PROMPT = "plan_research"
PROMPT = "research"
MAX_SUB_QUESTIONS = 4
ASK_SERVER: Literal["ask_server"] = "ask_server"
"""Calls a tool of another server: `first` names it, `second` is its arguments in JSON."""
ToolName = Literal[
    "search", "open_section", "look_up_term", "find_identifier", "list_documents", "ask_server", "answered"
]


@dataclass(frozen=True)
class Plan:
    """The model's plan. `compared`: the things that the question compares; empty if it compares nothing."""

    sub_questions: tuple[str, ...]
    compared: tuple[str, ...] = ()


@dataclass(frozen=True)
class ToolRequest:
    """A call of a tool that the model asks for. `passages`: the numbers that it names, for "answered"."""

    tool: ToolName
    first: str = ""
    second: str = ""
    passages: tuple[int, ...] = ()


@dataclass(frozen=True)
class ResearchStep:
    """The inputs of the prompt by which the model calls tools. `passages`: in their fences, the latest found first.

    `now`: the sub-question; `plan`: all sub-questions, each with the passages found for it; `called`: the calls so far;
    `left`: the number of calls that it may still make; `others`: the tools of other servers, if there are any.
    """

    question: str
    now: str
    plan: Sequence[str]
    called: Sequence[str]
    passages: Sequence[str]
    left: int
    definitions: str = ""
    others: Sequence[str] = ()


async def make_plan(model: Model, question: str, found: Sequence[str], definitions: str) -> Plan:
    """Return the model's plan; the question itself as its only part if it is too long, or no sub-question is usable.

    Raises:
        ModelUnavailable: the model gave no valid reply.
    """
    if len(question) > MAX_REWORDED_CHARS:
        return Plan((question,))
    reply = await model.json(PLAN_PROMPT, question=question, found=number_lines(found), definitions=definitions)
    sources = [question, definitions, *found]
    asked = [clean_rewording(str(one)) for one in reply["sub_questions"]]
    kept = [one for one in asked if content_stems(one) and not has_foreign_names(one, sources)]
    compared = [clean_rewording(str(one)) for one in reply["compared"]]
    # "Permanent and term employees" names "permanent employees" too.
    words = set(fold_words(question))
    compared = [one for one in compared if one and words.issuperset(fold_words(one))]
    sub_questions = tuple(dict.fromkeys(kept))[:MAX_SUB_QUESTIONS] or (question,)
    return Plan(sub_questions, tuple(dict.fromkeys(compared)) if len(set(compared)) > 1 else ())


async def choose_tools(model: Model, step: ResearchStep) -> list[ToolRequest]:
    """Return the tools that the model calls for a sub-question.

    Raises:
        ModelUnavailable: the model gave no valid reply.
    """
    inputs = _list_inputs(step)
    passages = await model.fit(PROMPT, "passages", step.passages, **inputs) if step.passages else ""
    choices = {"others": [ASK_SERVER] if step.others else []}
    reply = await model.json(PROMPT, choices=choices, passages=passages, **inputs)
    return [
        ToolRequest(
            one["tool"],
            " ".join(one["first"].split()),
            " ".join(one["second"].split()),
            # JSON's schema counts 1.0 as an integer.
            tuple(map(int, one["passages"])),
        )
        for one in reply["calls"]
    ]


def estimate_step_tokens(step: ResearchStep) -> int:
    """Estimate the number of tokens that the model reads in a step, for a server that does not count them."""
    passages = "\n\n".join(step.passages)
    return estimate_tokens(prompt(PROMPT).messages(passages=passages, **_list_inputs(step)))


def _list_inputs(step: ResearchStep) -> dict[str, str]:
    return {
        "question": step.question,
        "now": step.now,
        "plan": number_lines(step.plan),
        "called": number_lines(step.called),
        "left": str(step.left),
        "definitions": step.definitions,
        "others": number_lines(step.others),
    }
