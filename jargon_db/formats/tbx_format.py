"""The glossary as TBX (ISO 30042), the exchange format of terminology programs, in both editions and styles.

Read: `martif` of 2008 (termEntry, langSet, tig, ntig) and `tbx` of 2019 (conceptEntry, langSec, termSec), with data
categories as attributes (DCA) or as elements of their own (DCT). A subject field is a context, a concept a sense, and
the terms of all languages are its names. Nothing is fetched, and no entity is expanded: a document type may be named,
but must declare nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import cast
from urllib.parse import unquote
from xml.parsers import expat

from argot.jargon_db.formats.cell_texts import parse_label_status
from argot.jargon_db.formats.glossary_file import (
    ContextInput,
    GlossaryFile,
    GlossaryFileBuilder,
    ReadOptions,
    refuse,
    refuse_many,
)
from argot.jargon_db.formats.names import choose_names, clean_language, unite_labels
from argot.jargon_db.store.inputs import SenseInput, join_texts
from argot.types import Label, Relation, RelationKind, SenseStatus

OURS = "x-argot-"
"""The beginning of the data categories of Argot's own."""
TERM_ADDRESS = "urn:argot:term:"
"""The target of a relation that Argot writes: context and term, each quoted, with a slash between."""
FORBIDDEN_NOTE = "forbidden"
"""The usage note of a deprecated term that must not be used: TBX has no such status."""
_ROOTS = ("martif", "tbx", "TBX")
_CONCEPTS = ("termEntry", "conceptEntry")
_LANGUAGES = ("langSet", "langSec")
_TERMS = ("tig", "termSec", "termGrp")
_TYPED = ("descrip", "termNote", "admin", "adminNote", "descripNote", "ref", "xref", "transac", "transacNote", "item")
_LANGUAGE = "xml:lang"
_RELATIONS: dict[str, RelationKind] = {
    "broaderconceptgeneric": "broader",
    "superordinateconceptgeneric": "broader",
    "broaderconceptpartitive": "broader",
    "superordinateconceptpartitive": "broader",
    "narrowerconceptgeneric": "narrower",
    "subordinateconceptgeneric": "narrower",
    "narrowerconceptpartitive": "narrower",
    "subordinateconceptpartitive": "narrower",
    "relatedconcept": "related",
    "relatedconceptbroader": "broader",
    "relatedconceptnarrower": "narrower",
    "associatedconcept": "related",
    "coordinateconceptgeneric": "related",
    "crossreference": "see also",
}
_STATUSES = ("administrativestatus", "normativeauthorization", "administrativestatusterm")
_EXAMPLES = ("context", "example", "samplesentence")
_SOURCES = ("source", "externalcrossreference", "xsource", "sourceidentifier")
_MARKUP = ("hi", "foreign", "ph", "bpt", "ept")
_UNKNOWN_LANGUAGE = "und"
_MAX_DEPTH = 50
_BASE_CONTEXT = "general"


@dataclass(slots=True)
class _Term:
    language: str
    text: str = ""
    properties: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Concept:
    """One entry: `texts` are (category, language, text), `links` (category, target, text)."""

    id: str
    line: int
    texts: list[tuple[str, str, str]] = field(default_factory=list)
    links: list[tuple[str, str, str]] = field(default_factory=list)
    terms: list[_Term] = field(default_factory=list)

    def find(self, *categories: str, language: str | None = None) -> list[str]:
        return [
            text for name, of, text in self.texts if name in categories and (language is None or of in ("", language))
        ]


class _RefusedFile(Exception):
    """The file contains something that is never read, or is no TBX."""


def read_tbx(data: bytes, name: str, options: ReadOptions) -> GlossaryFile:
    """Return the senses and contexts of a TBX file.

    Raises:
        InvalidGlossary: names every wrong entry, or the line at which the file cannot be read.
    """
    reader = _Reader(name, options)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = _refuse_entity
    parser.StartDoctypeDeclHandler = _check_doctype
    reader.find_line = lambda: parser.CurrentLineNumber
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        where = f"line {error.lineno}, column {error.offset + 1}"
        raise refuse(name, f"this is no XML: {expat.ErrorString(error.code)}. Mend it there", where) from error
    except (LookupError, ValueError) as error:
        raise refuse(name, f"this is no XML: {error}", f"line {parser.CurrentLineNumber}") from error
    except _RefusedFile as error:
        raise refuse(name, str(error), f"line {parser.CurrentLineNumber}") from error
    return _ConceptReader(reader, options).gather(name)


