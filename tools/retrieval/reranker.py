"""Ranks the found passages by how well they answer, and measures the strength of the best evidence.

`LexicalScorer` needs no training and no download. It scores what a person would check: are the question's rare words
present, close together, in the question's order, perhaps already in the heading? Meaning enters through the fused score
of the search, which `rerank` mixes in: nothing is embedded a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from statistics import fmean

from argot.corpus.embedding.cosine_scale import rescale_cosines
from argot.languages.detection import identify_listed_language
from argot.languages.language_data import ENGLISH
from argot.profile import Profile
from argot.protocols import Embedder, PassageReader, Scorer
from argot.tools.answering.quoting import read_units
from argot.tools.answering.support import find_statement_stems
from argot.tools.reading.passage_readings import read_best_wordings
from argot.tools.retrieval.hybrid_search import WeightedQuery
from argot.tools.retrieval.passage_reader import load_passage_reader
from argot.tools.retrieval.reader_scorer import ReaderScorer
from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.rarity import compute_idf
from argot.tools.text.words import find_identifiers, stem_all, stem_content
from argot.types import Hit

WINDOW_WORDS = 40
"""Words (including stop words) within which a question's words count as close together: two or three sentences."""


NAMED_WEIGHT = 0.3
"""Weight of containing the question's part numbers and other names with digits, if it has any."""


@dataclass(frozen=True, slots=True)
class LexicalWeights:
    """The parts of a lexical score; they add up to 1."""

    coverage: float = 0.05
    together: float = 0.15
    order: float = 0.70
    heading: float = 0.10


class LexicalScorer:
    """A `Scorer` made of rarity-weighted word overlap; 50 passages take about 10 ms.

    Rarity is measured among the given texts: a word in all of them does not distinguish them, and a word in none lowers
    every score, so that a question about something else scores low everywhere. The first line of a text is its heading
    (`Passage.with_header`).
    """

    def __init__(self, weights: LexicalWeights | None = None) -> None:
        self.weights = weights or LexicalWeights()

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        wanted = find_query_stems(query)
        if not wanted or not texts:
            return [0.0] * len(texts)
        read = [_read_stems(text) for text in texts]
        rarity = _measure_rarity(wanted, read)
        pairs = list(dict.fromkeys(pairwise(wanted)))
        named = {name: rarity[name] for name in find_identifiers(query) & rarity.keys() if any(map(str.isdigit, name))}
        scores = [self._score(rarity, pairs, text) for text in read]
        if not named:
            return scores
        held = [_measure_share(named, text.places, sum(named.values())) for text in read]
        return [NAMED_WEIGHT * has + (1 - NAMED_WEIGHT) * score for has, score in zip(held, scores, strict=True)]

    def _score(self, rarity: dict[str, float], pairs: list[tuple[str, str]], text: _TextStems) -> float:
        total = sum(rarity.values())
        weights = self.weights
        order = (
            sum(_score_adjacency(text, a, b) for a, b in pairs) / len(pairs)
            if pairs
            else _measure_share(rarity, text.places, total)
        )
        return (
            weights.coverage * _measure_share(rarity, text.places, total)
            + weights.together * _find_best_window(rarity, text, total)
            + weights.order * order
            + weights.heading * _measure_share(rarity, text.heading, total)
        )


@dataclass(frozen=True, slots=True)
class _TextStems:
    """A text as its stems: the places (word numbers) of each, and the stems of its first line."""

    places: dict[str, tuple[int, ...]]
    heading: frozenset[str]


@lru_cache(maxsize=5_000)  # some 10 to 20 kB each
def _read_stems(text: str) -> _TextStems:
    places: dict[str, list[int]] = {}
    for place, word in enumerate(stem_all(extract_prose(text).text, text)):
        places.setdefault(word, []).append(place)
    for name in find_identifiers(text):
        # Without a position: a whole name counts as present if its parts are in the window.
        places.setdefault(name, [])
    first_line = text.split("\n", 1)[0]
    heading = frozenset(stem_all(first_line, text)) | find_identifiers(first_line)
    return _TextStems({key: tuple(value) for key, value in places.items()}, heading)


@lru_cache(maxsize=1_000)
def find_query_stems(query: str) -> tuple[str, ...]:
    """Return the question's content: stems of its words without stop words, in order, and its identifiers whole."""
    stems = [one for _, one in stem_content(query)]
    # Sorted, because the order of a set differs between processes.
    return tuple(dict.fromkeys([*stems, *sorted(find_identifiers(query) - set(stems))]))


