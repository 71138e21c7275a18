"""Names of terms that the glossary marks as deprecated or forbidden, and the name to use instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from argot.jargon_db.lookup.normalise import list_variants, normalise
from argot.languages.catalogues import join_with_and, join_with_or, quote_name, translate
from argot.tools.checking.findings import Finding, FindingKind
from argot.tools.checking.used_terms import TermUse
from argot.types import Label, Sense

_DEPRECATED = "“%(name)s” is a deprecated name of %(term)s in %(contexts)s."
_FORBIDDEN = "“%(name)s” is a forbidden name of %(term)s in %(contexts)s."


def find_wrong_names(uses: Iterable[TermUse]) -> Iterator[Finding]:
    """Yield each place at which a term has a name that every meaning of it rejects.

    A name that one of the meanings admits may be meant so, and is accepted.
    """
    uses = list(uses)
    counts: dict[str, int] = {}
    wrong: list[tuple[TermUse, list[tuple[Sense, Label]]]] = []
    for use in uses:
        named = [(sense, label) for sense in use.senses if (label := find_label(sense, use.surface)) is not None]
        if named and all(not label.is_usable for _, label in named):
            wrong.append((use, named))
            counts[normalise(use.surface)] = counts.get(normalise(use.surface), 0) + 1
    for use, named in wrong:
        # The milder judgement counts where meanings disagree.
        deprecated = any(label.status == "deprecated" for _, label in named)
        kind: FindingKind = "deprecated-name" if deprecated else "forbidden-name"
        contexts = join_with_and(list(dict.fromkeys(sense.context for sense, _ in named)))
        text = _DEPRECATED if deprecated else _FORBIDDEN
        reason = translate(text, name=use.surface, term=_name_term(named), contexts=contexts)
        remedy = _advise((sense for sense, _ in named), use.surface)
        yield Finding(kind, use.term, use.start, use.end, reason, remedy, counts[normalise(use.surface)])


def find_label(sense: Sense, surface: str) -> Label | None:
    """Return the label of a sense that has this spelling, its plural or its singular.

    Of labels that differ only in case or hyphens, the one spelt exactly so; else one that may be used.
    """
    keys = set(list_variants(surface))
    found = [label for label in list_labels(sense) if normalise(label.text) in keys]
    exact = [label for label in found if label.text == surface]
    return next(iter(sorted(exact or found, key=lambda label: not label.is_usable)), None)


def list_labels(sense: Sense) -> Sequence[Label]:
    """Return every name of a sense, with its status."""
    return sense.all_labels


def _name_term(named: Sequence[tuple[Sense, Label]]) -> str:
    sense, label = named[0]
    shown = next((one for one in (sense.expansion, sense.term) if one and one != label.text), "")
    return quote_name(shown) if shown else translate("a term")


def _advise(senses: Iterable[Sense], surface: str) -> str:
    names = list(dict.fromkeys(name for sense in senses if (name := _choose_name(sense, surface))))
    if not names:
        return translate("Use another word: the glossary has no name for it that may be used.")
    return translate("Say %(names)s.", names=join_with_or([quote_name(name) for name in names[:3]]))


def _choose_name(sense: Sense, surface: str) -> str:
    """Return the name to use: an abbreviation instead of an abbreviation, words instead of words."""
    usable = {label.text for label in list_labels(sense) if label.is_usable}
    return sense.expansion if sense.expansion in usable and not surface.isupper() else sense.preferred
