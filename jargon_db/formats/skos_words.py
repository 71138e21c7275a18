"""Names in SKOS and related vocabularies for the fields of a glossary, and Argot's own for the rest."""

from __future__ import annotations

from argot.types import RelationKind

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
DC = "http://purl.org/dc/elements/1.1/"
DC_TERMS = "http://purl.org/dc/terms/"
OWL = "http://www.w3.org/2002/07/owl#"
OURS = "urn:argot:vocabulary#"
"""term, alias (one that equals term or expansion), owner, status, audience, reviewBy of a concept; contact, audience of
a scheme."""

CONCEPT = f"{SKOS}Concept"
SCHEME = f"{SKOS}ConceptScheme"
COLLECTIONS = (f"{SKOS}Collection", f"{SKOS}OrderedCollection")
LABELS = tuple(f"{space}{name}" for space in (SKOS, SKOSXL) for name in ("prefLabel", "altLabel", "hiddenLabel"))
LITERAL_FORM = f"{SKOSXL}literalForm"
NOTES = tuple(f"{SKOS}{name}" for name in ("note", "scopeNote", "editorialNote", "changeNote", "historyNote"))
EXAMPLE = f"{SKOS}example"
SOURCE = f"{DC_TERMS}source"
RELATIONS: dict[str, RelationKind] = {
    f"{SKOS}broader": "broader",
    f"{SKOS}narrower": "narrower",
    f"{SKOS}related": "related",
    f"{RDFS}seeAlso": "see also",
}
NO_EXPANSION = "none"
"""The value of `expansion` in Argot's vocabulary where the preferred label is the term, which stands for nothing."""
DEFINITIONS = (f"{DC_TERMS}description", f"{DC}description", f"{RDFS}comment")
"""Substitutes for a missing skos:definition of a concept, best first."""
CONTEXT_NAMES = (f"{DC_TERMS}title", f"{DC}title", f"{SKOS}prefLabel", f"{RDFS}label")
CONTEXT_DESCRIPTIONS = (f"{DC_TERMS}description", f"{DC}description", f"{SKOS}definition", f"{RDFS}comment")
DEPRECATED = f"{OWL}deprecated"

PREFIXES = {"rdf": RDF, "skos": SKOS, "dct": DC_TERMS, "argot": OURS}
"""Prefixes that a file written by Argot declares."""
_SHORT = {**PREFIXES, "skosxl": SKOSXL, "dc": DC, "rdfs": RDFS, "owl": OWL}


def shorten_address(address: str) -> str:
    """Return `skos:broader` for its address; an address of another vocabulary unchanged."""
    for prefix, space in _SHORT.items():
        if address.startswith(space):
            return f"{prefix}:{address.removeprefix(space)}"
    return address
