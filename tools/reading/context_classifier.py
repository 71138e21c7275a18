"""Identifies the context of a question, without a language model (Golden-Retriever 3.3).

A context is known by its name and description, but also by its signature: the words of its senses, and the passages
that contain their expansions. An imported glossary has only names for its contexts, and the name may be uninformative;
then only the signature decides.
"""

from __future__ import annotations

import itertools
import math
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cache

import numpy as np

from argot.corpus.embedding.cosine_scale import rescale_cosines
from argot.corpus.store.document_store import CorpusStore
from argot.jargon_db.lookup.normalise import normalise
from argot.languages.detection import identify_listed_language
from argot.languages.language_data import ENGLISH, load_language
from argot.protocols import Embedder, Vectors
from argot.tools.text.words import content_stems, stem_by_language
from argot.types import Context, ContextScore, Mention, Passage, Principal, Sense

_MAX_PASSAGES = 20
_MAX_PHRASE_WORDS = 5  # words
_MAX_KEPT_PASSAGES = 20_000
_MAX_QUESTION_CHARS = 4_000  # characters of a question

# Weight of each kind of evidence (natural logarithms), and the score for none. Chosen on the validation half of the
# samples.
_DESCRIPTION_WEIGHT = 12.0
_WORDS_WEIGHT = 6.0
_PASSAGES_WEIGHT = 4.0
_TERMS_WEIGHT = 4.0
_NAMED_WEIGHT = 3.0
_NO_CONTEXT_LOGIT = 0.5
_MIN_SCORE = 0.02

_ASKING = frozenset(
    stem
    for word in re.findall(
        r"\w+",
        """abbreviation acronym ask brief call called concept contact define definition describe detail explain
        explanation expression find form full go guide help info information know knowledge learn
        letter letters look mean meaning means name need note overview page person please question
        read refer rule rules say search see show somebody someone something stand stands summary
        talk tell term terms thing think topic understand want wiki word words work write""",
    )
    for stem in content_stems(word)
)
"""Stems of English words with which people ask about a term without naming its subject."""


class ContextSignatures:
    """The words and phrases of each context of a glossary. Immutable but for a cache; one per glossary version.

    Phrases are expansions and aliases as tuples of stems: at least two words, or one long one.
    """

    _made = itertools.count(1)

    def __init__(self, senses: Sequence[Sense]) -> None:
        self.number = next(self._made)
        """Unique in the process, for the keys of caches."""
        self._words: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._phrases: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
        self.size = len(senses)
        """Number of senses."""
        self._meanings: defaultdict[str, set[str]] = defaultdict(set)
        by_term: defaultdict[str, set[str]] = defaultdict(set)
        for sense in senses:
            if sense.expansion:
                self._meanings[sense.context].add(sense.expansion)
            self._words[sense.context].update(set(content_stems(f"{sense.expansion} {sense.description}")))
            by_term[normalise(sense.term)].add(sense.context)
            for name in (sense.expansion, *sense.aliases):
                stems = tuple(content_stems(name))[:_MAX_PHRASE_WORDS]
                # A short single word ("gate", "cell") is used in every context.
                if len(stems) > 1 or len(name) > 6:
                    self._phrases[stems].add(sense.context)
        self._sole = {term: next(iter(found)) for term, found in by_term.items() if len(found) == 1}
        self._seen_in: dict[str, frozenset[str]] = {}

    def sample_meanings(self, context: str, most: int) -> tuple[str, ...]:
        """Return at most this many expansions of a context: always the same ones, whatever their order in a file."""
        return tuple(
            sorted(self._meanings.get(context, ()), key=lambda meaning: (zlib.crc32(meaning.encode()), meaning))[:most]
        )

    def measure_shared_words(self, stems: Collection[str], contexts: Sequence[str]) -> dict[str, float]:
        """Return the share of the question's words that each context's senses use, rare words counting more; [0, 1]."""
        spread = {stem: sum(stem in self._words[name] for name in contexts) for stem in set(stems)}
        # A word that all contexts use has almost no weight.
        weight = {stem: math.log((len(contexts) + 1) / max(n, 1)) for stem, n in spread.items()}
        total = sum(weight.values()) or 1.0
        return {name: sum(w for s, w in weight.items() if s in self._words[name]) / total for name in contexts}

    def count_sole_contexts(self, mentions: Sequence[Mention]) -> Counter[str]:
        """Return, for each context, how many of the mentioned terms have senses only there."""
        terms = {normalise(mention.term) for mention in mentions if mention.term}
        return Counter(self._sole[term] for term in terms if term in self._sole)

    def find_contexts(self, passage: Passage) -> frozenset[str]:
        """Return the contexts whose expansions the passage uses."""
        found = self._seen_in.get(passage.id)
        if found is None:
            if len(self._seen_in) >= _MAX_KEPT_PASSAGES:
                self._seen_in.clear()
            found = self._seen_in[passage.id] = self._match_phrases(content_stems(f"{passage.heading} {passage.text}"))
        return found

    def _match_phrases(self, stems: Sequence[str]) -> frozenset[str]:
        found: set[str] = set()
        for start in range(len(stems)):
            for length in range(1, _MAX_PHRASE_WORDS + 1):
                found |= self._phrases.get(tuple(stems[start : start + length]), set())
        return frozenset(found)


