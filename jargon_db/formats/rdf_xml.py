"""Reads RDF/XML (https://www.w3.org/TR/rdf-syntax-grammar/) from the events of expat, in one pass.

No entity is expanded and nothing is opened: a document type is refused before it is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from xml.parsers import expat

from argot.jargon_db.formats.rdf_statements import (
    FIRST,
    MAX_DEPTH,
    NIL,
    REST,
    TYPE,
    Add,
    LimitExceeded,
    MalformedFile,
    complete_iri,
    name_blank,
)
from argot.jargon_db.formats.skos_words import RDF

_XML = "http://www.w3.org/XML/1998/namespace"
_LANGUAGE, _BASE = f"{_XML}lang", f"{_XML}base"
_ROOT, _DESCRIPTION, _LI = f"{RDF}RDF", f"{RDF}Description", f"{RDF}li"
_ABOUT, _ID, _NODE_ID = f"{RDF}about", f"{RDF}ID", f"{RDF}nodeID"
_RESOURCE, _DATA_TYPE, _PARSE_TYPE = f"{RDF}resource", f"{RDF}datatype", f"{RDF}parseType"
_SYNTAX = frozenset([_ABOUT, _ID, _NODE_ID, _RESOURCE, _DATA_TYPE, _PARSE_TYPE, _LANGUAGE, _BASE])
_DTD = (
    "it declares a document type (<!DOCTYPE ...>), which is not read: it can name files and expand without end. Take it"
    " out, or save the thesaurus as Turtle"
)


class RefusedXml(Exception):
    """The file contains a construct that is never read; the message names it and the remedy."""


def read(data: bytes, base: str, add: Add) -> None:
    """Pass every statement to `add`, in the order of the file.

    Raises:
        Malformed: it is no XML or no RDF; the message says why, and where.
        RefusedXml: it declares a document type.
        LimitExceeded: it is nested too deeply.
    """
    # Empty separator: expat joins namespace and name to the address that RDF means by them.
    parser = expat.ParserCreate(namespace_separator="")
    # Otherwise each line of a text arrives separately.
    parser.buffer_text = True
    reader = _Reader(base, add)
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    # It precedes any element, so that nothing of a refused file is read.
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        where = f"line {error.lineno}, column {error.offset + 1}"
        raise MalformedFile(f"this is no XML: {expat.ErrorString(error.code)}", where) from error
    except (LookupError, ValueError) as error:  # an unknown or invalid encoding
        raise MalformedFile(f"this is no XML: {error}", f"line {parser.CurrentLineNumber}") from error
    except MalformedFile as error:
        raise MalformedFile(str(error), f"line {parser.CurrentLineNumber}") from error


def _refuse(*_: object) -> None:
    raise RefusedXml(_DTD)


@dataclass(slots=True)
class _Frame:
    """An open element: `file` and `collection` contain resources, `resource` contains properties, `property` its value.

    `subject` is the resource; for a property, its owner.
    """

    kind: Literal["file", "resource", "property", "collection", "literal"]
    subject: str
    base: str
    language: str
    predicate: str = ""
    typed: bool = False
    filled: bool = False
    items: int = 0
    texts: list[str] = field(default_factory=list)
    members: list[str] = field(default_factory=list)


class _Reader:
    def __init__(self, base: str, add: Add) -> None:
        self._add = add
        self._open: list[_Frame] = []
        self._outside = _Frame("file", "", base, "")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise LimitExceeded(f"its elements are nested more than {MAX_DEPTH} deep; flatten it")
        parent = self._open[-1] if self._open else self._outside
        base, language = parent.base, parent.language
        if attributes:
            language = attributes.get(_LANGUAGE, language).lower()
            base = complete_iri(base, attributes[_BASE]) if _BASE in attributes else base
        if parent.kind == "resource":
            self._open.append(self._property(parent, name, attributes, base, language))
        elif parent.kind == "literal":
            # Markup within a literal is dropped; its text belongs to the literal.
            self._open.append(_Frame("literal", "", base, language, texts=parent.texts))
        elif name == _ROOT and not self._open:
            self._open.append(_Frame("file", "", base, language))
        else:
            self._open.append(self._resource(parent, name, attributes, base, language))

    def end(self, name: str) -> None:
        frame = self._open.pop()
        if frame.kind == "property" and not frame.filled:
            self._add(frame.subject, frame.predicate, "".join(frame.texts), "" if frame.typed else frame.language)
        elif frame.kind == "literal" and frame.predicate:
            self._add(frame.subject, frame.predicate, "".join(frame.texts), "")
        elif frame.kind == "collection":
            self._list(frame)

    def text(self, text: str) -> None:
        if self._open and self._open[-1].kind in ("property", "literal"):
            self._open[-1].texts.append(text)

    def _resource(self, parent: _Frame, name: str, attributes: dict[str, str], base: str, language: str) -> _Frame:
        if name == _LI or name in _SYNTAX:
            raise MalformedFile(f"this is no RDF/XML: rdf:{name.removeprefix(RDF)} cannot be a resource")
        if _ABOUT in attributes:
            subject = complete_iri(base, attributes[_ABOUT])
        elif _ID in attributes:
            subject = complete_iri(base, "#" + attributes[_ID])
        else:
            subject = f"_:{attributes[_NODE_ID]}" if _NODE_ID in attributes else name_blank()
        # The name of an element is its resource's type, except for this one.
        if name != _DESCRIPTION:
            self._add(subject, TYPE, name, None)
        if attributes:
            self._attributes(subject, attributes, base, language)
        if parent.kind == "collection":
            parent.members.append(subject)
        elif parent.kind == "property":
            # RDF/XML allows one resource for each property element.
            if parent.filled:
                raise MalformedFile("this is no RDF/XML: a property holds two resources; write the property twice")
            parent.filled = True
            self._add(parent.subject, parent.predicate, subject, None)
        return _Frame("resource", subject, base, language)

    def _property(self, parent: _Frame, name: str, attributes: dict[str, str], base: str, language: str) -> _Frame:
        if name == _LI:
            parent.items += 1
            # `rdf:li` is numbered automatically: the first is `rdf:_1`.
            name = f"{RDF}_{parent.items}"
        frame = _Frame("property", parent.subject, base, language, name)
        if not attributes:
            return frame
        way = attributes.get(_PARSE_TYPE)
        if way == "Resource":
            frame.subject = self._value(parent.subject, name, name_blank())
            frame.kind = "resource"
        elif way == "Collection":
            frame.kind = "collection"
        elif way is not None:
            frame.kind = "literal"
        elif _RESOURCE in attributes or _NODE_ID in attributes or not attributes.keys() <= _SYNTAX:
            frame.filled = True
            self._attributes(
                self._value(parent.subject, name, self._find_resource(attributes, base)), attributes, base, language
            )
        else:
            frame.typed = _DATA_TYPE in attributes
        return frame

    def _find_resource(self, attributes: dict[str, str], base: str) -> str:
        if _RESOURCE in attributes:
            return complete_iri(base, attributes[_RESOURCE])
        return f"_:{attributes[_NODE_ID]}" if _NODE_ID in attributes else name_blank()

    def _value(self, subject: str, predicate: str, value: str) -> str:
        self._add(subject, predicate, value, None)
        return value

    def _attributes(self, subject: str, attributes: dict[str, str], base: str, language: str) -> None:
        # Properties may be written as attributes too.
        for name, value in attributes.items():
            if name == TYPE:
                self._add(subject, TYPE, complete_iri(base, value), None)
            elif name not in _SYNTAX and not name.startswith(_XML):
                self._add(subject, name, value, language)

    def _list(self, frame: _Frame) -> None:
        # RDF has no lists: each element is a node with its value and the next node.
        nodes = [name_blank() for _ in frame.members]
        self._add(frame.subject, frame.predicate, nodes[0] if nodes else NIL, None)
        for place, (node, member) in enumerate(zip(nodes, frame.members, strict=True)):
            self._add(node, FIRST, member, None)
            self._add(node, REST, nodes[place + 1] if place + 1 < len(nodes) else NIL, None)
