"""The pages' words for stored values, and for numbers of things, in the language of the page."""

from __future__ import annotations

from collections.abc import Mapping

from argot.languages.catalogues import format_local_decimal, format_local_number, translate, translate_number

LABELS: Mapping[str, str] = {
    "approved": "approved",
    "draft": "draft",
    "retired": "retired",
    "accepted": "accepted",
    "merged": "merged",
    "dismissed": "dismissed",
    "miss": "drafted for a missed term",
    "mined": "found in the documents",
    "person": "proposed by a person",
    "model": "written by the language model",
    "sure": "sure",
    "likely": "likely",
    "unsure": "unsure",
    "unrated": "",
    "sure_up": "Sure",
    "likely_up": "Likely or sure",
    "duplicate": "Duplicate",
    "conflicting_expansion": "Two meanings in one context",
    "same_elsewhere": "Same meaning elsewhere",
    "alias_collides": "Alias collides",
    "ordinary_word": "Ordinary word",
    "expansion_is_term": "Says no more than the term",
    "alias_is_term": "Alias of itself",
    "review_due": "Review due",
    "no_document": "Not in the documents",
    "term": "Term",
    "context": "Context",
    "expansion": "Stands for",
    "description": "Description",
    "notes": "Notes",
    "aliases": "Other names",
    "owner": "Owner",
    "status": "Status",
    "audience": "Who may read it",
    "review_by": "Review by",
    "contact": "Contact",
    "name": "Name",
    "labels": "Names to use or to avoid",
    "relations": "Related terms",
    "source": "Source",
    "example": "Example",
    "concept": "Concept",
    "summary": "summary",
    "expert_summary": "summary for experts",
    "question": "question",
    "picture": "picture",
    "embedder": "Embedder",
    "reranker": "Re-ranker",
    "generator": "Language model",
    "retrieval": "retrieval",
    "answers": "the answers",
    "train": "train",
    "validation": "validation",
    "test": "test",
    "kept": "kept",
    "struck": "struck",
    "corrected": "corrected",
    "making": "being made",
    "to come": "to come",
    "waiting": "waiting",
    "running": "running",
    "stopped": "stopped",
    "failed": "failed",
    "done": "done",
    "removed": "removed",
    "starting": "starting",
    "preparing examples": "preparing examples",
    "reading the model": "reading the model",
    "mining negatives": "mining negatives",
    "measuring before": "measuring before",
    "training": "training",
    "writing the model": "writing the model",
    "measuring after": "measuring after",
    "asking": "asking",
    "sync": "sync of a source",
    "upload": "upload",
    "fetch": "web address",
    "derive": "derived texts",
    "derive_documents": "derived texts",
    "mine": "search for terms",
    "reindex": "new index",
    "pairs": "training pairs",
    "adopt": "change of a model",
    "strategy": "choice of a search",
    "evaluation": "evaluation",
    "yes": "yes",
    "no": "no",
}
"""The words for values of states, origins, warnings, derived texts, fields and kinds of jobs, by their stored names."""
CHANGE_KINDS: Mapping[str, str] = {
    "edit": "edit",
    "draft": "draft",
    "approve": "approve",
    "retire": "retire",
    "import": "import",
    "accept": "accept",
    "merge": "merge",
    "context": "context",
    "let stand": "conflict accepted",
    "roll back": "roll back",
    "baseline": "baseline",
}
COLUMN_FIELDS: Mapping[str, str] = {
    "term": "Term",
    "expansion": "Stands for",
    "abbreviation": "Abbreviation",
    "description": "Description",
    "context": "Context",
    "aliases": "Other names",
    "notes": "Notes",
    "owner": "Owner",
    "status": "Status",
    "audience": "Who may read it",
    "review_by": "Review by",
    "context_description": "Description of the context",
    "context_contact": "Contact of the context",
    "context_audience": "Readers of the context",
    "term_status": "Status of the name",
    "part_of_speech": "Part of speech",
    "gender": "Gender",
    "labels": "Names to use or to avoid",
    "broader": "Broader terms",
    "narrower": "Narrower terms",
    "related": "Related terms",
    "see_also": "See also",
    "deprecated": "Deprecated names",
    "forbidden": "Forbidden names",
    "example": "Example",
    "source": "Source",
    "concept": "Concept",
    "language": "Language",
}
"""The words for what a column of an imported list holds, by the name of the field."""
COUNTED_THINGS: Mapping[str, tuple[str, str]] = {
    "question": ("%(number)s question", "%(number)s questions"),
    "passage": ("%(number)s passage", "%(number)s passages"),
    "document": ("%(number)s document", "%(number)s documents"),
    "heading": ("%(number)s heading", "%(number)s headings"),
    "entry": ("%(number)s entry", "%(number)s entries"),
    "former revision": ("%(number)s former revision", "%(number)s former revisions"),
    "more wording": ("%(number)s more wording", "%(number)s more wordings"),
    "rating": ("%(number)s rating", "%(number)s ratings"),
    "rater": ("%(number)s rater", "%(number)s raters"),
    "pair": ("%(number)s pair", "%(number)s pairs"),
    "sentence": ("%(number)s sentence", "%(number)s sentences"),
    "set": ("%(number)s set", "%(number)s sets"),
}
"""The things of which pages give the number, each in its singular and its plural."""


def translate_label(name: str) -> str:
    """Return the words for a stored value in the language of the page; a value without words is shown as it is."""
    return translate(LABELS.get(name, name))


def translate_change_kind(kind: str) -> str:
    return translate(CHANGE_KINDS.get(kind, kind))


def translate_column_field(field: str) -> str:
    return translate(COLUMN_FIELDS.get(field, field.replace("_", " ")))


def write_interval_heading() -> str:
    """Write the heading of a column with 95 % intervals."""
    return translate("%(number)s %% interval", number=95)


def span_gains(low: float, high: float, digits: int) -> str:
    """Write the ends of an interval of a gain, each with its sign."""
    ends = (format_local_decimal(one, digits, signed=True) for one in (low, high))
    return translate("%(first)s to %(last)s", **dict(zip(("first", "last"), ends, strict=True)))


def count_things(number: int, thing: str) -> str:
    """Write a number with the noun for it: 1 question, 3 questions, 12,000 questions."""
    return translate_number(*COUNTED_THINGS[thing], number, number=format_local_number(number))
