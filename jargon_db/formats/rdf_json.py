"""Reads JSON-LD (https://www.w3.org/TR/json-ld11/).

This reader covers the features that nearly all thesauri use: prefixes, terms with a type, a language or a container,
and graphs in expanded form. rdflib reads all other features of JSON-LD (`rdf_json_any`). Nothing is fetched: a remote
context is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from argot.jargon_db.formats.rdf_statements import (
    FIRST,
    MAX_DEPTH,
    NIL,
    REST,
    TYPE,
    Add,
    LimitExceeded,
    Value,
    complete_iri,
    name_blank,
)

_KEYWORDS = frozenset(["@id", "@type", "@graph", "@value", "@language", "@list", "@set", "@context"])
_OF_TERM = frozenset(["@id", "@type", "@container", "@language"])
_OF_CONTEXT = frozenset(["@vocab", "@base", "@language", "@version"])
_CONTAINERS = (None, "@language", "@set")


class UnsupportedJsonLd(Exception):
    """The file uses features of JSON-LD that this reader lacks."""


class RemoteContext(Exception):
    """The file names a context by its address."""


def read(found: Any, base: str, add: Add) -> None:
    """Pass every statement of the parsed file to `add`.

    Raises:
        UnsupportedJsonLd: rdflib may be able to read it (`rdf_json_any.read`); some statements were already passed on.
        LimitExceeded, Malformed, RemoteContext: it cannot be read.
    """
    # Before anything is read, so that no part of a refused file is imported.
    refuse_remote_contexts(found)
    _Reader(base, add).document(found)


@dataclass(frozen=True, slots=True)
class _Term:
    address: str
    type: str | None = None
    language: str | None = None
    by_language: bool = False


class _Reader:
    def __init__(self, base: str, add: Add) -> None:
        self._add = add
        self._base = base
        self._vocabulary: str | None = None
        self._language = ""
        self._words: dict[str, str] = {}
        self._prefixes: dict[str, str] = {}
        self._terms: dict[str, _Term] = {}
        self._properties: dict[str, _Term | None] = {}

    def document(self, found: Any) -> None:
        for one in found if isinstance(found, list) else [found]:
            if not isinstance(one, dict):
                raise UnsupportedJsonLd
            if "@context" in one:
                if one is not found:
                    raise UnsupportedJsonLd  # each node with a context of its own
                self._take_context(one["@context"])
            properties = {key: value for key, value in one.items() if self._keyword(key) not in ("@context", "@graph")}
            graph = next((value for key, value in one.items() if self._keyword(key) == "@graph"), None)
            if graph is not None:
                if any(self._keyword(key) != "@id" for key in properties):
                    raise UnsupportedJsonLd
                for node in graph if isinstance(graph, list) else [graph]:
                    self._node(node)
            else:
                self._node(properties)

    # -- the context ----------------------------------------------------------------------------------------------

    def _take_context(self, found: Any) -> None:
        settings: dict[str, Any] = {}
        for one in found if isinstance(found, list) else [found]:
            if not isinstance(one, dict) or settings.keys() & one.keys():
                raise UnsupportedJsonLd
            settings |= one
        self._take_settings(settings)
        for word, meaning in settings.items():
            if isinstance(meaning, str) and meaning.startswith("@"):
                self._take_word(word, meaning)
            elif isinstance(meaning, str) and not word.startswith("@") and ":" not in word:
                self._prefixes[word] = meaning
            elif word not in _OF_CONTEXT and (word.startswith("@") or not isinstance(meaning, dict)):
                raise UnsupportedJsonLd
        # In any order: a prefix may be defined by another, and a term by any.
        self._prefixes = {word: self._expand(meaning, set()) for word, meaning in self._prefixes.items()}
        for word, meaning in settings.items():
            if isinstance(meaning, dict):
                self._terms[word] = self._term(word, meaning)

    def _take_settings(self, settings: dict[str, Any]) -> None:
        if not all(isinstance(settings.get(name, ""), str) for name in ("@vocab", "@base", "@language")):
            raise UnsupportedJsonLd
        self._vocabulary = settings.get("@vocab")
        if self._vocabulary is not None and ":" not in self._vocabulary:
            raise UnsupportedJsonLd
        self._base = complete_iri(self._base, settings["@base"]) if "@base" in settings else self._base
        self._language = settings.get("@language", "").lower()

    def _take_word(self, word: str, meaning: str) -> None:
        if word in _OF_CONTEXT:
            return
        if meaning not in _KEYWORDS or word.startswith("@"):
            raise UnsupportedJsonLd
        self._words[word] = meaning

    def _expand(self, address: str, seen: set[str]) -> str:
        """Return the full form of an address that is written with prefixes."""
        prefix, colon, rest = address.partition(":")
        if not colon or not rest.startswith("//"):
            # `seen` stops prefixes that are defined by each other in a circle.
            if address in self._prefixes and not colon and address not in seen:
                return self._expand(self._prefixes[address], seen | {address})
            if colon and prefix in self._prefixes and prefix not in seen:
                return self._expand(self._prefixes[prefix], seen | {prefix}) + rest
            if not colon:
                raise UnsupportedJsonLd
        return address

    def _term(self, word: str, meaning: dict[str, Any]) -> _Term:
        address, kind, language = meaning.get("@id"), meaning.get("@type"), meaning.get("@language")
        container = meaning.get("@container")
        if meaning.keys() - _OF_TERM or isinstance(container, list | dict) or container not in _CONTAINERS:
            raise UnsupportedJsonLd
        if not all(isinstance(one, str | None) for one in (address, kind, language)) or word.startswith("@"):
            raise UnsupportedJsonLd
        if address is None:
            if self._vocabulary is None and ":" not in word:
                raise UnsupportedJsonLd
            full = self._expand(word, set()) if ":" in word else f"{self._vocabulary}{word}"
        elif address.startswith("@"):
            raise UnsupportedJsonLd
        else:
            full = self._expand(address, set())
        return _Term(full, kind, None if language is None else language.lower(), container == "@language")

    # -- names ----------------------------------------------------------------------------------------------------

    def _keyword(self, key: str) -> str:
        """Return the keyword that a key stands for; empty if none."""
        return key if key.startswith("@") else self._words.get(key, "")

    def _property(self, key: str) -> _Term | None:
        """Return the property of a key; None if it has none and is left out."""
        # Cached, because every node of a thesaurus has the same few properties.
        if key not in self._properties:
            self._properties[key] = self._terms.get(key) or self._as_term(self._expand_name(key))
        return self._properties[key]

    @staticmethod
    def _as_term(address: str) -> _Term | None:
        return _Term(address) if ":" in address and not address.startswith("_:") else None

    def _expand_name(self, name: str) -> str:
        """Return the full address of a property or a type; the name itself if there is none."""
        if name in self._terms:
            return self._terms[name].address
        if name in self._prefixes:
            return self._prefixes[name]
        if ":" in name:
            return self._compact(name)
        return name if self._vocabulary is None else self._vocabulary + name

    def _compact(self, name: str) -> str:
        prefix, _, rest = name.partition(":")
        if rest.startswith("//") or prefix == "_":
            return name
        if prefix in self._prefixes:
            return self._prefixes[prefix] + rest
        return self._terms[prefix].address + rest if prefix in self._terms else name

    def _address(self, name: Any) -> str:
        """Return the full address of a resource."""
        if not isinstance(name, str) or name.startswith("@"):
            raise UnsupportedJsonLd
        if name.startswith("_:"):
            return name
        return complete_iri(self._base, self._compact(name) if ":" in name else name)

    def _type(self, name: Any) -> str:
        if not isinstance(name, str) or name.startswith("@"):
            raise UnsupportedJsonLd
        return name if name.startswith("_:") else complete_iri(self._base, self._expand_name(name))

    # -- statements -----------------------------------------------------------------------------------------------

    def _node(self, found: Any) -> str:
        """Pass on the statements about a resource; return its address."""
        if not isinstance(found, dict):
            raise UnsupportedJsonLd
        subject = ""
        keys = {}
        for key in found:
            keyword = self._keyword(key)
            if keyword == "@id":
                subject = self._address(found[key])
            elif keyword not in ("", "@type"):
                raise UnsupportedJsonLd
            keys[key] = keyword
        # `@id` may be anywhere in the node, so all keys are checked before the first statement.
        subject = subject or name_blank()
        for key, value in found.items():
            if keys[key] == "@type":
                for kind in value if isinstance(value, list) else [value]:
                    self._add(subject, TYPE, self._type(kind), None)
            elif not keys[key] and (term := self._property(key)) is not None:
                self._values(subject, term, value)
        return subject

    def _values(self, subject: str, term: _Term, found: Any) -> None:
        if term.by_language:
            if not isinstance(found, dict) or any(self._keyword(key) for key in found):
                raise UnsupportedJsonLd
            for language, texts in found.items():
                for text in texts if isinstance(texts, list) else [texts]:
                    if not isinstance(text, str):
                        raise UnsupportedJsonLd
                    self._add(subject, term.address, text, language.lower())
            return
        for one in found if isinstance(found, list) else [found]:
            if one is None:
                continue
            value = self._value(term, one)
            if value is not None:
                self._add(subject, term.address, *value)

    def _value(self, term: _Term, found: Any) -> Value | None:
        if isinstance(found, str):
            if term.type in ("@id", "@vocab"):
                return (self._address(found) if term.type == "@id" else self._type(found)), None
            typed = term.type is not None and term.type != "@none"
            language = self._language if term.language is None else term.language
            return found, "" if typed else language
        # Truth values are numbers to Python, and are written in small letters in RDF.
        if isinstance(found, int):
            return str(found).lower() if isinstance(found, bool) else str(found), ""
        if not isinstance(found, dict):
            raise UnsupportedJsonLd
        return self._read_object(term, found)

    def _read_object(self, term: _Term, found: dict[str, Any]) -> Value | None:
        keywords = {self._keyword(key): value for key, value in found.items()}
        if "@value" in keywords:
            return self._literal(keywords)
        if "@list" in keywords:
            return self._list(term, keywords), None
        if "@set" in keywords:
            raise UnsupportedJsonLd
        return self._node(found), None

    @staticmethod
    def _literal(keywords: dict[str, Any]) -> Value | None:
        text, language = keywords["@value"], keywords.get("@language", "")
        if "" in keywords or not isinstance(language, str) or not isinstance(text, str | bool | int | None):
            raise UnsupportedJsonLd
        if text is None:
            return None
        return (str(text).lower() if isinstance(text, bool) else str(text)), language.lower()

    def _list(self, term: _Term, keywords: dict[str, Any]) -> str:
        found = keywords["@list"]
        if len(keywords) != 1:
            raise UnsupportedJsonLd
        values = [self._value(term, one) for one in (found if isinstance(found, list) else [found])]
        kept = [value for value in values if value is not None]
        # RDF has no lists: each element is a node with its value and the next node.
        nodes = [name_blank() for _ in kept]
        for place, (node, value) in enumerate(zip(nodes, kept, strict=True)):
            self._add(node, FIRST, *value)
            self._add(node, REST, nodes[place + 1] if place + 1 < len(nodes) else NIL, None)
        return nodes[0] if nodes else NIL


def refuse_remote_contexts(found: Any) -> None:
    """Refuse a context named by its address, which would be fetched from the network or from a file of this machine.

    Raises:
        RemoteContext: there is one.
        LimitExceeded: it is nested too deeply.
    """
    # A list instead of recursion, because the depth of nesting is not known yet.
    waiting = [(found, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise LimitExceeded(f"its values are nested more than {MAX_DEPTH} deep; flatten it")
        if isinstance(value, list):
            waiting += [(one, depth + 1) for one in value if isinstance(one, list | dict)]
        elif isinstance(value, dict):
            contexts = value.get("@context")
            named = [one for one in _flatten_contexts(contexts) if isinstance(one, str)]
            named += [str(value["@import"])] if "@import" in value else []
            if named:
                raise RemoteContext(named[0][:200])
            waiting += [(one, depth + 1) for one in value.values() if isinstance(one, list | dict)]


def _flatten_contexts(contexts: Any) -> Iterator[Any]:
    waiting = [contexts]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        else:
            yield one
