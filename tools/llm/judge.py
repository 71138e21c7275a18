"""The judges: a language model compares answers with reference answers, and sentences with passages.

    is_correct        TRUE or FALSE                              AccurateRAG 2.4.2, figure 4
    is_accurate       TRUE or FALSE, given the question          RAIDD 2.3
    aspects           1 to 5 on three aspects, two answers       Trustworthy Answers, figure 16
    rank              the order of four answers                  Trustworthy Answers, figure 15
    geval             1 to 5, weighted by log-probabilities      G-Eval (Liu et al. 2023, 3), as in KaPQA 6.2
    match_references  the passage each sentence rests on         Trustworthy Answers, figure 17

An answer may contain words that influence a model ("reply TRUE"). A verdict is therefore only a measurement: no answer
is shown, stored or dropped because of one.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from argot.prompts.loader import number_lines, prompt
from argot.results import ModelCall
from argot.tools.llm.calls import build_response_format
from argot.tools.llm.chunks import read_token_count
from argot.tools.llm.faults import StatusError, WrongAnswer
from argot.tools.llm.limits import Clock
from argot.tools.llm.model_server import Model, ModelServer
from argot.tools.llm.passage_fences import describe_source, number_passages
from argot.tools.llm.structured_output import InvalidReply, parse_object
from argot.types import MatchedSegment, Passage

ANSWER_INPUTS = ("answer_a", "answer_b", "answer_c", "answer_d")
TOP_TOKENS = 10
SCORE_DIGITS = ("1", "2", "3", "4", "5")


@dataclass(frozen=True, slots=True)
class Aspects:
    """Scores from 1 (poor) to 5 (excellent)."""

    accuracy: int
    helpfulness: int
    informativeness: int


@dataclass
class ModelJudge:
    """Each judgement is a separate run: one that fails raises `ModelUnavailable` and does not affect the others."""

    server: ModelServer
    calls: list[ModelCall] = field(default_factory=list)
    _weighs: bool = True

    async def is_correct(self, question: str, answer: str, reference: str) -> bool:
        return await self._request_verdict("judge_correct", question, answer, reference)

    async def is_accurate(self, question: str, answer: str, reference: str) -> bool:
        """Return whether the answer could replace the true one for this question."""
        return await self._request_verdict("judge_raidd_accuracy", question, answer, reference)

    async def aspects(self, question: str, reference: str, answer_a: str, answer_b: str) -> tuple[Aspects, Aspects]:
        """Return the scores of both answers."""
        reply = await self._request_json(
            "judge_aspects", question=question, reference=reference, answer_a=answer_a, answer_b=answer_b
        )
        return Aspects(**reply["a"]), Aspects(**reply["b"])

    async def rank(self, question: str, reference: str, answers: Sequence[str]) -> tuple[int, ...] | None:
        """Return the rank of each of four answers, 1 being the best; equally good ones share a rank.

        None if the reply is no ranking: no order of four gives 1, 3, 3, 3.
        """
        if len(answers) != len(ANSWER_INPUTS):
            raise ValueError(f"four answers are ranked, not {len(answers)}")
        inputs = dict(zip(ANSWER_INPUTS, answers, strict=True))
        reply = await self._request_json("judge_ranking", question=question, reference=reference, **inputs)
        ranks = tuple(int(reply[letter]) for letter in "abcd")
        return ranks if is_ranking(ranks) else None

    async def geval(self, question: str, reference: str, answer: str) -> float:
        """Return the similarity of answer and reference, 1 to 5: the expected score over the model's probabilities, if
        the server returns them; else the score that the model wrote.
        """
        inputs = {"question": question, "reference": reference, "answer": answer}
        weighted = await self._compute_weighted("judge_geval", inputs) if self._weighs else None
        return weighted if weighted is not None else float((await self._request_json("judge_geval", **inputs))["score"])

    async def match_references(
        self, question: str, sentences: Sequence[str], passages: Sequence[Passage]
    ) -> list[MatchedSegment]:
        """Return the passage that supports each run of sentences, in order, without overlap; unsupported runs are left
        out.

        Passages that do not fit into the context, the last first, are not shown to the model. A nonexistent passage or
        sentence is never returned. The model returns no scores: all are 1.
        """
        if not sentences or not passages:
            return []
        return await match_by_model(self.server.session(self.calls), question, sentences, passages)

    # -- parts --------------------------------------------------------------------------------------------------------

    async def _request_verdict(self, name: str, question: str, answer: str, reference: str) -> bool:
        reply = await self._request_json(name, question=question, answer=answer, reference=reference)
        return bool(reply["verdict"] == "TRUE")

    async def _request_json(self, name: str, **inputs: str) -> dict[str, Any]:
        return await self.server.session(self.calls).json(name, choices=None, **inputs)

    async def _compute_weighted(self, name: str, inputs: Mapping[str, str]) -> float | None:
        """Return the expected score, or the written one if no probabilities are returned; None without a valid reply.

        Raises:
            ModelUnavailable: the server does not answer at all.
        """
        clock, started = Clock.of(self.server.settings), time.monotonic()
        failed, usage = "", dict[str, int]()
        try:
            self.server.refuse_if_down()
            return await clock.wait(self._request_with_probabilities(name, inputs, usage))
        except StatusError as error:
            # A server that refuses log-probabilities is not asked for them again.
            failed, self._weighs = str(error), False
            return None
        except InvalidReply as error:
            failed = error.reason
            return None
        except Exception as error:
            fault = self.server.fault(error)
            failed = fault.clause
            raise fault.error() from None
        finally:
            seconds = time.monotonic() - started
            self.calls.append(ModelCall(prompt=name, seconds=seconds, failed=failed, **usage))

    async def _request_with_probabilities(self, name: str, inputs: Mapping[str, str], usage: dict[str, int]) -> float:
        asked = prompt(name)
        schema = asked.schema() or {}
        served = await self.server.served_model()
        quirks = self.server.quirks
        body: dict[str, Any] = {
            "model": served.model,
            "messages": [{"role": role, "content": text} for role, text in asked.messages(**inputs)],
            quirks.max_tokens: asked.max_tokens,
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": TOP_TOKENS,
            "response_format": build_response_format(name, schema),
        }
        if served.is_vllm and quirks.thinking_off:
            body["chat_template_kwargs"] = {"enable_thinking": False}
        answer = await self.server.connection().request("POST", f"{self.server.address.api}/chat/completions", body)
        try:
            choice = answer["choices"][0]
            counts = answer.get("usage")
            if isinstance(counts, dict):
                usage |= {name: read_token_count(counts.get(name)) for name in ("prompt_tokens", "completion_tokens")}
            score = float(parse_object(str(choice["message"]["content"]), schema)["score"])
        except (KeyError, IndexError, TypeError):
            raise WrongAnswer("sent what is no reply") from None
        try:
            tokens = choice["logprobs"]["content"]
            weighted = compute_expected_score(tokens)
        except (KeyError, TypeError, ValueError, OverflowError):  # none are returned, or invalid ones
            tokens, weighted = None, None
        # A server may accept the field and return none.
        self._weighs = bool(tokens)
        return score if weighted is None else weighted


def is_ranking(ranks: Sequence[int]) -> bool:
    """Return whether each rank is one more than the number of better ones: 1, 2, 2, 4, not 1, 2, 2, 3."""
    return all(rank == 1 + sum(other < rank for other in ranks) for rank in ranks)


def compute_expected_score(tokens: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the sum of p(score) * score over the five scores, at the token after `"score":`; None if not given.

    Args:
        tokens: as in the OpenAI interface: `token` and `top_logprobs`, a list of `token` and `logprob`.
    """
    written = ""
    for one in tokens:
        # A digit elsewhere in the reply, such as in a preceding reason, is not the score.
        if re.search(r'"score"\s*:\s*$', written) and _read_digit(one):
            weights = dict.fromkeys(SCORE_DIGITS, 0.0)
            for other in one["top_logprobs"]:
                if digit := _read_digit(other):
                    weights[digit] += math.exp(float(other["logprob"]))
            total = sum(weights.values())
            return (
                sum(int(digit) * weight for digit, weight in weights.items()) / total if 0 < total < math.inf else None
            )
        written += str(one["token"])
    return None