def _refuse_entity(*_: object) -> None:
    raise _RefusedFile("it declares entities, which can expand without end, and is not read; take its <!DOCTYPE> out")


def _check_doctype(name: str, system: str | None, public: str | None, has_internal: bool) -> None:
    # A document type that only names its DTD, as files of 2008 do, is harmless: it is never fetched.
    if has_internal:
        raise _RefusedFile("its <!DOCTYPE> declares something, which is not read; take the part in brackets out")


class _Reader:
    """Collects the concepts of a file from the events of expat."""

    def __init__(self, name: str, options: ReadOptions) -> None:
        self.concepts: list[_Concept] = []
        self.contexts: list[dict[str, list[str]]] = []
        self.language = ""
        self.find_line: Callable[[], int] = lambda: 0
        self._name, self._most = name, options.most_senses
        self._path: list[tuple[str, str, str, str]] = []
        self._concept: _Concept | None = None
        self._term: _Term | None = None
        self._text: list[str] = []

    def start(self, element: str, attributes: dict[str, str]) -> None:
        local = element.rpartition(":")[2]
        if not self._path and local not in _ROOTS:
            raise _RefusedFile(f"its root is <{element[:40]}>, and not <martif> or <tbx>: this is no TBX")
        if len(self._path) >= _MAX_DEPTH:
            raise _RefusedFile(f"its elements are nested more than {_MAX_DEPTH} deep; flatten it")
        language = clean_language(attributes[_LANGUAGE]) if _LANGUAGE in attributes else self._find_language()
        language = "" if language == _UNKNOWN_LANGUAGE else language
        if local in _CONCEPTS:
            self._concept = _Concept(attributes.get("id", ""), self.find_line())
        elif local in _TERMS and self._concept is not None:
            # A termGrp is part of an ntig, and holds the only term of it.
            self._term = _Term(language)
        elif local == "refObject":
            self.contexts.append({})
        # As elements of their own, data categories have their name; otherwise a type.
        category = attributes.get("type", "") if local in _TYPED else local
        self._path.append((local, category, language, attributes.get("target", "")))
        # Markup within a text, such as <hi>, belongs to it.
        self._text = self._text if local in _MARKUP else []

    def text(self, text: str) -> None:
        self._text.append(text)

    def end(self, element: str) -> None:
        local, category, language, target = self._path.pop()
        text = "".join(self._text).strip()
        if local in _CONCEPTS and self._concept is not None:
            self.concepts.append(self._concept)
            self._concept = None
            refuse_many(self.concepts, self._name, self._most)
        elif local in ("tig", "termSec", "ntig") and self._concept is not None and self._term is not None:
            self._concept.terms.append(self._term)
            self._term = None
        elif local == "item" and self.contexts and self._concept is None:
            self.contexts[-1].setdefault(category, []).append("".join(self._text))
        elif self._concept is not None and (text or target):
            self._take(local, category, language, target, text)
        self._text = self._text if local in _MARKUP else []

    def _take(self, local: str, category: str, language: str, target: str, text: str) -> None:
        assert self._concept is not None
        name = category.casefold()
        if local == "term" and self._term is not None:
            self._term.text = text
        elif name in _RELATIONS and (target or local in ("ref", "descrip") or not self._term):
            self._concept.links.append((name, target, text))
        elif name in _SOURCES and local in ("xref", "admin", "ref", *(category,)):
            self._concept.texts.append(("source", language, target if target and "://" in target else text or target))
        elif self._term is not None and local in ("termNote", category) and name not in ("note", *_EXAMPLES):
            self._term.properties.setdefault(name, text)
        else:
            self._concept.texts.append((name, language, text))

    def _find_language(self) -> str:
        return self._path[-1][2] if self._path else ""