def _measure_rarity(query_stems: Sequence[str], read: Sequence[_TextStems]) -> dict[str, float]:
    count = len(read)
    weights = {}
    for item in query_stems:
        holding = sum(item in text.places for text in read)
        # 0.2: a word that all texts hold still counts a little.
        weights[item] = compute_idf(holding, count) + 0.2
    return weights


def _measure_share(rarity: dict[str, float], stems: dict[str, tuple[int, ...]] | frozenset[str], total: float) -> float:
    return sum(weight for item, weight in rarity.items() if item in stems) / total


def _find_best_window(rarity: dict[str, float], text: _TextStems, total: float) -> float:
    """Return the largest share of the question's words that occur within `WINDOW_WORDS` words of each other."""
    hits = sorted((place, item) for item in rarity for place in text.places.get(item, ()))
    best = current = 0.0
    inside: dict[str, int] = {}
    start = 0
    for place, item in hits:
        if not inside.get(item):
            current += rarity[item]
        inside[item] = inside.get(item, 0) + 1
        # The window slides over the hits, so that each enters and leaves it once.
        while place - hits[start][0] > WINDOW_WORDS:
            gone = hits[start][1]
            inside[gone] -= 1
            if not inside[gone]:
                current -= rarity[gone]
            start += 1
        best = max(best, current)
    return best / total


def _score_adjacency(text: _TextStems, one: str, other: str) -> float:
    """Return 1 if the two are adjacent in this order (up to two words between), as in the question; else 0."""
    before, after = text.places.get(one), text.places.get(other)
    if not before or not after:
        return 0.0
    following = set(after)
    return float(any(place + step in following for place in before for step in (1, 2, 3)))


# -- the step itself --------------------------------------------------------------------------------------------------


READ_PASSAGES = 16
"""Number of passages that the reader reads. On the training questions of `lay_train` (bench/laboratory/retrieval.md) 12
leave out one right passage of fifty that 16 put among the first ten, and more than 20 add none."""
READ_PASSAGES_FOR_MODEL = 30
"""Number of passages that the reader reads if a model gets more of them than people see: 97 instead of 94 % of the
questions then have a gold passage among the first 20."""
CHOOSING_SHARE = 0.2
"""Share of words, beside the search's score, in the choice of what the reader reads. An everyday question often shares
no word with the passage that answers it; words have more weight (`Profile.rerank_weight`) only in the order of the
chosen passages."""


def get_scorer_of_words(scorer: Scorer, query: str) -> Scorer | None:
    """Return the scorer to use where the reader finds too little for a question that is not English: it has learnt from
    English. None: there is no other.
    """
    return scorer.before if isinstance(scorer, ReaderScorer) and identify_listed_language(query) != ENGLISH else None


def rerank(
    queries: Sequence[WeightedQuery],
    hits: Sequence[Hit],
    scorer: Scorer,
    profile: Profile,
    read: int = READ_PASSAGES,
    *,
    judged: bool = True,
) -> list[Hit]:
    """Return the hits in their new order. Without the reader, a hit's score is the scorer's with the weight
    `rerank_weight`, and the search's with the rest.

    With several wordings of the question, each passage's best one counts, by its weight. If the scorer is the reader,
    it reads the `read` hits that the search and words put first, and the passage reader, if there is one, judges the
    best of them; words and search order the others.

    Args:
        judged: false leaves the passage reader out: for the data on which it is trained, and where the evidence does
            not matter, or not yet (`add_judgement`). The order is the same.
    """
    if not hits or not queries:
        return list(hits)
    reader = scorer if isinstance(scorer, ReaderScorer) else None
    by_words = _score_texts(queries, hits, reader.before if reader else scorer)
    mixed = _mix_scores(hits, by_words, profile.rerank_weight)
    order = sorted(range(len(hits)), key=lambda place: -mixed[place])
    scored = [(place, replace(hits[place], score=mixed[place])) for place in order]
    if reader is None:
        return [hit for _, hit in scored]
    chosen = _mix_scores(hits, by_words, CHOOSING_SHARE)
    chosen_places = set(sorted(order, key=lambda place: -chosen[place])[:read])
    near = [hit for place, hit in scored if place in chosen_places]
    far = [hit for place, hit in scored if place not in chosen_places]
    return _read_again(queries, near, far, reader, load_passage_reader(reader) if judged else None)


def _score_texts(queries: Sequence[WeightedQuery], hits: Sequence[Hit], scorer: Scorer) -> list[float]:
    texts = [hit.passage.with_header for hit in hits]
    by_query = [[query.weight * score for score in scorer.score(query.text, texts)] for query in queries]
    return [max(scores) for scores in zip(*by_query, strict=True)]