def score_contexts(
    question: str,
    mentions: Sequence[Mention],
    contexts: Sequence[Context],
    signatures: ContextSignatures,
    *,
    embedder: Embedder | None = None,
    store: CorpusStore | None = None,
    principal: Principal | None = None,
) -> list[ContextScore]:
    """Return the given contexts, best first, with scores that add up to less than 1; none without any evidence.

    The difference to 1 is the chance that the question belongs to no context in particular.
    """
    names = list(dict.fromkeys(context.name for context in contexts))
    text = select_compared_text(question, mentions)
    stems = find_subject_stems(text)
    if not names or not (stems or mentions):
        return []
    seen = _measure_passages(text, names, signatures, store, principal) if stems and store and principal else {}
    described = _measure_descriptions(text, contexts, embedder) if stems and embedder else {}
    shared = signatures.measure_shared_words(stems, names)
    sole = signatures.count_sole_contexts(mentions)
    named = find_named_contexts(text, names)
    logits = {
        name: _DESCRIPTION_WEIGHT * described.get(name, 0.0)
        + _WORDS_WEIGHT * shared[name]
        + _PASSAGES_WEIGHT * seen.get(name, 0.0)
        + _TERMS_WEIGHT * min(sole[name], 2)
        + _NAMED_WEIGHT * (name in named)
        for name in names
    }
    return _normalize_scores(logits)


def find_subject_stems(text: str) -> list[str]:
    """Return the content stems of a question, or none if it only asks for a name, a meaning or a place."""
    stems = content_stems(text)
    return stems if set(stems) - _list_asking_stems(identify_listed_language(text)) else []


@cache
def _list_asking_stems(language: str) -> frozenset[str]:
    if language == ENGLISH:
        return _ASKING
    return frozenset(stem_by_language(language, word) for word in load_language(language).asking_words)


def find_named_contexts(text: str, names: Sequence[str]) -> set[str]:
    """Return the contexts that the question names by a word that is in no other context's name: "what does SLA mean in
    legal?".
    """
    spread: defaultdict[str, set[str]] = defaultdict(set)
    for name in names:
        for word in name.split():
            # "IT" and "HR" as written: in small letters "it" is a stop word.
            keys = [word] if len(word) > 1 and word.isupper() else content_stems(word)
            for key in keys:
                spread[key].add(name)
    found = {*content_stems(text), *re.findall(r"\b[A-Z]{2,}\b", text)}
    return {next(iter(held)) for key, held in spread.items() if len(held) == 1 and key in found}


def select_compared_text(question: str, mentions: Sequence[Mention]) -> str:
    """Return the part of the question that is compared with names and descriptions of contexts."""
    return remove_terms(question, mentions)[:_MAX_QUESTION_CHARS]


def remove_terms(question: str, mentions: Sequence[Mention]) -> str:
    """Return the question without the glossary's terms, whose spelling is no evidence of their meaning here."""
    text = question
    for mention in sorted(mentions, key=lambda m: -m.start):
        if mention.term:
            text = f"{text[: mention.start]} {text[mention.end :]}"
    return text


def _normalize_scores(logits: Mapping[str, float]) -> list[ContextScore]:
    """Return a distribution over contexts and "none"; empty when no context stands out."""
    # With equal scores nothing distinguishes them, and a uniform distribution would look like knowledge.
    if max(logits.values()) - min(logits.values()) < 1e-9 and len(logits) > 1:
        return []
    if max(logits.values()) < _NO_CONTEXT_LOGIT:
        return []
    weights = {name: math.exp(min(logit, 50.0)) for name, logit in logits.items()}
    total = sum(weights.values()) + math.exp(_NO_CONTEXT_LOGIT)
    scores = [ContextScore(name, round(weight / total, 4)) for name, weight in weights.items()]
    return sorted((s for s in scores if s.score >= _MIN_SCORE), key=lambda s: (-s.score, s.context))


def _measure_passages(
    text: str, names: Sequence[str], signatures: ContextSignatures, store: CorpusStore, principal: Principal
) -> dict[str, float]:
    """Return, for each context, the weight of the question's nearest passages that use its expansions, less the
    average.
    """
    ranked = store.keyword_search(principal, text, _MAX_PASSAGES)
    passages = store.passages(principal, [passage_id for passage_id, _ in ranked])
    found: Counter[str] = Counter()
    total = 0.0
    for rank, (passage_id, _) in enumerate(ranked):
        if passage_id not in passages:
            continue
        # The 3 keeps the first passage from deciding alone.
        weight = 1 / (rank + 3)
        total += weight
        for name in signatures.find_contexts(passages[passage_id][0]):
            found[name] += weight  # type: ignore[assignment]
    shares = {name: found[name] / total if total else 0.0 for name in names}
    average = sum(shares.values()) / len(names)
    return {name: share - average for name, share in shares.items()}


def _measure_descriptions(text: str, contexts: Sequence[Context], embedder: Embedder) -> dict[str, float]:
    """Return, for each described context, the cosine of its description with the question, less the mean over all of
    them.
    """
    descriptions = {
        context.name: f"{context.name}. {context.description}" for context in contexts if context.description
    }
    # A single description equals the average.
    if len(descriptions) < 2:
        return {}
    vectors = _embed_descriptions(tuple(descriptions.values()), embedder)
    similarity = rescale_cosines(vectors @ embedder.embed_queries([text])[0], embedder)
    centred = similarity - similarity.mean()
    return {name: float(value) for name, value in zip(descriptions, centred, strict=True)}


def _embed_descriptions(texts: tuple[str, ...], embedder: Embedder) -> Vectors:
    key = (embedder.fingerprint, texts)
    vectors = _description_vectors.get(key)
    if vectors is None:
        vectors = np.asarray(embedder.embed_passages(list(texts)))
        # Other threads may clear it at any time.
        if len(_description_vectors) >= _KEPT_DESCRIPTIONS:
            _description_vectors.clear()
        _description_vectors[key] = vectors
    return vectors


_KEPT_DESCRIPTIONS = 64
_description_vectors: dict[tuple[str, tuple[str, ...]], Vectors] = {}
