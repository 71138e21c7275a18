"""Documents that another one replaces: superseded by it, or no longer or not yet in force beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from argot.document_status import is_ended, is_in_force
from argot.tools.text.document_subject import find_revisions, has_same_part, strip_revision
from argot.tools.text.words import bare, content_stems, fold_words
from argot.types import Document, Hit

MAX_SCORE_LOSS = 0.15
"""By how much less a passage in force may score and still replace another in the answer."""
MAX_ENDED_LOSS = 0.4
"""The same if the other was archived, withdrawn or replaced, and is no mere draft."""
_NAMED_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d(?:[-_](?:0[1-9]|1[0-2])(?:[-_](?:0[1-9]|[12]\d|3[01]))?)?(?!\d)")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


def list_named_successors(document: Document) -> list[str]:
    """Return the documents that this one says it is superseded by, except itself."""
    return [said for said in document.values("superseded_by") if not _is_name_of(said, document)]


def find_successors(documents: Sequence[Document]) -> list[tuple[Document, Document]]:
    """Return the pairs of a document and the one among these that it names as its successor, or that says to replace
    it.
    """
    successors = {one.id: named for one in documents if (named := list_named_successors(one))}
    # Few documents say either, and this is asked about the documents of each question.
    replacing = [one for one in documents if one.values("supersedes")]
    pairs = [
        (old, new)
        for old in documents
        for new in (documents if old.id in successors else replacing)
        if new.id != old.id
        and (any(_is_name_of(said, new) for said in successors.get(old.id, ())) or _says_to_replace(new, old))
    ]
    ids = {(old.id, new.id) for old, new in pairs}
    # Two documents that name each other prove nothing.
    return [(old, new) for old, new in pairs if (new.id, old.id) not in ids]


def _says_to_replace(new: Document, old: Document) -> bool:
    """Return whether a document says that it replaces the other one, by its name or by its year or revision: "Replaces
    issue 4 (March 2021)" of another document with a like title.
    """
    replaced = new.values("supersedes")
    if not replaced:
        return False
    named = f"{old.title}, {old.name}, {old.date or ''}"
    return any(
        _is_name_of(said, old) or (bool(find_revisions(said) & find_revisions(named)) and _has_like_title(old, new))
        for said in replaced
    )


def is_preferred(one: Document, other: Document) -> bool:
    """Return whether the first of two documents on the same thing takes precedence: it is in force, succeeds the other,
    or is newer.
    """
    if pairs := find_successors([one, other]):
        return pairs[0][1] is one
    if _is_in_force(one) != _is_in_force(other):
        return _is_in_force(one)
    mine, theirs = find_document_date(one), find_document_date(other)
    length = min(len(mine), len(theirs))
    # A document of "2025" is not known to be older than one of "2025-03".
    return mine[:length] > theirs[:length]


def find_document_date(document: Document) -> str:
    """Return the date of a document, or the latest in its title and name: "minutes_2025-03-12.md"; empty if it has
    none.
    """
    named = _NAMED_DATE.findall(f"{document.title} {document.name}")
    return document.date or max((found.replace("_", "-") for found in named), default="")


def put_successors_first(hits: Sequence[Hit], question: str) -> list[Hit]:
    """Return the hits in their order, but those of a superseded document after the last of its successor, and each of a
    document that is not in force after the best one in force that says the same; unless the question asks for it.
    """
    ordered = list(hits)
    for old, new in find_successors(_list_documents(hits)):
        if _is_asked_for(question, old, new):
            continue
        after = max(place for place, hit in enumerate(ordered) if hit.document.id == new.id)
        moved = [hit for hit in ordered[:after] if hit.document.id == old.id]
        kept = [hit for hit in ordered[: after + 1] if hit.document.id != old.id]
        ordered = [*kept, *moved, *ordered[after + 1 :]]
    aside = _find_aside(hits)
    # Usually the question has none: only these are compared with every other.
    for hit in (hit for hit in hits if hit.document.id in aside):
        place = next(place for place, one in enumerate(ordered) if one is hit)
        behind = next((at for at, other in enumerate(ordered) if _is_replacement(other, hit, question, aside)), -1)
        if behind > place:
            ordered.insert(behind, ordered.pop(place))
    return ordered


def drop_outdated(hits: Sequence[Hit], question: str) -> list[Hit]:
    """Return the hits without those that an earlier hit replaces."""
    pairs = {
        (old.id, new.id) for old, new in find_successors(_list_documents(hits)) if not _is_asked_for(question, old, new)
    }
    aside = _find_aside(hits)
    return [
        hit
        for place, hit in enumerate(hits)
        if not any(
            _is_replacement(other, hit, question, aside)
            or ((hit.document.id, other.document.id) in pairs and other.score >= hit.score - MAX_ENDED_LOSS)
            for other in hits[:place]
        )
    ]


def _is_replacement(hit: Hit, outdated: Hit, question: str, aside: set[str]) -> bool:
    if outdated.document.id not in aside or hit.document.id in aside:
        return False
    loss = outdated.score - hit.score
    same = loss <= MAX_SCORE_LOSS and has_same_part((hit.passage, hit.document), (outdated.passage, outdated.document))
    succeeds = (
        loss <= MAX_ENDED_LOSS and is_ended(outdated.document) and _has_like_title(outdated.document, hit.document)
    )
    return (same or succeeds) and not _is_asked_for(question, outdated.document, hit.document)


def _has_like_title(outdated: Document, document: Document) -> bool:
    """Return whether the title of a document shares half of the words of an older one's, beside its status; or its file
    name, which may be all that tells what an "ARCHIVED – do not use" is about.
    """
    return any(
        _shares_half(_list_title_stems(old), _list_title_stems(new))
        for old, new in (
            (outdated.title, document.title),
            (PurePosixPath(outdated.name).stem, PurePosixPath(document.name).stem),
        )
    )


def _list_title_stems(title: str) -> frozenset[str]:
    stems = content_stems(_BRACKETS.sub(" ", title))
    return frozenset(stem for stem in stems if not any(map(str.isdigit, stem)) and strip_revision(stem))


def _shares_half(old: frozenset[str], new: frozenset[str]) -> bool:
    return bool(old) and 2 * len(old & new) >= len(old)


def _find_aside(hits: Sequence[Hit]) -> set[str]:
    """Return the ids of the documents that are not in force."""
    return {document.id for document in _list_documents(hits) if not _is_in_force(document)}


def _is_in_force(document: Document) -> bool:
    return is_in_force(document) and not list_named_successors(document)


def _is_asked_for(question: str, old: Document, new: Document) -> bool:
    """Return whether the question names the older one's revision ("in 2023", "rev. A") or status ("the draft")."""
    wanted = find_revisions(question)
    mine, theirs = (find_revisions(f"{one.title}, {one.name}") for one in (old, new))
    status = {word for said in old.values("status") for word in fold_words(said)[:1]}
    return bool(wanted & (mine - theirs) or status & {*fold_words(question)})


def _list_documents(hits: Sequence[Hit]) -> list[Document]:
    return list({hit.document.id: hit.document for hit in hits}.values())


def _is_name_of(said: str, document: Document) -> bool:
    wanted = bare(said)
    return wanted in {
        bare(document.title),
        bare(document.name),
        bare(PurePosixPath(document.name).stem),
        bare(document.uri),
    }
