"""Writes the glossary as SKOS: Turtle, RDF/XML or JSON-LD.

Each concept is written at once, so that 100,000 need little memory and two exports compare line by line. rdflib's
serialisers need the whole graph and sort it; tests read the output with rdflib's parsers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from argot.jargon_db.formats.cell_texts import write_label, write_relation
from argot.jargon_db.formats.skos_words import NO_EXPANSION, PREFIXES
from argot.jargon_db.lookup.normalise import normalise
from argot.types import Context, Sense
from argot.xml_text import escape_xml

_TURTLE_ESCAPES = {ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}
_TURTLE_ESCAPES |= {code: f"\\u{code:04X}" for code in (*range(0x20), 0x7F) if code not in _TURTLE_ESCAPES}


@dataclass(frozen=True, slots=True)
class _Node:
    """A resource: its address, its kind, and its properties with texts or, in `links`, addresses of resources."""

    address: str
    kind: str
    texts: list[tuple[str, str]]
    links: list[tuple[str, str]]


def write(senses: Iterable[Sense], contexts: Iterable[Context], syntax: str) -> str:
    """Return the file of these contexts and senses. `syntax` is "turtle", "rdfxml" or "jsonld".

    RDF/XML drops control characters, which XML cannot contain; the other formats keep every text.
    """
    writers = {"turtle": _write_turtle, "rdfxml": _write_xml, "jsonld": _write_json}
    return "".join(writers[syntax](_build_nodes(senses, contexts)))


def build_scheme_address(context: str) -> str:
    return f"urn:argot:context:{quote(context, safe='')}"


def build_concept_address(sense: Sense) -> str:
    """Return an address that is the same in every export and knowledge base: it depends only on term, context and
    expansion.
    """
    # JSON keeps the three separate, whatever characters they contain.
    named = json.dumps([sense.term, normalise(sense.context), sense.expansion])
    return f"urn:argot:sense:{hashlib.blake2b(named.encode(), digest_size=12).hexdigest()}"


def _build_nodes(senses: Iterable[Sense], contexts: Iterable[Context]) -> Iterator[_Node]:
    for context in contexts:
        texts = [("dct:title", context.name), ("dct:description", context.description)]
        texts += [("argot:contact", context.contact)]
        # Sorted: the order of a set differs from run to run.
        texts += [("argot:audience", one) for one in sorted(context.audience)]
        yield _Node(build_scheme_address(context.name), "skos:ConceptScheme", [pair for pair in texts if pair[1]], [])
    for sense in senses:
        texts = [pair for pair in _describe_sense(sense) if pair[1]]
        yield _Node(
            build_concept_address(sense),
            "skos:Concept",
            texts,
            [("skos:inScheme", build_scheme_address(sense.context))],
        )


def _describe_sense(sense: Sense) -> Iterator[tuple[str, str]]:
    """Return the properties of a concept, with their texts."""
    yield "skos:prefLabel", sense.expansion or sense.term
    yield "argot:term", sense.term
    yield "argot:expansion", "" if sense.expansion else NO_EXPANSION
    for label in dict.fromkeys((sense.term, *sense.aliases)):
        # SKOS wants a concept's labels to differ (S13, S14); duplicates are written as a property of Argot's own.
        if label != (sense.expansion or sense.term):
            yield "skos:altLabel", label
    for alias in sense.aliases:
        if alias in (sense.term, sense.expansion):
            yield "argot:alias", alias
    yield "skos:definition", sense.description
    yield "skos:note", sense.notes
    yield "skos:example", sense.example
    yield "dct:source", sense.source
    for name in sense.labels:
        yield "argot:label", write_label(name)
    for relation in sense.relations:
        yield "argot:relation", write_relation(relation)
    yield "argot:concept", sense.concept
    yield "argot:owner", sense.owner
    yield "argot:status", sense.status
    for one in sorted(sense.audience):
        yield "argot:audience", one
    yield "argot:reviewBy", sense.review_by or ""


def _write_turtle(nodes: Iterable[_Node]) -> Iterator[str]:
    yield from (f"@prefix {prefix}: <{space}> .\n" for prefix, space in PREFIXES.items())
    for node in nodes:
        lines = [f"    {name} <{address}>" for name, address in node.links]
        lines += [f'    {name} "{text.translate(_TURTLE_ESCAPES)}"' for name, text in node.texts]
        yield f"\n<{node.address}> a {node.kind} ;\n" + " ;\n".join(lines) + " .\n"


def _write_xml(nodes: Iterable[_Node]) -> Iterator[str]:
    spaces = " ".join(f"xmlns:{prefix}={quoteattr(space)}" for prefix, space in PREFIXES.items())
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF {spaces}>\n'
    for node in nodes:
        yield f"<{node.kind} rdf:about={quoteattr(node.address)}>\n"
        yield from (f"  <{name} rdf:resource={quoteattr(address)}/>\n" for name, address in node.links)
        yield from (f"  <{name}>{escape_xml(text)}</{name}>\n" for name, text in node.texts)
        yield f"</{node.kind}>\n"
    yield "</rdf:RDF>\n"


def _write_json(nodes: Iterable[_Node]) -> Iterator[str]:
    yield f'{{"@context": {json.dumps(PREFIXES)},\n"@graph": [\n'
    comma = ""
    for node in nodes:
        properties: dict[str, object] = {"@id": node.address, "@type": node.kind}
        properties |= {name: {"@id": address} for name, address in node.links}
        for name, text in node.texts:
            before = properties.get(name)
            # One value is a plain text in JSON-LD, several are a list.
            properties[name] = (
                text if before is None else [*before, text] if isinstance(before, list) else [before, text]
            )
        yield comma + json.dumps(properties, ensure_ascii=False)
        comma = ",\n"
    yield "\n]}\n"