def _mix_scores(hits: Sequence[Hit], scores: Sequence[float], share: float) -> list[float]:
    return [share * score + (1 - share) * hit.score for hit, score in zip(hits, scores, strict=True)]


MATCH_WEIGHT = 1.0
_MIXED_WEIGHT = 0.8
"""Weights of the reader's match, and of the mixed score of words and search, in the order of what it has read."""
_EVIDENCE_MATCH_WEIGHT = 0.6
"""Weight of the match in the evidence, beside 1 for words and search; `abstain_below` was chosen with it."""
CLOSELY_READ_PASSAGES = 10
"""Number of the passages read, the best ones, that the passage reader judges."""
_MAX_CONTENDERS = 3
"""Number of the passages read that may contain the answer. The others show the match of a passage that is merely in the
same knowledge base: the lead over them says more than the match itself."""
_EVEN_MATCH = 0.40  # score of an unrelated passage, if too few were found to measure it
_FIT_WEIGHT = 0.3
_CHANCE_WEIGHT = 0.6
_EVEN_EVIDENCE = 0.03
_RELEVANCE_EVIDENCE = 0.5
_EVEN_RELEVANCE = 0.2
"""Weight of the passage reader's best relevance in the evidence, and the relevance that leaves the evidence as it is.
Both were chosen on the training and validation questions of `lay_train`: with them more of the answerable questions
have enough evidence, and fewer of the others."""


def _read_again(
    queries: Sequence[WeightedQuery],
    near: Sequence[Hit],
    far: Sequence[Hit],
    reader: ReaderScorer,
    judge: PassageReader | None,
) -> list[Hit]:
    """Return the near hits ordered by words, search and the reader, followed by the far ones.

    The best one's score is the evidence that the passages answer; score differences between passages show how far apart
    they are.
    """
    texts = [hit.passage.with_header for hit in near]
    first, chances = reader.score_and_answers(queries[0].text, texts)
    # By its best-matching wording: a passage may have the abbreviation and no word of its expansion.
    by_query = [first, *(reader.score(other.text, texts) for other in queries[1:])]
    matches = [max(scores) for scores in zip(*by_query, strict=True)]
    fits = [_MIXED_WEIGHT * hit.score + MATCH_WEIGHT * match for hit, match in zip(near, matches, strict=True)]
    order = sorted(range(len(near)), key=lambda place: -fits[place])
    fit = near[order[0]].score + _EVIDENCE_MATCH_WEIGHT * matches[order[0]]
    evidence = _compute_evidence(fit, [matches[place] for place in order], max(chances))
    if judge is not None:
        # The order itself stays: on manuals unlike what the passage reader learnt from, it puts fewer right ones first.
        evidence += _judge_best(queries, [near[place] for place in order], judge)
    # At most 1 before the others are compared with it: cut off one by one, the best ones would seem alike.
    shift = min(1.0, evidence) - fits[order[0]]
    ordered = [replace(near[place], score=min(1.0, max(0.0, fits[place] + shift))) for place in order]
    least = ordered[-1].score
    return [*ordered, *(hit if hit.score <= least else replace(hit, score=least) for hit in far)]


def _holds_all_words(query: str, hit: Hit) -> bool:
    wanted = find_query_stems(query)
    return bool(wanted) and _read_stems(hit.passage.with_header).places.keys() >= set(wanted)


def add_judgement(evidence: float, queries: Sequence[WeightedQuery], hits: Sequence[Hit], scorer: Scorer) -> float:
    """Return the evidence of hits that were ranked with `judged` false, with the passage reader's judgement added."""
    judge = load_passage_reader(scorer)
    if judge is None or not hits or not queries:
        return evidence
    return min(1.0, max(0.0, evidence + _judge_best(queries, hits, judge)))


def _judge_best(queries: Sequence[WeightedQuery], hits: Sequence[Hit], judge: PassageReader) -> float:
    """Return the amount that the closest reading of the first hits adds to the evidence, each for the wording that it
    answers best.
    """
    passages = [hit.passage for hit in hits[:CLOSELY_READ_PASSAGES]]
    read = read_best_wordings(judge, [(query.text, query.weight) for query in queries], passages)
    judgement = _RELEVANCE_EVIDENCE * (max(one.relevance for one in read) - _EVEN_RELEVANCE)
    # Of a short question whose every word is there ("What about wages?") the passage reader cannot tell enough.
    return max(0.0, judgement) if _holds_all_words(queries[0].text, hits[0]) else judgement


