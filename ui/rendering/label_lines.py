"""Names and relations of a sense as lines of text, which a person reads and changes in a form.

A name is written as "tension bar: deprecated, language en, part of speech noun"; a relation as "broader: rod", with
its context in brackets if that is another one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast
from urllib.parse import quote, unquote

from argot.errors import InvalidInput
from argot.types import LABEL_STATUSES, RELATION_KINDS, Label, LabelStatus, Relation, RelationKind

PROPERTIES = {"language": "language", "part of speech": "part_of_speech", "gender": "gender", "type": "kind"}
"""A label's properties: the words for each in a line, and its attribute."""
_QUOTED = str.maketrans({sign: quote(sign, safe="") for sign in "%,:"})
"""What separates the parts of a line, as it stands within the value of a property."""


def format_label(label: Label) -> str:
    """Format a name with its status: "Zugstange: preferred, language de, gender feminine"."""
    remarks = [
        f"{words} {value.translate(_QUOTED)}" for words, name in PROPERTIES.items() if (value := getattr(label, name))
    ]
    return f"{label.text}: {', '.join([label.status, *remarks])}"


def parse_label_lines(text: str) -> list[Label]:
    """Parse names with their status, one a line.

    Raises:
        InvalidInput: a line has no name, no known status, or an unknown property.
    """
    return [_parse_label(line.strip()) for line in text.splitlines() if line.strip()]


def _parse_label(line: str) -> Label:
    name, _, value = (part.strip() for part in line.rpartition(":"))
    status, *properties = (part.strip() for part in value.split(","))
    if not name or status.lower() not in LABEL_STATUSES:
        raise InvalidInput(
            f"'{line:.80}' says no status of a name. Write the name and one of {', '.join(LABEL_STATUSES)}: "
            "tension bar: deprecated"
        )
    values: dict[str, str] = {}
    for one in filter(None, properties):
        words = next((words for words in PROPERTIES if one.lower().startswith(f"{words} ")), None)
        if words is None:
            raise InvalidInput(f"'{one:.80}' is unknown of a name. What can be said of it: {', '.join(PROPERTIES)}.")
        values[PROPERTIES[words]] = unquote(one[len(words) :].strip())
    return Label(name, cast(LabelStatus, status.lower()), **values)


def format_relation(relation: Relation) -> str:
    """Format a relation: "broader: rod", or "see also: bolt [Mechanics]"."""
    # Brackets also where a term ends in one, so that its own are not read as a context.
    needs_brackets = relation.context or relation.term.endswith("]")
    return f"{relation.kind}: {relation.term}" + (f" [{relation.context}]" if needs_brackets else "")


def parse_relation_lines(text: str) -> list[Relation]:
    """Parse relations to other terms, one a line.

    Raises:
        InvalidInput: a line names no kind of relation, or no term.
    """
    return [_parse_relation(line.strip()) for line in text.splitlines() if line.strip()]


def _parse_relation(line: str) -> Relation:
    kind, _, rest = (part.strip() for part in line.partition(":"))
    term, opened, context = rest.rpartition(" [")
    if not (opened and context.endswith("]")):
        term, context = rest, ""
    if kind.lower() not in RELATION_KINDS or not term.strip():
        raise InvalidInput(
            f"'{line:.80}' is no relation to a term. Write one of {', '.join(RELATION_KINDS)}, and the term: "
            "broader: rod"
        )
    return Relation(cast(RelationKind, kind.lower()), term.strip(), context.removesuffix("]").strip())


def group_relations(relations: Iterable[Relation]) -> dict[str, list[Relation]]:
    """Group relations by their kind, in the order of `RELATION_KINDS`."""
    found = list(relations)
    groups = {kind: [one for one in found if one.kind == kind] for kind in RELATION_KINDS}
    return {kind: group for kind, group in groups.items() if group}
