"""Questions without an answer, grouped by subject.

The wording of a question belongs to its asker. It is shown only where managers may read it already: if the asker shared
it with a thumb (managers of all contexts) or in the queue of missed terms (all managers), and to the asker. The others
are grouped with them, and counted. A term in them is shown only if at least `MIN_ASKERS` people used it, and the
manager may know the term.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argot.databases import Connection
from argot.service.insight.insight_results import Unanswered, UnansweredGroup
from argot.tools.text.words import stem_content

if TYPE_CHECKING:
    from argot.protocols import Vectors

MAX_QUESTIONS = 1000
"""Maximum questions, the latest: comparing takes quadratic time."""
MAX_GROUPS = 20
MAX_EXAMPLES = 4
MAX_TERMS = 4
MIN_ASKERS = 3
NEAR = 0.45
"""Cosine distance within which, on average, questions belong to one group. Set by eye on invented questions: wordings
of one question are within 0.3, questions of one subject usually within 0.5.
"""

_QUESTIONS = """
SELECT a.day, a.question, a.terms, a.embedder, a.vector, a.thread, t.owner, EXISTS (
    SELECT 1 FROM feedback AS f WHERE f.thread = a.thread AND f.turn = a.turn AND f.shared = 1 AND f.value != 0
)
FROM asked AS a JOIN threads AS t ON t.id = a.thread
WHERE a.question != '' AND a.day BETWEEN ? AND ? ORDER BY a.day DESC, a.id DESC LIMIT ?
"""
SelectKnownTerms = Callable[[Collection[str]], Collection[str]]
"""Returns those of these terms that the manager may know."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question without an answer. `readable`: the manager may read its wording."""

    day: str
    text: str
    terms: Sequence[str]
    embedder: str
    vector: bytes
    owner: str
    readable: bool


def open_questions(
    connection: Connection,
    since: str,
    until: str,
    *,
    reader: str,
    judged: bool,
    queued: Collection[tuple[str, str]],
) -> list[OpenQuestion]:
    """Return the latest of a period, the newest first.

    Args:
        reader: the manager's name.
        judged: they may read questions shared with a thumb.
        queued: thread and wording of those that they may read in the queue of missed terms.
    """
    return [
        OpenQuestion(
            day,
            question,
            json.loads(terms),
            embedder,
            vector or b"",
            owner,
            owner == reader or (judged and bool(shared)) or (thread, question) in queued,
        )
        for day, question, terms, embedder, vector, thread, owner, shared in connection.execute(
            _QUESTIONS, (since, until, MAX_QUESTIONS)
        )
    ]


def group_by_subject(
    questions: Sequence[OpenQuestion], select_known: SelectKnownTerms, gain: float = 1.0
) -> Unanswered:
    """Return the questions by subject, as a manager who may read only some of them may see them.

    Args:
        gain: of the embedder's cosines (`argot.protocols.Embedder`).
    """
    embedder = next((one.embedder for one in questions if one.vector), "")
    # Vectors of two embedders cannot be compared: those of an earlier one are in no group.
    compared = [one for one in questions if one.vector and one.embedder == embedder]
    known_terms = select_known({term for one in compared for term in one.terms}) if compared else ()
    groups = [
        group
        for members, near in _find_clusters(compared, gain)
        if (group := _describe_group(members, near, known_terms))
    ]
    shown = sorted(groups, key=lambda one: (-one.questions, -one.readable, one.typical))[:MAX_GROUPS]
    return Unanswered(len(questions), shown, len(questions) - sum(one.questions for one in shown))


def _find_clusters(questions: Sequence[OpenQuestion], gain: float) -> Iterable[tuple[list[OpenQuestion], list[float]]]:
    """Return groups by average linkage (Sokal and Michener 1958), each with its members' similarity to the centre."""
    import numpy
    from scipy.cluster.hierarchy import fcluster, linkage  # type: ignore[import-untyped]

    if not questions:
        return []
    vectors = numpy.stack([numpy.frombuffer(one.vector, numpy.float16) for one in questions]).astype(numpy.float32)
    vectors /= numpy.maximum(numpy.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    if len(questions) == 1:
        return [(list(questions), [1.0])]
    labels = fcluster(linkage(vectors, "average", "cosine"), NEAR / gain, "distance")
    return [
        _make_cluster(questions, vectors, numpy.flatnonzero(labels == label).tolist()) for label in numpy.unique(labels)
    ]


def _make_cluster(
    questions: Sequence[OpenQuestion], vectors: Vectors, places: list[int]
) -> tuple[list[OpenQuestion], list[float]]:
    of = vectors[places]
    return [questions[place] for place in places], (of @ of.mean(axis=0)).tolist()


def _describe_group(
    members: Sequence[OpenQuestion], near: Sequence[float], known_terms: Collection[str]
) -> UnansweredGroup | None:
    """Return the group in the form that may be shown; None: nothing can name it."""
    order = sorted(range(len(members)), key=lambda place: -near[place])
    texts = list(dict.fromkeys(members[place].text for place in order if members[place].readable))
    terms = _list_terms(members, known_terms)
    if not texts and not terms:
        return None
    return UnansweredGroup(
        questions=len(members),
        readable=sum(one.readable for one in members),
        last=max(one.day for one in members),
        typical=texts[0] if texts else "",
        examples=texts[1 : 1 + MAX_EXAMPLES],
        terms=terms,
    )


def _list_terms(members: Sequence[OpenQuestion], known_terms: Collection[str]) -> list[str]:
    """Return the commonest terms of the group, and then words in several of its readable questions."""
    count = Counter(term for one in members for term in one.terms if term in known_terms)
    askers: dict[str, set[str]] = {}
    readable: set[str] = set()
    for one in members:
        for term in one.terms:
            askers.setdefault(term, set()).add(one.owner)
            if one.readable:
                readable.add(term)
    terms = [term for term, _ in count.most_common() if term in readable or len(askers[term]) >= MIN_ASKERS]
    spellings = {term.casefold() for term in terms}
    wordings = {one.text for one in members if one.readable}
    words = Counter(word for text in wordings for word in dict.fromkeys(word for word, _ in stem_content(text)))
    common = [word for word, number in words.most_common() if number > 1 and len(word) > 2 and word not in spellings]
    return [*terms, *common][:MAX_TERMS]
