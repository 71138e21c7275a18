"""Examples as tokens: the prompt in the model's chat template, then the answer, the only part that is learnt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from argot.errors import InvalidInput
from argot.learn.generator.examples import ChatExample, ExampleMaker
from argot.learn.training_pairs import TrainingPair
from argot.tools.llm.completion import Messages


@dataclass(frozen=True, slots=True)
class TokenizedExample:
    """The tokens of the prompt (`asked`), and of the answer with its end token."""

    example: ChatExample
    asked: tuple[int, ...]
    answer: tuple[int, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        return self.asked + self.answer


@dataclass(frozen=True, slots=True)
class UsableExamples:
    """The examples that can be learnt from, and how many could not: `no_answer`, `too_long` even with one passage."""

    examples: tuple[TokenizedExample, ...]
    no_answer: int
    too_long: int


class ChatTokens:
    """A model's tokenizer with its chat template, filled in as a model server does it."""

    def __init__(self, tokenizer: Any) -> None:
        """
        Raises:
            InvalidInput: it has no chat template.
        """
        if not getattr(tokenizer, "chat_template", None):
            raise InvalidInput(
                "The model has no chat template (chat_template.jinja, or in tokenizer_config.json): it is no model "
                "that answers, or its folder is not whole. Take the one whose name ends in -Instruct or -it."
            )
        self._tokenizer = tokenizer

    def tokenize_prompt(self, messages: Messages) -> tuple[int, ...]:
        return self._tokenize_text(self._render_messages(messages, begin_answer=True))

    def tokenize_example(self, example: ChatExample) -> TokenizedExample:
        """Tokenize prompt and answer, each apart, since the server does not know the answer when it begins."""
        before = self._render_messages(example.messages, begin_answer=True)
        whole = self._render_messages([*example.messages, ("assistant", example.answer)], begin_answer=False)
        # Templates of models that think put more before an answer than they ask it by.
        ending = self._tokenizer.eos_token or ""
        answer = whole[len(before) :] if whole.startswith(before) else example.answer + ending
        return TokenizedExample(example, self._tokenize_text(before), self._tokenize_text(answer))

    def text_of(self, ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True)).strip()

    def ends(self, model: Any) -> set[int]:
        """Return the tokens that end an answer: the tokenizer's, and those of the model's settings."""
        end_ids = model.generation_config.eos_token_id
        ends = end_ids if isinstance(end_ids, list) else [end_ids]
        return {one for one in (*ends, self._tokenizer.eos_token_id) if one is not None}

    def _tokenize_text(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _render_messages(self, messages: Messages, *, begin_answer: bool) -> str:
        rendered = [{"role": role, "content": text} for role, text in messages]
        try:
            # The last argument is the one that the service sends (`ServerQuirks.thinking`); templates that don't know
            # it ignore it.
            return str(
                self._tokenizer.apply_chat_template(
                    rendered, tokenize=False, add_generation_prompt=begin_answer, enable_thinking=False
                )
            )
        except Exception as error:  # a template is a program, and may raise any error
            raise InvalidInput(f"The model's chat template does not take what Argot asks: {error}.") from error


def collect_examples(
    pairs: Iterable[TrainingPair], maker: ExampleMaker, tokens: ChatTokens, longest: int
) -> UsableExamples:
    """Collect the pairs' examples, each with as many passages as fit into `longest` tokens with the whole answer."""
    examples: list[TokenizedExample] = []
    no_answer = too_long = 0
    for pair in pairs:
        if not pair.answer.strip():
            no_answer += 1
            continue
        fitting = (
            one
            for version in maker.make_versions(pair)
            if len((one := tokens.tokenize_example(version)).ids) <= longest
        )
        if (found := next(fitting, None)) is None:
            too_long += 1
        else:
            examples.append(found)
    return UsableExamples(tuple(examples), no_answer, too_long)
