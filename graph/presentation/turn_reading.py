"""The part of a turn that a reader may see now, from which everything that is shown of the turn is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from argot.corpus.store.picture_rows import PassagePicture, list_passage_pictures
from argot.corpus.store.revision_reads import read_documents
from argot.errors import NotFound
from argot.graph.presentation.found_passages import Visible
from argot.graph.presentation.wording import write_definition
from argot.graph.run_context import RunContext
from argot.graph.state import SentenceRecord, TurnPart
from argot.graph.state_records import EXPLAINED_SENSE, get_term, load_senses, read_terms, to_mention
from argot.graph.tool_results import load_results
from argot.types import ReadTerm, Sense


@dataclass(frozen=True)
class TurnReading:
    """The part of a turn that the reader may see now. `defined_senses`: the senses that the answer states.

    `all_named`: every document and sense whose name a model was given for its searches. `withheld`: the text in place
    of what the reader may not see; empty: it is left out.
    """

    turn: TurnPart
    passages: Visible
    senses: Mapping[int, Sense]
    terms: Sequence[ReadTerm]
    all_contexts: bool
    all_named: bool
    withheld: str = ""
    pictures: Sequence[PassagePicture] = ()

    @property
    def all_senses(self) -> bool:
        """True if the reader may see every sense that was considered, also rejected ones: the queries spell the nearest
        rivals out.
        """
        rivals = [sense for one in self.turn["readings"] for sense, _ in one.get("rivals", ())]
        return len(self.terms) == len(self.turn["readings"]) and all(sense in self.senses for sense in rivals)

    @property
    def defined_senses(self) -> list[Sense]:
        return [self.senses[sense] for sense in self.turn.get("defined", []) if sense in self.senses]

    @property
    def all_hits(self) -> bool:
        return all(hit["id"] in self.passages for hit in [*self.turn["hits"], *self.turn.get("read", [])])

    @property
    def all_searched(self) -> bool:
        """True if the reader may see every source of a model's search texts, apart from the question's senses."""
        return self.all_hits and self.all_named

    @property
    def definitions(self) -> list[tuple[str, int]]:
        """The definitions that the answer begins with, each with the id of its sense; 0 for one in place of others."""
        visible = [(write_definition(sense), sense.id) for sense in self.defined_senses]
        is_all = len(visible) == len(self.turn.get("defined", []))
        return visible if is_all or not self.withheld else [*visible, (self.withheld, 0)]

    @property
    def sentences(self) -> list[SentenceRecord]:
        """The sentences that the reader may see; one text stands for neighbours that they may not."""
        shown: list[SentenceRecord] = []
        for one in self.turn["sentences"]:
            if self.shows(one):
                shown.append(one)
            elif self.withheld and not (shown and shown[-1]["text"] == self.withheld):
                shown.append({"gap": one["gap"], "text": self.withheld, "citations": [], "remark": True})
        return shown

    def shows(self, sentence: SentenceRecord) -> bool:
        citations = sentence["citations"]
        # An unsupported sentence may repeat any of the passages.
        return all(one["passage"] in self.passages for one in citations) if citations else self.all_hits


def join_text(reading: TurnReading) -> str:
    """Return the answer as far as the reader may see it."""
    quoted = "".join(sentence["gap"] + sentence["text"] for sentence in reading.sentences).strip()
    return "\n\n".join(filter(None, [*(text for text, _ in reading.definitions), quoted]))


def read_turn(turn: TurnPart, run: RunContext, withheld: str = "") -> TurnReading:
    """Read the part of a turn that this principal may see now, through the stores."""
    cited = [citation["passage"] for sentence in turn["sentences"] for citation in sentence["citations"]]
    found = [hit["id"] for hit in [*turn["hits"], *turn.get("read", [])]]
    ids = list(dict.fromkeys([*found, *cited, *turn.get("examples", [])]))
    passages = run.corpus.store.passages(run.principal, ids) if ids else {}
    visible = {**passages, **load_results(turn.get("tool_results", []), run.principal)}
    terms = {reading["term"] for reading in turn["readings"] if reading["sense"] != EXPLAINED_SENSE}
    asked = {item["term"] for item in (*turn["open_terms"], *turn.get("doubted", ()))}
    # Meanings that were listed, rather than one chosen, are no readings.
    listed = {get_term(to_mention(one)) for one in turn["mentions"]} if turn.get("defined") else set()
    senses = load_senses(terms | asked | listed, run)
    known = {context.name for context in run.glossary.contexts.all(run.principal)}
    # Left out here once, so that nothing below can name a context that was renamed or closed to the asker.
    contexts = [(name, score) for name, score in turn["contexts"] if name in known]
    all_contexts = len(contexts) == len(turn["contexts"])
    named = _may_read_named(turn, run)
    terms_read = read_terms(turn, run)
    pictures = list_passage_pictures(run.corpus.store, run.principal, list(passages)) if passages else []
    return TurnReading(
        {**turn, "contexts": contexts}, visible, senses, terms_read, all_contexts, named, withheld, pictures
    )


def _may_read_named(turn: TurnPart, run: RunContext) -> bool:
    """Return whether the reader may read every document and sense whose name a model was given."""
    found = {
        tool: {id_ for call in turn.get("tool_calls", []) if call["tool"] == tool for id_ in call["found"]}
        for tool in ("list_documents", "look_up_term")
    }
    documents = [*{*found["list_documents"], *turn.get("titled", [])}]
    if documents and len(read_documents(run.corpus.store, run.principal, documents)) < len(documents):
        return False
    return all(_may_read_sense(int(id_), run) for id_ in found["look_up_term"])


def _may_read_sense(id_: int, run: RunContext) -> bool:
    try:
        return run.glossary.senses.get(run.principal, id_).status == "approved"
    except NotFound:
        return False
