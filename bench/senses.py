"""The share of correct senses that are chosen among decoys, and the time that the choice takes.

    python bench/senses.py DIR [DIR ...] [--keep FOLDER] [--evidence FILE] [--wrong N]

Each DIR is a folder in BEIR form whose questions use abbreviations, with `glossary.csv` and the original questions in
`queries.plain.jsonl`. The true sense of a term is the expansion that turns the abbreviated question into the original
one. Only terms with several senses count. `--evidence` writes the evidence of each choice, for fitting the weights: one
JSON object a line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from argot.corpus.corpus import Corpus, Source
from argot.corpus.embedding.embedder import load_embedder
from argot.evaluate.beir import BeirSet, load_beir
from argot.jargon_db.glossary import Glossary
from argot.protocols import Embedder, Vectors
from argot.settings import Settings
from argot.tools.reading.extractive_reader import ExtractiveReader, get_signatures
from argot.tools.senses.disambiguation import (
    SenseChooser,
    SenseEvidence,
    SenseRanking,
    _ContextEvidence,
    _find_settled,
    _get_term,
)
from argot.types import ContextScore, Mention, Principal, Sense

EVERYONE = Principal("bench", sees_all=True)


class RememberingEmbedder:
    """An embedder that embeds each passage only once in a run over several sets."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[str, Vectors] = {}

    @property
    def fingerprint(self) -> str:
        return self._inner.fingerprint

    @property
    def dimensions(self) -> int:
        return self._inner.dimensions

    @property
    def cosine_gain(self) -> float:
        return self._inner.cosine_gain

    def windows(self, text: str) -> list[str]:
        return self._inner.windows(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        missing = list(dict.fromkeys(text for text in texts if text not in self._known))
        if missing:
            self._known.update(zip(missing, self._inner.embed_passages(missing), strict=True))
        return np.array([self._known[text] for text in texts], dtype=np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._inner.embed_queries(texts)

    def embed_searches(self, texts: Sequence[str]) -> Vectors:
        return self._inner.embed_searches(texts)


@dataclass
class Tally:
    """The measurements on one set. `seconds` has one entry per question."""

    choices: int = 0
    right: int = 0
    asked: int = 0
    right_when_not_asked: int = 0
    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, term: str, ranking: SenseRanking, truth: Sense, question: str, least: float) -> None:
        best = ranking.ranked[0][0]
        right = best.expansion.casefold() == truth.expansion.casefold()
        self.choices += 1
        self.right += right
        self.asked += ranking.margin < least
        self.right_when_not_asked += right and ranking.margin >= least
        if not right:
            said = f"{best.expansion!r} for {truth.expansion!r} ({ranking.margin:.2f}, {ranking.decided_by})"
            self.wrong.append(f"{term}: {said} in: {question[:160]}")

    def format_line(self, name: str) -> str:
        certain = self.choices - self.asked
        return (
            f"{name:28} {self.choices:5} choices  right {self.right / max(1, self.choices):6.1%}  "
            f"asked {self.asked / max(1, self.choices):6.1%}  "
            f"right unasked {self.right_when_not_asked / max(1, certain):6.1%}  "
            f"ms median {1000 * np.median(self.seconds or [0]):5.1f}  "
            f"p95 {1000 * np.quantile(self.seconds or [0], 0.95):5.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--keep", type=Path, help="keep the knowledge bases here and use those that are there")
    parser.add_argument("--evidence", type=Path)
    parser.add_argument("--least-margin", type=float, default=0.1)
    parser.add_argument("--wrong", type=int, default=0, help="wrong choices of each set to show")
    options = parser.parse_args()
    embedder = RememberingEmbedder(load_embedder(Settings()))
    evidence = options.evidence.open("w") if options.evidence else None
    for folder in options.folders:
        with tempfile.TemporaryDirectory() as scratch:
            home = (options.keep or Path(scratch)) / folder.name
            tally = measure_set(load_beir(folder), home, embedder, options.least_margin, evidence)
        print(tally.format_line(folder.name), flush=True)
        for line in tally.wrong[: options.wrong]:
            print("   ", line)


def measure_set(data: BeirSet, home: Path, embedder: Embedder, least: float, evidence: object) -> Tally:
    home.mkdir(parents=True, exist_ok=True)
    corpus = Corpus.open(home, Settings(home=home), embedder=embedder)
    glossary = Glossary.open(home / "glossary.db")
    if not corpus.store.documents(EVERYONE):
        for event in corpus.add(make_sources(data)):
            if event.kind == "failed":
                print(f"left out: {event.name}: {event.detail}", file=sys.stderr)
    glossary.files.import_csv((data.folder / "glossary.csv").read_text())
    senses = lambda: glossary.senses.find(EVERYONE, status="approved")  # noqa: E731
    reader = ExtractiveReader(glossary.lookup.matcher(EVERYONE), corpus.store, EVERYONE, embedder, senses)
    chooser = SenseChooser(corpus, EVERYONE, get_signatures(glossary.lookup.matcher(EVERYONE), senses))
    tally = Tally()
    for key, question, term, truth in find_abbreviated(data, glossary):
        mentions = asyncio.run(reader.identify_jargon(question))
        looked_up = glossary.lookup.senses(EVERYONE, sorted({m.term for m in mentions if m.term}))
        contexts = asyncio.run(reader.identify_context(question, glossary.contexts.all(EVERYONE)))
        if len(looked_up.get(term, ())) < 2:
            tally.wrong.append(f"{term}: not found in: {question[:160]}")
            tally.choices += 1
            continue
        chooser.choose(question, mentions, looked_up, contexts)  # warms the caches
        started = time.perf_counter()
        rankings = chooser.choose(question, mentions, looked_up, contexts)
        tally.seconds.append(time.perf_counter() - started)
        ranking = next(r for r in rankings if r.mention.term == term)
        tally.add(term, ranking, truth, question, least)
        if evidence is not None:
            write_evidence(evidence, data.name, key, chooser, question, mentions, looked_up, contexts, term, truth)
    glossary.close()
    corpus.close()
    return tally


def make_sources(data: BeirSet) -> Iterator[Source]:
    """Yield each row of the corpus as a Markdown document, like `argot evaluate retrieval`."""
    for identifier, (title, text) in data.corpus.items():
        front = f"---\ntitle: {json.dumps(title or identifier)}\nid: {json.dumps(identifier)}\n---\n"
        content = (front + text).encode()
        yield Source(f"beir:///{identifier}", f"{identifier}.md", lambda content=content: content)  # type: ignore[misc]


def find_abbreviated(data: BeirSet, glossary: Glossary) -> Iterator[tuple[str, str, str, Sense]]:
    """Yield (id, question, term, true sense) of every question whose abbreviated term has several senses."""
    by_term: defaultdict[str, list[Sense]] = defaultdict(list)
    for sense in glossary.senses.find(EVERYONE, status="approved"):
        by_term[sense.term].append(sense)
    for key, question in data.queries.items():
        plain = _flatten_text((data.plain or {})[key])
        for term, senses in by_term.items():
            if len(senses) < 2 or not re.search(rf"(?<!\w){re.escape(term)}(?!\w)", question):
                continue
            pattern = rf"(?<!\w){re.escape(term)}(?!\w)"
            true = [s for s in senses if _flatten_text(re.sub(pattern, s.expansion, question)) == plain]
            if true:
                yield key, question, term, true[0]
                break


def write_evidence(  # noqa: PLR0917
    file: object,
    name: str,
    key: str,
    chooser: SenseChooser,
    question: str,
    mentions: Sequence[Mention],
    senses: Mapping[str, Sequence[Sense]],
    contexts: Sequence[ContextScore],
    term: str,
    truth: Sense,
) -> None:
    found = _collect_evidence(chooser, question, mentions, senses, contexts)[term]
    place = next(n for n, sense in enumerate(senses[term]) if sense.id == truth.id)
    line = {"set": name, "id": key, "term": term, "true": place, "senses": [s.expansion for s in senses[term]]}
    print(json.dumps({**line, "evidence": [asdict(one) for one in found]}), file=file, flush=True)  # type: ignore[call-overload]


def _collect_evidence(
    chooser: SenseChooser,
    question: str,
    mentions: Sequence[Mention],
    senses_by_term: Mapping[str, Sequence[Sense]],
    contexts: Sequence[ContextScore],
) -> dict[str, list[SenseEvidence]]:
    """Return the evidence for terms with several senses."""
    known = [mention for mention in mentions if senses_by_term.get(_get_term(mention))]
    settled = _find_settled(known, senses_by_term, {})
    undecided = {_get_term(m): senses_by_term[_get_term(m)] for m in known if _get_term(m) not in settled}
    leaning = _ContextEvidence({score.context: score.score for score in contexts})
    return chooser._collect_evidence(question, known, settled, undecided, leaning) if undecided else {}


def _flatten_text(text: str) -> str:
    return re.sub(r"[\s\-]+", " ", text).casefold()


if __name__ == "__main__":
    main()
