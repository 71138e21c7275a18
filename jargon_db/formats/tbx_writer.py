"""Writes the glossary as TBX (ISO 30042:2019) in DCA style, one entry for each sense."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from argot.jargon_db.formats.tbx_format import FORBIDDEN_NOTE, OURS, TERM_ADDRESS
from argot.jargon_db.lookup.normalise import normalise
from argot.types import Context, Label, LabelStatus, Relation, RelationKind, Sense
from argot.xml_text import escape_xml

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<tbx type="TBX-Basic" style="dca" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2">
<tbxHeader><fileDesc><sourceDesc><p>Glossary exported by Argot</p></sourceDesc></fileDesc></tbxHeader>
<text><body>
"""
_STATUSES: dict[LabelStatus, str] = {
    "preferred": "preferredTerm-admn-sts",
    "admitted": "admittedTerm-admn-sts",
    "deprecated": "deprecatedTerm-admn-sts",
    "forbidden": "deprecatedTerm-admn-sts",
}
_RELATIONS: dict[RelationKind, tuple[str, str]] = {
    "broader": ("descrip", "broaderConceptGeneric"),
    "narrower": ("descrip", "narrowerConceptGeneric"),
    "related": ("descrip", "relatedConcept"),
    "see also": ("ref", "crossReference"),
}


def write(senses: Iterable[Sense], contexts: Iterable[Context]) -> str:
    """Return the file of these contexts and senses. Control characters are dropped, which XML cannot contain."""
    return "".join(_write_file(senses, contexts))


def _write_file(senses: Iterable[Sense], contexts: Iterable[Context]) -> Iterator[str]:
    yield _HEAD
    for sense in senses:
        yield from _write_sense(sense)
    yield '</body>\n<back><refObjectSec type="x-argot-context">\n'
    for number, context in enumerate(contexts, 1):
        texts = [("name", context.name), ("description", context.description), ("contact", context.contact)]
        texts += [("audience", one) for one in sorted(context.audience)]
        items = "".join(f'<item type="{name}">{escape_xml(text)}</item>' for name, text in texts if text)
        yield f'<refObject id="context{number}"><itemSet>{items}</itemSet></refObject>\n'
    yield "</refObjectSec></back></text></tbx>\n"


def _write_sense(sense: Sense) -> Iterator[str]:
    named = json.dumps([sense.term, normalise(sense.context), sense.expansion])
    yield f'<conceptEntry id="s{hashlib.blake2b(named.encode(), digest_size=12).hexdigest()}">\n'
    yield _element("descrip", "subjectField", sense.context)
    yield _element("descrip", "definition", sense.description)
    yield _element("admin", "source", sense.source)
    yield _element("descrip", "context", sense.example)
    for relation in sense.relations:
        yield _write_relation(relation)
    if sense.notes:
        yield f"  <note>{escape_xml(sense.notes)}</note>\n"
    texts = [("term", sense.term), ("expansion", sense.expansion), ("owner", sense.owner), ("status", sense.status)]
    texts += [("audience", one) for one in sorted(sense.audience)]
    texts += [("reviewBy", sense.review_by or ""), ("concept", sense.concept)]
    texts += [("alias", one) for one in sense.aliases]
    for name, text in texts:
        yield _element("admin", f"{OURS}{name}", text)
    known = {label.text: label for label in sense.labels}
    labels = [known.get(label.text) or Label(label.text) for label in sense.all_labels]
    # Names in an unknown language stand in the section that TBX keeps for it.
    for language in dict.fromkeys(label.language or "und" for label in labels):
        yield f"  <langSec xml:lang={quoteattr(language)}>\n"
        for label in labels:
            if (label.language or "und") == language:
                yield from _write_label(label, is_known=label.text in known)
        yield "  </langSec>\n"
    yield "</conceptEntry>\n"


def _write_label(label: Label, *, is_known: bool) -> Iterator[str]:
    yield f"    <termSec><term>{escape_xml(label.text)}</term>"
    notes = [("partOfSpeech", label.part_of_speech), ("grammaticalGender", label.gender), ("termType", label.kind)]
    notes += [("administrativeStatus", _STATUSES[label.status])] if is_known else []
    notes += [("usageNote", FORBIDDEN_NOTE)] if label.status == "forbidden" else []
    for name, text in notes:
        yield _element("termNote", name, text, indent="").rstrip("\n")
    yield "</termSec>\n"


def _write_relation(relation: Relation) -> str:
    element, category = _RELATIONS[relation.kind]
    target = f"{TERM_ADDRESS}{quote(relation.context, safe='')}/{quote(relation.term, safe='')}"
    return (
        f"  <{element} type={quoteattr(category)} target={quoteattr(target)}>{escape_xml(relation.term)}</{element}>\n"
    )


def _element(element: str, category: str, text: str, indent: str = "  ") -> str:
    return f"{indent}<{element} type={quoteattr(category)}>{escape_xml(text)}</{element}>\n" if text else ""
