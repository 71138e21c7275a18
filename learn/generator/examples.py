"""Pairs as prompts for a language model: the messages that the service sends, and the answer that the model should
give.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from argot.errors import InvalidInput
from argot.learn.generator.generator_recipe import GeneratorRecipe
from argot.learn.training_pairs import PoolPassage, TrainingPair
from argot.prompts.loader import NOT_IN_PASSAGES, list_prompt_names, prompt
from argot.tools.answering.citation_marks import strip_marks
from argot.tools.answering.named_sources import LIST_ENTRY
from argot.tools.llm.completion import Messages
from argot.tools.llm.passage_fences import number_passages
from argot.tools.llm.writer import build_answer_messages
from argot.tools.text.rarity import compute_idf
from argot.tools.text.sentences import split_sentences
from argot.tools.text.words import content_stems

_ENDS = ".!?;:"
_MAX_MARKS = 99
_K1, _B = 1.2, 0.75
_RRF_K, _SEARCHED = 60, 50


@dataclass(frozen=True, slots=True)
class ChatExample:
    """A prompt, word for word as the service sends it, and the whole reply that is wanted."""

    pair: TrainingPair
    messages: Messages
    answer: str


class ExampleMaker:
    """Makes examples of pairs. The same pair gives the same example, whatever came before it."""

    def __init__(
        self,
        recipe: GeneratorRecipe,
        pool: Sequence[PoolPassage],
        seed: int,
        found: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """
        Args:
            found: the passages (ids) nearest to each pair's question by meaning, best first; for contexts that are
                searched by meaning.

        Raises:
            InvalidInput: the recipe's prompt is none, or takes more than a question.
        """
        self.recipe, self.seed = recipe, seed
        if recipe.prompt:
            _check_prompt(recipe.prompt)
        self._found = found or {}
        self._pool = _Pool(pool) if recipe.examples == "contexts" else None

    def make_versions(self, pair: TrainingPair) -> Iterator[ChatExample]:
        """Make the example, then versions with ever fewer passages, for models with a short context."""
        if self._pool is None:
            yield ChatExample(pair, _build_question_messages(self.recipe.prompt, pair.question), pair.answer.strip())
            return
        chance = random.Random(f"{self.seed} {pair.id}")  # noqa: S311
        # Only for training examples: those for measuring must be answerable.
        without = pair.part == "train" and chance.random() < self.recipe.unanswerable
        others = self._list_others(self._pool, pair, without=without)
        gold = PoolPassage(pair.passage_id, pair.passage, pair.document)
        order = [chance.random() for _ in range(len(others) + 1)]
        for count in range(min(self.recipe.passages, len(others) + 1), 0, -1):
            shown_passages = others[:count] if without else [gold, *others[: count - 1]]
            if not shown_passages:
                return
            places = sorted(range(len(shown_passages)), key=order.__getitem__)
            yield _build_example(
                pair, [shown_passages[place] for place in places], None if without else places.index(0) + 1
            )

    def _list_others(self, pool: _Pool, pair: TrainingPair, *, without: bool) -> list[PoolPassage]:
        by, count = self.recipe.contexts_by, self.recipe.passages
        if by == "neighbours":
            return pool.others(pair, self.recipe.neighbours if not without else 0, count)
        found = () if by == "keyword" else self._found.get(pair.id, ())
        return pool.search(pair, found, count, by_words=by != "semantic")


def add_citations(answer: str, number: int) -> str:
    """Add the number of the passage to each sentence of the answer; a list has it once, in the line above, as
    the prompt `cited_answer` demands.
    """
    plain = strip_marks(answer, _MAX_MARKS).strip()
    out, end, above_list = "", 0, False
    for start, stop in split_sentences(plain):
        sentence = plain[start:stop].rstrip()
        listed = above_list and LIST_ENTRY.match(sentence) is not None
        above_list = listed or sentence.endswith(":")
        bare = sentence.rstrip(_ENDS)
        out += plain[end:start] + (sentence if listed else f"{bare} [{number}]{sentence[len(bare) :]}")
        end = start + len(sentence)
    return out + plain[end:]


def _build_example(pair: TrainingPair, given: Sequence[PoolPassage], gold: int | None) -> ChatExample:
    passages = number_passages((one.text, one.document) for one in given)
    answer = NOT_IN_PASSAGES if gold is None else add_citations(pair.answer, gold)
    return ChatExample(pair, build_answer_messages(pair.question, passages), answer)


def _build_question_messages(name: str, question: str) -> Messages:
    return prompt(name).messages(question=question) if name else [("user", question.strip())]


def _check_prompt(name: str) -> None:
    alone = [one for one in list_prompt_names() if prompt(one).inputs == ("question",)]
    if name not in alone:
        raise InvalidInput(f"There is no prompt '{name}' that takes a question alone. There are: {', '.join(alone)}.")


class _Pool:
    """All passages, searched by the words of a question (BM25): the results of a search are the hardest to distinguish
    from the answer.
    """

    def __init__(self, pool: Sequence[PoolPassage]) -> None:
        self._pool = pool
        self._places = {one.id: place for place, one in enumerate(pool)}
        words = [Counter(content_stems(one.text)) for one in pool]
        self._lengths = [counted.total() for counted in words]
        self._mean = sum(self._lengths) / max(1, len(pool)) or 1.0
        self._holding: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, counted in enumerate(words):
            for word, times in counted.items():
                self._holding[word].append((place, times))

    def others(self, pair: TrainingPair, neighbours: int, count: int) -> list[PoolPassage]:
        """Return up to `count` passages besides the pair's own: neighbours, its negatives, then the likest by words."""
        places = (
            *self._find_neighbours(pair, neighbours),
            *self._find_negatives(pair),
            *self._rank_by_words(pair.question),
        )
        return self._choose_others(pair, places, count)

    def search(self, pair: TrainingPair, found: Sequence[str], count: int, *, by_words: bool) -> list[PoolPassage]:
        """Return the first `count` passages of a search besides the pair's own (AccurateRAG 2.4.1): those `found` by
        meaning, those found by words, or both lists fused by reciprocal rank (2.3.3).
        """
        lists = [[self._places[one] for one in found if one in self._places]]
        if by_words:
            lists.append(self._rank_by_words(pair.question)[:_SEARCHED])
        scores: dict[int, float] = defaultdict(float)
        for ranked in lists:
            for rank, place in enumerate(ranked, start=1):
                scores[place] += 1 / (_RRF_K + rank)
        return self._choose_others(pair, sorted(scores, key=lambda place: (-scores[place], place)), count)

    def _choose_others(self, pair: TrainingPair, places: Iterable[int], count: int) -> list[PoolPassage]:
        chosen: dict[str, PoolPassage] = {}
        for place in places:
            one = self._pool[place]
            # The same text under another id would be a right passage called wrong.
            if one.id != pair.passage_id and one.text != pair.passage:
                chosen.setdefault(one.text, one)
            if len(chosen) >= count:
                break
        return [*chosen.values()]

    def _find_neighbours(self, pair: TrainingPair, neighbours: int) -> list[int]:
        """Find positions next to the pair's passage, in its document: passages are in the order of their documents."""
        at = self._places.get(pair.passage_id)
        if at is None:
            return []
        near = [place for far in range(1, neighbours + 1) for place in (at - far, at + far)]
        return [one for one in near if 0 <= one < len(self._pool) and self._pool[one].document == pair.document]

    def _find_negatives(self, pair: TrainingPair) -> list[int]:
        return [self._places[one] for one in pair.negatives if one in self._places]

    def _rank_by_words(self, question: str) -> list[int]:
        scores: dict[int, float] = defaultdict(float)
        for word in set(content_stems(question)):
            holding = self._holding.get(word, [])
            rarity = compute_idf(len(holding), len(self._pool))
            for place, times in holding:
                long = 1 - _B + _B * self._lengths[place] / self._mean
                scores[place] += rarity * times * (_K1 + 1) / (times + _K1 * long)
        ranked = sorted(scores, key=lambda place: (-scores[place], place))
        # A question may share words with too few: then the first others there are.
        return [*ranked, *(place for place in range(min(len(self._pool), 100)) if place not in scores)]
