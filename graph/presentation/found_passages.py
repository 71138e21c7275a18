"""The passages of a turn as user interfaces show them: numbered, with their location and the date of their
documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from argot.corpus.store.picture_rows import PassagePicture
from argot.document_names import find_telling_folders
from argot.graph.presentation.document_notes import describe_places
from argot.graph.state import CitationRecord, ToolResultRecord, TurnPart
from argot.graph.tool_results import find_results, make_source, name_result
from argot.locations import link_picture
from argot.results import Citation, FoundPassage, FoundPicture
from argot.tools.answering.freshness import freshness
from argot.types import Document, Passage

Visible = Mapping[str, tuple[Passage, Document]]


def number_passages(turn: TurnPart) -> dict[str, int]:
    """Return each passage's number: cited ones first, in the order of the answer, then the others by rank."""
    cited = [citation["passage"] for sentence in turn["sentences"] for citation in sentence["citations"]]
    return {id_: n for n, id_ in enumerate(dict.fromkeys([*cited, *(hit["id"] for hit in turn["hits"])]), 1)}


def build_citation(
    record: CitationRecord, n: int, passages: Visible, results: Mapping[str, ToolResultRecord]
) -> Citation:
    """Build the citation of a passage. `results`: the results of other servers' tools, by the ids of their pieces."""
    passage, document = passages[record["passage"]]
    return Citation(
        n=n,
        passage_id=passage.id,
        document=_name_source(document, results.get(passage.id)),
        revision=passage.revision_id,
        page=passage.page,
        page_kind=passage.page_kind,
        heading=passage.heading,
        span=(record["start"], record["end"]),
        score=round(record["score"], 4),
        cell=record.get("cell"),
    )


def _name_source(document: Document, result: ToolResultRecord | None) -> str:
    return name_result(result) if result else document.name


def build_found_passages(
    turn: TurnPart, passages: Visible, pictures: Sequence[PassagePicture] = ()
) -> list[FoundPassage]:
    """Return the passages best first, numbered as in the citations, with the pictures in them; passages that the reader
    may no longer see are left out with their numbers.
    """
    found = []
    numbers = number_passages(turn)
    results = find_results(turn.get("tool_results", []))
    documents = [passages[hit["id"]][1] for hit in turn["hits"] if hit["id"] in passages]
    places, folders = describe_places(documents), find_telling_folders(one.uri for one in documents)
    for hit in turn["hits"]:
        if hit["id"] in passages:
            passage, document = passages[hit["id"]]
            result = results.get(passage.id)
            found.append(
                FoundPassage(
                    n=numbers[hit["id"]],
                    passage_id=passage.id,
                    document=_name_source(document, result),
                    uri=document.uri,
                    page=passage.page,
                    page_kind=passage.page_kind,
                    heading=passage.heading,
                    text=passage.text,
                    score=round(hit["score"], 6),
                    found_by=hit["found_by"],
                    date=document.date,
                    freshness=", ".join(filter(None, [places.get(document.id, ""), freshness(document)])),
                    pictures=[_show_picture(one) for one in pictures if one.passage == passage.id],
                    tool=make_source(result) if result else None,
                    folder="" if result else folders[document.uri],
                )
            )
    return found


def _show_picture(found: PassagePicture) -> FoundPicture:
    picture = found.picture
    return FoundPicture(
        address=link_picture(found.document, picture.number),
        label=picture.place,
        caption=picture.caption,
        alternative=picture.alternative,
        description=found.description,
    )