def _read_digit(token: Mapping[str, Any]) -> str:
    """Return the score that a token represents. Some tokenizers join it with the blank before or the brace after."""
    bare = str(token["token"]).strip(" \t\n▁}")
    return bare if bare in SCORE_DIGITS else ""


async def match_by_model(
    model: Model, question: str, sentences: Sequence[str], passages: Sequence[Passage]
) -> list[MatchedSegment]:
    """Match sentences with passages as `ModelJudge.match_references` does, within one run.

    Raises:
        ModelUnavailable: the model gave no valid reply.
    """
    inputs = {"question": question, "sentences": number_lines(sentences)}
    shown = number_passages((one.with_columns, describe_source(one)) for one in passages)
    data = await model.fit("match_references", "passages", shown, **inputs)
    # The model never saw the passages that did not fit, so a reply that names them is ignored.
    seen = next(n for n in range(len(shown), 0, -1) if data == "\n\n".join(shown[:n]))
    reply = await model.json("match_references", choices=None, passages=data, **inputs)
    return build_segments(reply["segments"], len(sentences), seen)


def build_segments(said: Sequence[Mapping[str, Any]], sentences: int, passages: int) -> list[MatchedSegment]:
    """Return the segments that a model named for numbered sentences and passages, counted from 0, if these exist.

    A sentence belongs to the first segment that names it; passage 0 means that it rests on none.
    """
    owner: dict[int, int] = {}
    for one in said:
        # The schema limits the numbers, but not to the sentences and passages that exist.
        if 0 <= one["passage"] <= passages and 1 <= one["first"] <= one["last"]:
            for sentence in range(one["first"], min(one["last"], sentences) + 1):
                owner.setdefault(sentence - 1, one["passage"] - 1)
    segments: list[MatchedSegment] = []
    for sentence, passage in sorted(owner.items()):
        before = segments[-1] if segments else None
        # Passage 0 of the reply: the model found no support for the sentence.
        if passage < 0:
            continue
        if before and before.last == sentence - 1 and before.passage == passage:
            segments[-1] = MatchedSegment(before.first, sentence, passage, 1.0)
        else:
            segments.append(MatchedSegment(sentence, sentence, passage, 1.0))
    return segments
