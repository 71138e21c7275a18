"""The glossary as SKOS, the W3C's vocabulary for thesauri (https://www.w3.org/TR/skos-reference/).

A context is a `skos:ConceptScheme`, a sense a `skos:Concept` in it. `skos:prefLabel` is the expansion and
`skos:altLabel` the term and its aliases, as thesauri keep abbreviations (ISO 25964-1): another tool shows "peripheral
under cell", and finds it as "PUC". Fields that SKOS lacks are properties of Argot's own (`OURS`).

In an imported file from elsewhere nothing marks the label that is the term. If an altLabel abbreviates the prefLabel,
or the other way round, the short one is the term and the long one its expansion; else the prefLabel is both. All other
labels, of every language, become aliases.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast
from urllib.parse import unquote

from argot.jargon_db.formats.cell_texts import parse_label, parse_relation
from argot.jargon_db.formats.glossary_file import (
    ContextInput,
    GlossaryFile,
    GlossaryFileBuilder,
    ReadOptions,
    refuse,
    refuse_many,
)
from argot.jargon_db.formats.names import choose_short_form, unite_labels
from argot.jargon_db.formats.rdf import read_statements
from argot.jargon_db.formats.rdf_statements import Statement, Statements, Value
from argot.jargon_db.formats.skos_words import (
    COLLECTIONS,
    CONCEPT,
    CONTEXT_DESCRIPTIONS,
    CONTEXT_NAMES,
    DC_TERMS,
    DEFINITIONS,
    DEPRECATED,
    EXAMPLE,
    LABELS,
    LITERAL_FORM,
    NO_EXPANSION,
    NOTES,
    OURS,
    RDF,
    RELATIONS,
    SCHEME,
    SKOS,
    SKOSXL,
    SOURCE,
    shorten_address,
)
from argot.jargon_db.store.inputs import MAX_TERM_CHARS, SenseInput, join_texts
from argot.types import Label, Relation, SenseStatus

_MEMBERSHIP = (f"{SKOS}inScheme", f"{SKOS}topConceptOf")
_TYPE = f"{RDF}type"
_KNOWN_PROPERTIES = frozenset(
    [_TYPE, *_MEMBERSHIP, *LABELS, *NOTES, *DEFINITIONS, f"{SKOS}definition", f"{DC_TERMS}description", DEPRECATED]
    + [f"{OURS}{name}" for name in ("term", "expansion", "alias", "owner", "status", "audience", "reviewBy")]
    + [f"{OURS}{name}" for name in ("label", "relation", "concept")]
    + [EXAMPLE, SOURCE, *RELATIONS]
)


def read_skos(data: bytes, name: str, options: ReadOptions, syntax: str) -> GlossaryFile:
    """Return the senses of a thesaurus. `syntax` is "turtle", "rdfxml" or "jsonld".

    Raises:
        InvalidGlossary: names every bad concept, or the line at which the file cannot be read.
    """
    thesaurus = Thesaurus(read_statements(data, name, options, syntax), options)
    refuse_many(thesaurus.concepts, name, options.most_senses)
    gathering = GlossaryFileBuilder(name, options)
    for address in thesaurus.schemes:
        thesaurus.take_scheme(address, gathering)
    for address in thesaurus.concepts:
        thesaurus.take_concept(address, gathering)
    if not thesaurus.concepts:
        raise refuse(name, "it holds no skos:Concept; give a SKOS thesaurus, or choose the right format")
    return gathering.finish()


@dataclass(frozen=True, slots=True)
class _Label:
    text: str
    language: str


class Thesaurus:
    """The statements of a file, with queries in terms of SKOS."""

    def __init__(self, found: Statements, options: ReadOptions) -> None:
        self._found = found
        self._options = options
        self._at = ""
        self._of_one: dict[str, list[Value]] = {}
        self.schemes = self._find_by_type(SCHEME)
        self._tops = self._find_top_concepts()
        self.concepts = self._find_concepts()
        self._names = {address: self._scheme_name(address) for address in self.schemes}

    def take_scheme(self, address: str, gathering: GlossaryFileBuilder) -> None:
        context_input = ContextInput(
            self._names[address],
            self._best(address, CONTEXT_DESCRIPTIONS) or None,
            self._best(address, (f"{OURS}contact",)) or None,
            self._set(address, f"{OURS}audience"),
        )
        gathering.add_context(f"scheme {address}", context_input)

    def take_concept(self, address: str, gathering: GlossaryFileBuilder) -> None:
        where = f"concept {address}"
        self._count_ignored(address, gathering)
        contexts = self._find_contexts(address)
        labels = self._labels(address, f"{SKOS}prefLabel")
        if not labels:
            gathering.problem(where, "it has no skos:prefLabel; give it one", "prefLabel")
            return
        if not contexts:
            gathering.problem(
                where, "it is in no scheme; say the context of terms for which the file names none", "inScheme"
            )
            return
        for context in contexts:
            gathering.add_sense(where, self._build_sense(address, context, labels))

    def _build_sense(self, address: str, context: str, preferred: list[_Label]) -> SenseInput:
        others = self._labels(address, f"{SKOS}altLabel") + self._labels(address, f"{SKOS}hiddenLabel")
        term, expansion, aliases = self._choose_term(address, preferred, others)
        return SenseInput(
            term=term,
            context=context,
            expansion=expansion,
            description=self._description(address),
            notes=join_texts(self._texts(address, NOTES)) or None,
            labels=self._build_labels(address, preferred, others) or None,
            relations=self._build_relations(address, context) or None,
            source=join_texts([text for text, _ in self._values(address, SOURCE)]) or None,
            example=join_texts(self._texts(address, (EXAMPLE,))) or None,
            concept=self._find_concept_name(address) or None,
            aliases=aliases or None,
            owner=self._best(address, (f"{OURS}owner",)) or None,
            status=self._status(address),
            audience=self._set(address, f"{OURS}audience"),
            review_by=self._best(address, (f"{OURS}reviewBy",)) or None,
        )

    def _choose_term(
        self, address: str, preferred: list[_Label], others: list[_Label]
    ) -> tuple[str, str, tuple[str, ...]]:
        main = self._choose_label(preferred)
        ours = self._best(address, (f"{OURS}term",))
        if ours:
            # A file that Argot wrote marks the term; guessing might exchange the two.
            bare = self._best(address, (f"{OURS}expansion",)) == NO_EXPANSION
            term, expansion = ours, "" if bare else main.text
        else:
            term, expansion = choose_short_form(main.text, self._filter_language(main, others))
        labels = dict.fromkeys(label.text for label in (*preferred, *others))
        more = [text for text, _ in self._values(address, f"{OURS}alias")]
        return term, expansion, (*(text for text in labels if text not in (term, expansion)), *more)

    def _filter_language(self, main: _Label, others: list[_Label]) -> list[str]:
        # A label without a language may belong to any.
        return [one.text for one in others if not one.language or one.language == main.language]

    def _build_labels(self, address: str, preferred: list[_Label], others: list[_Label]) -> tuple[Label, ...]:
        """Return the labels with their languages; those that Argot wrote, with all it knows."""
        if self._best(address, (f"{OURS}term",)):
            return tuple(parse_label(text) for text, _ in self._values(address, f"{OURS}label"))
        main = self._choose_label(preferred)
        made = [Label(one.text, "preferred", one.language) for one in preferred if one.language]
        made += [Label(one.text, "admitted", one.language) for one in others if one.language]
        # A thesaurus in one language need not name it with every label.
        return unite_labels(made) if any(one.language != main.language for one in made) else ()

    def _build_relations(self, address: str, context: str) -> tuple[Relation, ...]:
        written = [parse_relation(text) for text, _ in self._values(address, f"{OURS}relation")]
        if written:
            return tuple(one for one in written if one is not None)
        found = []
        for name, kind in RELATIONS.items():
            for target in [text for text, language in self._values(address, name) if language is None]:
                if (named := self._name_concept(target)) is not None:
                    found.append(Relation(kind, named[0], "" if named[1] == context else named[1]))
            # The loop has read other concepts meanwhile.
            self._at = ""
        return tuple(found)

    def _name_concept(self, address: str) -> tuple[str, str] | None:
        """Return the term and context of another concept of the file."""
        labels = self._labels(address, f"{SKOS}prefLabel")
        contexts = self._find_contexts(address) if labels else []
        if not labels or not contexts:
            return None
        others = self._labels(address, f"{SKOS}altLabel") + self._labels(address, f"{SKOS}hiddenLabel")
        return self._choose_term(address, labels, others)[0], contexts[0]

    def _find_concept_name(self, address: str) -> str:
        if self._best(address, (f"{OURS}term",)):
            return self._best(address, (f"{OURS}concept",))
        return "" if address.startswith(("_:", "urn:argot:")) or len(address) > MAX_TERM_CHARS else address

    def _description(self, address: str) -> str | None:
        for name in (f"{SKOS}definition", *DEFINITIONS):
            found = self._texts(address, (name,))
            if found:
                return join_texts(found)
        return None

    def _status(self, address: str) -> SenseStatus | None:
        ours = self._best(address, (f"{OURS}status",))
        if ours:
            # Not checked here: an invalid status is reported as a problem with the other fields of the sense.
            return cast(SenseStatus, ours)
        # Both are a true xsd:boolean.
        if self._best(address, (DEPRECATED,)).casefold() in ("true", "1"):
            return "retired"
        return None

    # -- schemes --------------------------------------------------------------------------------------------------

    def _find_contexts(self, address: str) -> list[str]:
        schemes = [value for name in _MEMBERSHIP for value, language in self._values(address, name) if language is None]
        # A concept may name its scheme, the scheme its top concepts, or both.
        named = dict.fromkeys(schemes + self._tops.get(address, []))
        if named:
            return list(dict.fromkeys(self._names.get(one) or self._scheme_name(one) for one in named))
        if self._options.context:
            return [self._options.context]
        # With one scheme in the file the omission is unambiguous.
        return [self._names[self.schemes[0]]] if len(self.schemes) == 1 else []

    def _scheme_name(self, address: str) -> str:
        return self._best(address, CONTEXT_NAMES) or _last_part(address)

    def _find_top_concepts(self) -> dict[str, list[str]]:
        tops: dict[str, list[str]] = {}
        for scheme in self.schemes:
            for concept, _ in self._values(scheme, f"{SKOS}hasTopConcept"):
                tops.setdefault(concept, []).append(scheme)
        return tops

    def _find_concepts(self) -> list[str]:
        """Return the resources typed as concepts, and those with a label in a scheme: some files leave the type out."""
        # Collections have labels and belong to schemes as well.
        no_concepts = {*self.schemes, *(one for kind in COLLECTIONS for one in self._find_by_type(kind))}
        return [
            address
            for address, statements in self._found.items()
            if address not in no_concepts and (self._is_concept(statements) or address in self._tops)
        ]

    @staticmethod
    def _is_concept(statements: list[Statement]) -> bool:
        if (_TYPE, CONCEPT, None) in statements:
            return True
        names = {name for name, _, _ in statements}
        return any(label in names for label in LABELS) and any(name in names for name in _MEMBERSHIP)

    def _find_by_type(self, kind: str) -> list[str]:
        return [address for address, statements in self._found.items() if (_TYPE, kind, None) in statements]

    # -- values ---------------------------------------------------------------------------------------------------

    def _values(self, address: str, name: str) -> list[Value]:
        # Many properties of one concept are read in a row: its statements are sorted once, and only its own are kept.
        if address != self._at:
            self._at, self._of_one = address, {}
            for predicate, text, language in self._found.get(address, ()):
                self._of_one.setdefault(predicate, []).append((text, language))
        return self._of_one.get(name, [])

    def _labels(self, address: str, name: str) -> list[_Label]:
        """Return plain labels, and those of SKOS-XL, which are resources with a literal form."""
        values = list(self._values(address, name))
        for label, _ in self._values(address, name.replace(SKOS, SKOSXL)):
            values += self._values(label, LITERAL_FORM)
        return [_Label(text, language) for text, language in values if language is not None and text.strip()]

    def _texts(self, address: str, names: Iterable[str]) -> list[str]:
        """Return the texts in the language that `_choose_label` prefers among theirs."""
        labels: list[_Label] = []
        for name in names:
            for text, language in self._values(address, name):
                if language is not None:
                    labels.append(_Label(text, language))
                else:
                    labels += [_Label(inner, of or "") for inner, of in self._values(text, f"{RDF}value")]
        if not labels:
            return []
        wanted = self._choose_label(labels).language
        return [label.text for label in labels if label.language == wanted]

    def _best(self, address: str, names: Iterable[str]) -> str:
        return next((texts[0] for name in names if (texts := self._texts(address, (name,)))), "")

    def _set(self, address: str, name: str) -> frozenset[str] | None:
        return frozenset(text for text, _ in self._values(address, name)) or None

    def _choose_label(self, labels: list[_Label]) -> _Label:
        """Return the first of the preferred language (en also means en-GB), else without one, else of English, else of
        any.
        """
        for wanted in (self._options.language.lower(), "", "en"):
            for label in labels:
                if label.language == wanted or (wanted and label.language.startswith(f"{wanted}-")):
                    return label
        return labels[0]

    def _count_ignored(self, address: str, gathering: GlossaryFileBuilder) -> None:
        for name, _, _ in self._found[address]:
            if name not in _KNOWN_PROPERTIES:
                gathering.ignored[shorten_address(name)] += 1


def _last_part(address: str) -> str:
    return unquote(address.rstrip("/#").replace("#", "/").replace(":", "/").rsplit("/", 1)[-1])
