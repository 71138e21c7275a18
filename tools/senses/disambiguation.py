"""Chooses among the senses of a term, with evidence (Golden-Retriever 3.3 and 3.4, without a language model).

The best evidence is in the documents: the right expansion occurs in passages that are also about the rest of the
question, a wrong one only in unrelated passages. Names of contexts may be uninformative and are never relied on.
Further evidence: the asker's context, the similarity of the meaning to the question, expansions whose words the
question already uses, and that terms of one question tend to belong to one context ("one sense per discourse", Gale,
Church and Yarowsky 1992). One log-linear score combines all evidence; its weights were fitted on validation data
(docs/senses.md).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from argot.corpus.corpus import Corpus
from argot.tools.reading.context_classifier import ContextSignatures, find_subject_stems
from argot.tools.senses.document_evidence import QuestionProximity, find_sense_passages
from argot.tools.senses.usage_evidence import find_usages
from argot.tools.text.words import content_stems
from argot.types import ContextScore, Mention, Principal, Sense

_MAX_QUESTION_CHARS = 4_000  # characters of a question
_MAX_SENSES = 24  # senses of one term; further ones are ranked last, without a score
_DISCOURSE_ROUNDS = 2
_MIN_LEAD = 0.1  # a lead in the score; less is no reason
_MASS_PASSAGES = 200
_SPREAD_PASSAGES = 60
_WELL_SUPPORTED = 1.0  # value of `near`: first by meaning or by words, or sixtieth by both


@dataclass(frozen=True, slots=True)
class SenseEvidence:
    """The evidence for one sense, each kind as the factor of its weight.

    Its passages are those that contain the expansion, and those that use the bare term, weighted by how likely they
    mean this sense (`tools/senses/usage_evidence.py`).

    Attributes:
        near: the one of its passages that is nearest the rest of the question; [0, 2], by ranks.
        mass: the sum of the same over its first 200 passages.
        spread: logarithm of their number plus one, to 60; its weight is negative, so that common phrases gain nothing.
        keyword: best keyword score over the term's best: of the question with the expansion in place of the term, or
            of the question as it stands among the passages that mean this sense by the bare term.
        likeness: cosine of the rest of the question with expansion and description; only if the documents have little
            evidence for any of the term's senses, because otherwise it misled more than it helped.
        stated: share of the expansion's words that the rest of the question uses; [0, 1].
        context: score of the sense's context for this question; [0, 1].
        preferred: 1 if it is the asker's own context.
        thread: share of the jargon of the thread's last turns that was read in this context; [0, 1].
        discourse: probability that the question's other terms belong to the same context, summed over them.
    """

    near: float = 0.0
    mass: float = 0.0
    spread: float = 0.0
    keyword: float = 0.0
    likeness: float = 0.0
    stated: float = 0.0
    context: float = 0.0
    preferred: float = 0.0
    thread: float = 0.0
    discourse: float = 0.0


WEIGHTS = SenseEvidence(
    near=3.8,
    mass=0.08,
    spread=-0.59,
    keyword=4.2,
    likeness=5.0,
    stated=1.0,
    context=2.0,
    preferred=1.5,
    thread=1.0,
    discourse=0.7,
)
"""`near` to `likeness` are fitted; the last five are set by hand, as no validation set has evidence for them."""

_GROUPS = {
    "the documents that speak of the rest of the question": ("near", "mass", "spread", "keyword"),
    "its meaning is close to the question": ("likeness",),
    "its words stand in the question": ("stated",),
    "the question's context is {context}": ("context",),
    "your context is {context}": ("preferred",),
    "this conversation speaks of {context}": ("thread",),
    "the other terms speak of {context}": ("discourse",),
}


@dataclass(frozen=True, slots=True)
class SenseRanking:
    """The senses of one mention, best first, with probabilities; `margin` is the best one's lead, in [0, 1].

    The lead is over the best sense with another meaning: two contexts may have the same expansion.
    """

    mention: Mention
    ranked: tuple[tuple[Sense, float], ...]
    margin: float
    decided_by: str


class SenseChooser:
    """Ranks the senses of the terms of one question, on behalf of one principal. Cheap to make."""

    def __init__(self, corpus: Corpus, principal: Principal, signatures: ContextSignatures | None = None) -> None:
        """`signatures` show the contexts of a document; without them its bare terms are weaker evidence."""
        self._corpus = corpus
        self._principal = principal
        self._signatures = signatures

    def choose(  # noqa: PLR0917
        self,
        question: str,
        mentions: Sequence[Mention],
        senses_by_term: Mapping[str, Sequence[Sense]],
        contexts: Sequence[ContextScore] = (),
        preferred_context: str | None = None,
        remembered: Mapping[str, int] | None = None,
        thread: Mapping[str, float] | None = None,
    ) -> list[SenseRanking]:
        """Return one ranking for each mention whose term has senses, in order. All mentions of a term get the same
        sense.

        Args:
            senses_by_term: by `mention.term`, or by its surface if the glossary has no spelling for it.
            remembered: ids of senses chosen earlier in the thread, by term; they take precedence.
            thread: the share of the thread's last jargon that was read in each context.
        """
        known = [mention for mention in mentions if senses_by_term.get(_get_term(mention))]
        settled = _find_settled(known, senses_by_term, remembered or {})
        undecided = {_get_term(m): senses_by_term[_get_term(m)] for m in known if _get_term(m) not in settled}
        weighed: dict[str, SenseRanking] = {}
        if undecided:
            leaning = _ContextEvidence(
                {score.context: score.score for score in contexts}, preferred_context, thread or {}
            )
            evidence = self._collect_evidence(question, known, settled, undecided, leaning)
            thin = len(set(find_subject_stems(_remove_terms(question, known, settled, undecided)))) == 1
            weighed = _rank_together(known, undecided, evidence, settled, thin=thin)
        by_term = {**settled, **weighed}
        return [replace(by_term[_get_term(mention)], mention=mention) for mention in known]

    def _collect_evidence(
        self,
        question: str,
        mentions: Sequence[Mention],
        settled: Mapping[str, SenseRanking],
        undecided: Mapping[str, Sequence[Sense]],
        leaning: _ContextEvidence,
    ) -> dict[str, list[SenseEvidence]]:
        """Return all evidence except that of the other terms, for the senses of each undecided term, in their order."""
        meanings = {term: ranking.ranked[0][0].full_name for term, ranking in settled.items()}
        blank = dict.fromkeys(undecided, " ")
        rest = _remove_terms(question, mentions, settled, undecided)
        stems = set(find_subject_stems(rest))
        nearness = QuestionProximity(self._corpus, self._principal, rest if stems else "")
        found: dict[str, list[SenseEvidence]] = {}
        for term, senses in undecided.items():
            weighable = senses[:_MAX_SENSES]
            queries = [replace_mentions(question, mentions, {**meanings, **blank, term: s.meaning}) for s in weighable]
            if not stems:
                # Nothing remains of "What is ECC?" that a passage could be near to.
                found[term] = _build_unwitnessed(weighable, nearness.measure_similarities(queries), leaning)
                continue
            used = find_usages(self._corpus, self._principal, term, weighable, self._signatures)
            typed = replace_mentions(question, mentions, {**meanings, **blank, term: term}) if used else ""
            keyword = nearness.measure_keyword_shares(queries, typed, used)
            witnessed = [
                self._measure_sense(sense, nearness, {id_: own[n] for id_, own in used.items()}, stems, leaning)
                for n, sense in enumerate(weighable)
            ]
            witnessed = [replace(one, keyword=share) for one, share in zip(witnessed, keyword, strict=True)]
            found[term] = _add_likeness(witnessed, weighable, nearness)
        return found

    def _measure_sense(
        self,
        sense: Sense,
        nearness: QuestionProximity,
        used: Mapping[str, float],
        stems: set[str],
        leaning: _ContextEvidence,
    ) -> SenseEvidence:
        """Return all evidence for a sense except the keyword score. `used`: passages with the bare term, and the
        probability that each means this sense by it.
        """
        documents = dict.fromkeys(find_sense_passages(self._corpus.store, self._principal, sense), 1.0)
        shares = {**documents, **{id_: share for id_, share in used.items() if id_ not in documents}}
        weights = [
            near * share for near, share in zip(nearness.measure_passages([*shares]), shares.values(), strict=True)
        ]
        words = set(content_stems(sense.meaning))
        return replace(
            leaning.build_evidence(sense),
            near=max(weights, default=0.0),
            mass=sum(weights[:_MASS_PASSAGES]),
            spread=math.log1p(min(sum(shares.values()), _SPREAD_PASSAGES)),
            stated=len(words & stems) / len(words) if words else 0.0,
        )


@dataclass(frozen=True, slots=True)
class _ContextEvidence:
    """Evidence for contexts that needs no documents."""

    scores: Mapping[str, float]
    preferred: str | None = None
    thread: Mapping[str, float] = field(default_factory=dict)

    def build_evidence(self, sense: Sense) -> SenseEvidence:
        return SenseEvidence(
            context=self.scores.get(sense.context, 0.0),
            preferred=float(sense.context == self.preferred),
            thread=self.thread.get(sense.context, 0.0),
        )


def _build_unwitnessed(
    senses: Sequence[Sense], similarities: Sequence[float], leaning: _ContextEvidence
) -> list[SenseEvidence]:
    """Return the evidence for a question such as "What is GR?": the asker must choose. Until then the sense that some
    passage explains best comes first.

    Similarity replaces `mass`, whose small weight only lets it break ties.
    """
    return [replace(leaning.build_evidence(sense), mass=near) for sense, near in zip(senses, similarities, strict=True)]


def _add_likeness(
    evidence: list[SenseEvidence], senses: Sequence[Sense], nearness: QuestionProximity
) -> list[SenseEvidence]:
    # With good support from the documents similarity misled more than it helped (`SenseEvidence.likeness`). It also
    # costs an embedding for each sense.
    if max(one.near for one in evidence) >= _WELL_SUPPORTED:
        return evidence
    return [replace(one, likeness=like) for one, like in zip(evidence, nearness.measure_meanings(senses), strict=True)]


def _remove_terms(
    question: str, mentions: Sequence[Mention], settled: Mapping[str, SenseRanking], undecided: Iterable[str]
) -> str:
    """Return the question with its settled terms spelt out and without the undecided ones."""
    meanings = {term: ranking.ranked[0][0].full_name for term, ranking in settled.items()}
    return replace_mentions(question, mentions, {**meanings, **dict.fromkeys(undecided, " ")})


def replace_mentions(question: str, mentions: Iterable[Mention], by: Mapping[str, str]) -> str:
    """Return the question with each mention whose term is in `by` replaced; mentions must not overlap."""
    text = question
    # From the end, so that earlier offsets stay valid.
    for mention in sorted(mentions, key=lambda m: -m.start):
        if _get_term(mention) in by:
            text = text[: mention.start] + by[_get_term(mention)] + text[mention.end :]
    return text[:_MAX_QUESTION_CHARS]


def score(evidence: SenseEvidence, weights: SenseEvidence = WEIGHTS) -> float:
    """Return the log-linear score, before it is normalised over the senses of a term."""
    return float(sum(getattr(evidence, f.name) * getattr(weights, f.name) for f in fields(SenseEvidence)))


def _get_term(mention: Mention) -> str:
    return mention.term or mention.surface


def _find_settled(
    mentions: Sequence[Mention], senses_by_term: Mapping[str, Sequence[Sense]], remembered: Mapping[str, int]
) -> dict[str, SenseRanking]:
    """Return the rankings of terms that need no scoring: chosen earlier in the thread, or with only one sense."""
    settled: dict[str, SenseRanking] = {}
    for mention in mentions:
        term = _get_term(mention)
        senses = senses_by_term[term]
        chosen = [sense for sense in senses if sense.id == remembered.get(term)]
        if len(senses) == 1:
            settled[term] = SenseRanking(mention, ((senses[0], 1.0),), 1.0, "only sense")
        elif chosen:
            others = [(sense, 0.0) for sense in senses if sense is not chosen[0]]
            settled[term] = SenseRanking(mention, ((chosen[0], 1.0), *others), 1.0, "your earlier choice")
    return settled


def _rank_together(
    mentions: Sequence[Mention],
    undecided: Mapping[str, Sequence[Sense]],
    evidence: Mapping[str, list[SenseEvidence]],
    settled: Mapping[str, SenseRanking],
    *,
    thin: bool,
) -> dict[str, SenseRanking]:
    """Return the rankings of all undecided terms together: each term's likely contexts support the others' senses
    there.
    """
    chances = {term: _compute_distribution(found) for term, found in evidence.items()}
    # A term alone has no others to agree with.
    for _ in range(_DISCOURSE_ROUNDS if len(undecided) + len(settled) > 1 else 0):
        beliefs = {term: _compute_beliefs(undecided[term], chances[term]) for term in undecided}
        beliefs |= {
            term: _compute_beliefs([s for s, _ in r.ranked], [p for _, p in r.ranked]) for term, r in settled.items()
        }
        evidence = {
            term: [
                replace(e, discourse=sum(b[sense.context] for other, b in beliefs.items() if other != term))
                for sense, e in zip(undecided[term], found, strict=False)
            ]
            for term, found in evidence.items()
        }
        chances = {term: _compute_distribution(found) for term, found in evidence.items()}
    first = {_get_term(mention): mention for mention in reversed(mentions)}
    return {
        term: _build_ranking(first[term], senses, evidence[term], chances[term], thin=thin)
        for term, senses in undecided.items()
    }


def _compute_beliefs(senses: Sequence[Sense], chances: Sequence[float]) -> defaultdict[str, float]:
    believed: defaultdict[str, float] = defaultdict(float)
    for sense, chance in zip(senses, chances, strict=False):
        believed[sense.context] += chance
    return believed


def _compute_distribution(evidence: Sequence[SenseEvidence]) -> list[float]:
    """Probabilities of the senses: a softmax of their scores."""
    scores = [score(one) for one in evidence]
    best = max(scores)
    weights = [math.exp(value - best) for value in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


def _build_ranking(
    mention: Mention,
    senses: Sequence[Sense],
    evidence: Sequence[SenseEvidence],
    chances: Sequence[float],
    *,
    thin: bool,
) -> SenseRanking:
    """Return the ranking, best first; ties keep the glossary's order. Senses beyond those scored come last.

    `thin`: the question has only one word beside the terms. Its context is a guess, and decides only if the documents
    agree: "How often is DR tested?" need not be about the test department.
    """
    order = sorted(range(len(chances)), key=lambda i: (-chances[i], i))
    ranked = [(senses[i], chances[i]) for i in order] + [(sense, 0.0) for sense in senses[len(chances) :]]
    # A sense of the same expansion in another context is no rival: either answers the question.
    meaning = content_stems(ranked[0][0].meaning)
    rivals = [n for n, (sense, _) in enumerate(ranked) if content_stems(sense.meaning) != meaning]
    rival = rivals[0] if rivals else None
    margin = ranked[0][1] - ranked[rival][1] if rival is not None else 1.0
    if thin and rival is not None:
        alone = _compute_distribution([replace(one, context=0.0) for one in evidence])
        others = [alone[n] for n in order if content_stems(senses[n].meaning) != meaning]
        margin = max(0.0, min(margin, alone[order[0]] - max(others, default=0.0)))
    against = evidence[order[rival]] if rival is not None and rival < len(order) else SenseEvidence()
    return SenseRanking(mention, tuple(ranked), margin, _describe_reason(ranked[0][0], evidence[order[0]], against))


def _describe_reason(sense: Sense, best: SenseEvidence, rival: SenseEvidence) -> str:
    """Return, in plain words, the evidence in which the best sense leads its rival most."""

    def lead(names: Sequence[str]) -> float:
        return float(sum((getattr(best, name) - getattr(rival, name)) * getattr(WEIGHTS, name) for name in names))

    reason, names = max(_GROUPS.items(), key=lambda group: lead(group[1]))
    return reason.format(context=sense.context) if lead(names) > _MIN_LEAD else "nothing tells them apart"