def _compute_evidence(fit: float, matches: Sequence[float], chance: float) -> float:
    """Return the evidence: how far the best match exceeds the others, and how well the best passage fits.

    The matches are in the order of the passages.
    """
    others = [*matches[_MAX_CONTENDERS:], *[_EVEN_MATCH] * (READ_PASSAGES - len(matches))][
        : READ_PASSAGES - _MAX_CONTENDERS
    ]
    above = max(matches[:_MAX_CONTENDERS]) - fmean(others)
    return _EVEN_EVIDENCE + above + _FIT_WEIGHT * (fit + _CHANCE_WEIGHT * (chance - 0.5))


_LEXICAL_EVIDENCE = 0.35  # the share of the question's own words; the rest is the best hit's score
MAX_SENTENCES = 30  # number of the best passages: bounds the embedding work
LIKELIEST_SENTENCES = 5
"""The number of them that is embedded first."""
MIN_CLEAR_EVIDENCE = 0.5
"""The reader's evidence from which missing words do not matter."""
BEST_PASSAGES = 3
"""Passages among which the best evidence is searched: the re-ranker may be wrong by a place or two."""


def measure_evidence(query: str, hits: Sequence[Hit], scorer: Scorer) -> float:
    """Return how likely the best passages answer the question, in [0, 1]. Below `Profile.abstain_below`: abstain.

    `hits` are re-ranked by the scorer. The reader's best score is its evidence. For another scorer one part is the best
    hit's score, which combines the judgement of search and scorer. The other is the share of the question's content
    words, weighted by their rarity among all hits, that occur close together in one of the best passages or its
    headings: a word that no hit contains weighs most, since a question about something else always has some.
    """
    wanted = find_query_stems(query)
    if not wanted or not hits:
        return 0.0
    if isinstance(scorer, ReaderScorer):
        return hits[0].score
    read = [_read_stems(hit.passage.with_header) for hit in hits]
    rarity = _measure_rarity(wanted, read)
    lexical = max(_measure_held_together(rarity, text) for text in read[:BEST_PASSAGES])
    return _LEXICAL_EVIDENCE * lexical + (1 - _LEXICAL_EVIDENCE) * hits[0].score


def is_quotable(  # noqa: PLR0917
    query: str, hits: Sequence[Hit], evidence: float, scorer: Scorer, profile: Profile, embedder: Embedder
) -> bool:
    """Return whether the evidence of re-ranked hits is enough to quote from them; without re-ranking any hit is."""
    if not hits or not profile.rerank or evidence >= profile.abstain_below:
        return bool(hits)
    # The reader has compared them by meaning already: on the validation questions a second check changed nothing.
    return not isinstance(scorer, ReaderScorer) and has_near_sentence(query, hits, embedder, profile.answer_from)


def is_clear(evidence: float, scorer: Scorer) -> bool:
    """Return whether the reader finds the question in the passages, whatever words they lack."""
    return isinstance(scorer, ReaderScorer) and evidence >= MIN_CLEAR_EVIDENCE


def has_near_sentence(query: str, hits: Sequence[Hit], embedder: Embedder, least: float) -> bool:
    """Return whether a sentence of the best passages has this cosine with the question: a second check of weak
    evidence.

    Words alone rate a paraphrase as weak, the more so the larger the base: among many passages few stand out. Sentences
    that share words with the question are compared first, since embedding takes nearly all of the time.
    """
    found = [
        unit.plain for hit in hits[:BEST_PASSAGES] for unit in read_units(hit.passage.text) if unit.kind != "heading"
    ]
    asked = find_statement_stems(query)
    sentences = sorted(found[:MAX_SENTENCES], key=lambda text: -len(asked & find_statement_stems(text)))
    # In two batches: usually the first decides, and the second is not embedded.
    return any(
        _find_nearest(query, some, embedder) >= least
        for some in (sentences[:LIKELIEST_SENTENCES], sentences[LIKELIEST_SENTENCES:])
        if some
    )


def _find_nearest(query: str, sentences: Sequence[str], embedder: Embedder) -> float:
    vectors = embedder.embed_queries([query, *sentences])
    return float(rescale_cosines(vectors[1:] @ vectors[0], embedder).max())


def _measure_held_together(rarity: dict[str, float], text: _TextStems) -> float:
    """Return `_find_best_window`, with words of the headings counted as adjacent to everything."""
    total = sum(rarity.values())
    in_heading = {item: weight for item, weight in rarity.items() if item in text.heading}
    others = {item: weight for item, weight in rarity.items() if item not in text.heading}
    return (sum(in_heading.values()) + _find_best_window(others, text, 1.0)) / total
