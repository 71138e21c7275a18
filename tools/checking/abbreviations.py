"""Abbreviations that nothing explains, neither the text nor the glossary, and those that the text explains too late."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from argot.jargon_db.lookup.normalise import guess_singulars, normalise
from argot.jargon_db.lookup.span_mask import SpanMask
from argot.jargon_db.mining import Span, find_definitions, find_forms
from argot.languages.catalogues import translate
from argot.tools.checking.checked_blocks import CheckedText
from argot.tools.checking.exempt_forms import is_exempt, is_introduced
from argot.tools.checking.findings import Finding
from argot.tools.checking.used_terms import TermUse
from argot.tools.reading.unknown_terms import find_unknown_terms

_SECTION_CHARS = 15_000
"""Characters of a text in which definitions are searched at once: `find_definitions` reads at most 20,000."""
_SECTION_END = re.compile(r"\n(?=#{1,6} )|\n[ \t]*\n")


@dataclass(slots=True)
class _Abbreviation:
    """An abbreviation: the places of the text that use it, and the first one that explains it, with its words."""

    uses: list[Span] = field(default_factory=list)
    explained: int | None = None
    long_form: str = ""
    is_explained_elsewhere: bool = False

    @property
    def is_explained(self) -> bool:
        return self.explained is not None or self.is_explained_elsewhere


class Abbreviations:
    """The abbreviations of a text."""

    def __init__(self, text: CheckedText) -> None:
        self._text = text
        self._found = {key: found for key, found in _collect(text).items() if found.uses}

    @property
    def names(self) -> list[str]:
        """Each abbreviation, as the text has it first."""
        return [found.uses[0].of(self._text.markdown) for found in self._found.values()]

    def check(self, uses: Sequence[TermUse]) -> Iterator[Finding]:
        """Yield the abbreviations that need an explanation, or need it earlier.

        Args:
            uses: the places of the glossary's terms, which need no explanation.
        """
        known, mask = {make_key(use.surface) for use in uses}, SpanMask(len(self._text.markdown))
        for use in uses:
            mask.take(use.start, use.end)
        for key, found in self._found.items():
            if not found.is_explained:
                # A part of a longer term is explained with it.
                unknown = [span for span in found.uses if mask.are_free(span.start, span.end)]
                if key not in known and unknown and not self._is_exempt(unknown[0], len(found.uses), known):
                    yield _report_undefined(self._text, unknown)
            elif late := _find_early_uses(self._text, found):
                yield _report_late(self._text, found, late)

    def _is_exempt(self, span: Span, uses: int, known: Collection[str]) -> bool:
        def is_known(form: str) -> bool:
            other = self._found.get(make_key(form))
            return make_key(form) in known or (other is not None and other.is_explained)

        block = self._text.get_block(span.start)
        return block is not None and is_exempt(
            block.text, span.start - block.start, span.end - block.start, uses, is_known
        )


def make_key(surface: str) -> str:
    """Return the key under which an abbreviation and its plural are one."""
    key = normalise(re.sub(r"['’]s$", "", surface))
    return next(iter(guess_singulars(key)), key) if len(surface) > 2 and surface[-2].isupper() else key


def _collect(text: CheckedText) -> dict[str, _Abbreviation]:
    forms = find_forms(text.markdown)
    by_key: dict[str, _Abbreviation] = {}
    for span in _filter_jargon(text, forms.short):
        by_key.setdefault(make_key(span.of(text.markdown)), _Abbreviation()).uses.append(span)
    for pair in forms.pairs:
        found = by_key.setdefault(make_key(pair.short.of(text.markdown)), _Abbreviation())
        start = min(pair.short.start, pair.long.start)
        # Without brackets the long form is less certain: enough to be lenient, not to demand another order.
        if pair.kind != "brackets":
            found.is_explained_elsewhere = True
        elif found.explained is None or start < found.explained:
            found.explained, found.long_form = start, " ".join(pair.long.of(text.markdown).split())
    for found in by_key.values():
        found.is_explained_elsewhere |= any(_is_introduced(text, span) for span in found.uses)
    for term in _list_listed_terms(text.markdown):
        if (listed := by_key.get(make_key(term))) is not None:
            listed.is_explained_elsewhere = True
    return by_key


def _is_introduced(text: CheckedText, span: Span) -> bool:
    block = text.get_block(span.start)
    return block is not None and is_introduced(block.text, span.start - block.start, span.end - block.start)


def _filter_jargon(text: CheckedText, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield the spans that the rules for questions take for jargon, too: no well-known abbreviation, number, unit,
    standard, part of a name, or word in capitals.
    """
    jargon, examined = SpanMask(len(text.markdown)), set[int]()
    for span in spans:
        block = text.get_block(span.start)
        if block is None or not text.is_checked(span.start, span.end):
            continue
        if block.start not in examined:
            examined.add(block.start)
            for one in find_unknown_terms(block.text):
                jargon.take(block.start + one.start, block.start + one.end)
        if not jargon.are_free(span.start, span.end):
            yield span


def _list_listed_terms(markdown: str) -> Iterator[str]:
    """Yield the terms that a table or list of the text explains, wherever it is: a reader finds them there."""
    start = 0
    while start < len(markdown):
        end = min(len(markdown), start + _SECTION_CHARS)
        if end < len(markdown):
            ends = [match.start() for match in _SECTION_END.finditer(markdown, start + 1, end)]
            end = ends[-1] if ends else end
        for one in find_definitions(markdown[start:end]):
            if one.kind in ("table", "list"):
                yield one.term
        start = end


def _find_early_uses(text: CheckedText, found: _Abbreviation) -> list[Span]:
    """Return the uses in paragraphs before the one that explains the abbreviation. Headings name it before they can
    explain it.
    """
    if found.explained is None or found.is_explained_elsewhere:
        return []
    at = text.get_block(found.explained)
    first = at.start if at is not None else 0
    early = [span for span in found.uses if span.end <= first]
    return [span for span in early if (block := text.get_block(span.start)) is None or not block.is_heading]


def _report_undefined(text: CheckedText, uses: Sequence[Span]) -> Finding:
    # The first sentence tells more than a heading.
    outside = [one for one in uses if (block := text.get_block(one.start)) is None or not block.is_heading]
    span = (outside or uses)[0]
    name = span.of(text.markdown)
    return Finding(
        "undefined-abbreviation",
        name,
        span.start,
        span.end,
        translate("“%(name)s” is explained neither in this text nor in the glossary.", name=name),
        translate(
            "Spell it out where it is first used, as in “full name (%(name)s)”, or propose its meaning for the "
            "glossary.",
            name=name,
        ),
        len(uses),
    )


def _report_late(text: CheckedText, found: _Abbreviation, late: Sequence[Span]) -> Finding:
    span = late[0]
    name = span.of(text.markdown)
    return Finding(
        "explained-late",
        name,
        span.start,
        span.end,
        translate("“%(name)s” is used before the text explains it as “%(long)s”.", name=name, long=found.long_form),
        translate("Write “%(long)s (%(name)s)” here, and “%(name)s” from then on.", name=name, long=found.long_form),
        len(late),
    )
