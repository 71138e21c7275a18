"""Reads the statements of an untrusted RDF file: RDF/XML, Turtle or JSON-LD.

Nothing is fetched and no entity is expanded. Argot's own readers parse a file in one pass; rdflib's, which take minutes
for 100,000 concepts, are only used for rare features of JSON-LD, in a separate process (`isolated_reader`).
"""

from __future__ import annotations

from argot.jargon_db.formats import rdf_json, rdf_json_any, rdf_turtle, rdf_xml
from argot.jargon_db.formats.glossary_file import ProcessRequired, ReadOptions, decode_utf8, refuse
from argot.jargon_db.formats.json_format import parse_glossary_json
from argot.jargon_db.formats.rdf_statements import BASE, LimitExceeded, MalformedFile, Statements, collect_into

__all__ = ["BASE", "Statements", "read_statements"]


def read_statements(data: bytes, name: str, options: ReadOptions, syntax: str) -> Statements:
    """Read the statements of a file. `syntax` is "turtle", "rdfxml" or "jsonld".

    Raises:
        InvalidGlossary: it cannot be read; the message names the line if that is known.
        ProcessRequired: only a process with its own limits may read it, and this is none.
    """
    read = {"turtle": _read_turtle, "rdfxml": _read_xml, "jsonld": _read_json}[syntax]
    try:
        return read(data, name, options)
    except LimitExceeded as error:
        raise refuse(name, str(error)) from error
    # Each level nests the reader's own calls; Python stops that before the machine's stack overflows.
    except RecursionError as error:
        raise refuse(name, "it is nested too deeply to be a thesaurus; flatten it") from error


def _read_turtle(data: bytes, name: str, options: ReadOptions) -> Statements:
    found: Statements = {}
    try:
        rdf_turtle.read(decode_utf8(data, name), BASE, collect_into(found))
    except MalformedFile as error:
        why = f"this is no Turtle: {error}. Mend it there, or choose the right format"
        raise refuse(name, why, error.where) from error
    return found


def _read_xml(data: bytes, name: str, options: ReadOptions) -> Statements:
    found: Statements = {}
    try:
        rdf_xml.read(data, BASE, collect_into(found))
    except rdf_xml.RefusedXml as error:
        raise refuse(name, str(error)) from error
    except MalformedFile as error:
        raise refuse(name, f"{error}. Mend it there, or choose the right format", error.where) from error
    return found


def _read_json(data: bytes, name: str, options: ReadOptions) -> Statements:
    parsed = parse_glossary_json(data, name)
    try:
        found: Statements = {}
        try:
            rdf_json.read(parsed, BASE, collect_into(found))
        except rdf_json.UnsupportedJsonLd:
            # rdflib may take unbounded time and memory, so it runs only where both are limited.
            if not options.bounded:
                raise ProcessRequired from None
            # Restarted: the plain reader had already passed on some statements.
            found = {}
            rdf_json_any.read(parsed, BASE, collect_into(found))
    except rdf_json.RemoteContext as error:
        why = f"its context stands elsewhere ({str(error)!r}), and nothing is fetched. Put the context itself there"
        raise refuse(name, f"{why}, or save the thesaurus as Turtle", '"@context"') from error
    except MalformedFile as error:
        raise refuse(name, f"this is no JSON-LD: {error}. Check it, or save it as Turtle") from error
    return found