class _ConceptReader:
    """Builds senses from the concepts of a file."""

    def __init__(self, reader: _Reader, options: ReadOptions) -> None:
        self._reader = reader
        self._options = options
        self._named: dict[str, tuple[str, str]] = {}

    def gather(self, name: str) -> GlossaryFile:
        gathering = GlossaryFileBuilder(name, self._options)
        if not self._reader.concepts:
            raise refuse(name, "it holds no concept; give a TBX file with entries")
        for context_text in self._reader.contexts:
            one = {key: values[0] for key, values in context_text.items()}
            audience = frozenset(context_text.get("audience", ())) or None
            context_input = ContextInput(one.get("name", ""), one.get("description"), one.get("contact"), audience)
            gathering.add_context("back matter", context_input)
        read = [(one, self._build_sense(one)) for one in self._reader.concepts]
        for concept, sense_input in read:
            if sense_input is not None and concept.id:
                self._named.setdefault(concept.id, (sense_input.term, sense_input.context))
        for concept, sense_input in read:
            where = f"entry {concept.id}" if concept.id else f"entry of line {concept.line}"
            if sense_input is None:
                gathering.problem(where, "it has no term; give it one")
                continue
            relations = tuple(self._build_relations(concept, sense_input.context))
            for context in concept.find("subjectfield", "domain") or [sense_input.context]:
                gathering.add_sense(where, replace(sense_input, context=context, relations=relations or None))
        return gathering.finish()

    def _build_sense(self, concept: _Concept) -> SenseInput | None:
        labels = [_build_label(term) for term in concept.terms if term.text]
        if not labels:
            return None
        definitions = self._choose_texts(concept, "definition") or self._choose_texts(concept, "explanation")
        ours = _first(concept, "term")
        names = choose_names(labels, self._options.language, described=bool(definitions))
        term, expansion = (ours, _first(concept, "expansion")) if ours else (names.term, names.expansion)
        if ours:
            # Argot writes the status of the names about which something is known, and the other names in order.
            kept = [_build_label(one) for one in concept.terms if _STATUSES[0] in one.properties]
            aliases = concept.find(f"{OURS}alias")
        else:
            kept = [_prefer(one) if one.text in (term, expansion) else one for one in unite_labels(labels)]
            aliases = [one.text for one in labels if one.text not in (term, expansion)]
        others = [] if ours else self._find_other_definitions(concept)
        return SenseInput(
            term=term,
            context=(concept.find("subjectfield", "domain") or [self._options.context or _BASE_CONTEXT])[0],
            expansion=expansion,
            description=join_texts(definitions) or None,
            notes=join_texts([*concept.find("note"), *others]) or None,
            aliases=tuple(aliases) or None,
            owner=_first(concept, "owner") or None,
            status=cast(SenseStatus, _first(concept, "status")) or None,
            audience=frozenset(concept.find(f"{OURS}audience")) or None,
            review_by=_first(concept, "reviewby") or None,
            labels=tuple(kept) or None,
            source=join_texts(concept.find("source")) or None,
            example=join_texts(concept.find(*_EXAMPLES)) or None,
            concept=_first(concept, "concept") if ours else concept.id or None,
        )

    def _choose_texts(self, concept: _Concept, category: str) -> list[str]:
        """Return the texts of the preferred language, else those without one, else those of the first."""
        found = [(language, text) for name, language, text in concept.texts if name == category]
        wanted = self._options.language.lower()
        for language in (wanted, "", self._reader.language):
            alike = [text for of, text in found if of == language or (language and of.startswith(f"{language}-"))]
            if alike:
                return alike
        return [text for of, text in found if of == found[0][0]]

    def _find_other_definitions(self, concept: _Concept) -> list[str]:
        chosen = self._choose_texts(concept, "definition")
        return [
            f"[{language}] {text}"
            for name, language, text in concept.texts
            if name == "definition" and text not in chosen
        ]

    def _build_relations(self, concept: _Concept, context: str) -> Iterator[Relation]:
        for name, target, text in concept.links:
            kind = _RELATIONS[name]
            if target.startswith(TERM_ADDRESS):
                of, _, term = target.removeprefix(TERM_ADDRESS).partition("/")
                yield Relation(kind, unquote(term), unquote(of))
            elif target in self._named:
                term, of = self._named[target]
                yield Relation(kind, term, of if of != context else "")
            elif text:
                yield Relation(kind, text)


def _prefer(label: Label) -> Label:
    """Return the label of a term or expansion, which is preferred unless the file says otherwise."""
    return replace(label, status="preferred") if label.status == "admitted" else label


def _first(concept: _Concept, name: str) -> str:
    return next(iter(concept.find(f"{OURS}{name}")), "")


def _build_label(term: _Term) -> Label:
    written = next((term.properties[name] for name in _STATUSES if name in term.properties), "")
    status = parse_label_status(written) or "admitted"
    if status == "deprecated" and term.properties.get("usagenote") == FORBIDDEN_NOTE:
        status = "forbidden"
    kind = term.properties.get("termtype", "")
    gender = term.properties.get("grammaticalgender", "")
    return Label(term.text, status, term.language, term.properties.get("partofspeech", ""), gender, kind)
