"""The entry of a term as lines of text: for assistants, Slack and the command line."""

from __future__ import annotations

from collections.abc import Callable

from argot.languages.catalogues import translate
from argot.locations import place
from argot.service.usecases.glossary.term_results import MeaningShown, TermEntry, TermListing
from argot.types import LabelStatus
from argot.ui.rendering.label_lines import group_relations

Escape = Callable[[str], str]


def format_entry(entry: TermEntry, escape: Escape = str, *, bullet: str = "-") -> str:
    """Format the meanings of a term, each with who looks after it and the sentence that defines it.

    Args:
        escape: makes a text of the glossary or of a document literal for the reader's program.
    """
    name = escape(entry.term)
    if not entry.meanings:
        told = [translate("The glossary does not know '%(term)s'.", term=name)]
        if entry.similar:
            told.append(translate("Known terms like it: %(terms)s.", terms=", ".join(map(escape, entry.similar))))
        return " ".join(told)
    lines = [translate("%(term)s means:", term=name)]
    for one in entry.meanings:
        lines += [f"{bullet} {_format_meaning(one, entry.term, escape)}", *_quote_definition(one, escape)]
    if entry.related:
        related = (f"{escape(one.term)} ({escape(one.expansion)})" for one in entry.related)
        lines.append(f"Related: {', '.join(related)}")
    return "\n".join(lines)


def _format_meaning(one: MeaningShown, term: str, escape: Escape) -> str:
    """Format one meaning in one line: "word line (NAND): connects the gates. Looked after by ..."."""
    name = "" if one.term == term else f" [as {escape(one.term)}]"
    texts = [escape(text).rstrip() for text in (one.description, one.notes) if text.strip()]
    sentences = [text if text.endswith((".", "!", "?")) else f"{text}." for text in texts]
    if one.usable_names:
        names = ", ".join(escape(name.text) for name in one.usable_names)
        sentences.append(translate("Also called %(names)s.", names=names))
    sentences += [_format_avoided(name.text, name.status, one.preferred, escape) for name in one.avoided_names]
    for kind, related in group_relations(one.relations).items():
        sentences.append(f"{kind.capitalize()}: {', '.join(escape(to.term) for to in related)}.")
    if one.contact or one.owner:
        sentences.append(translate("Looked after by %(name)s", name=escape(one.contact or one.owner)) + ".")
    more = f": {' '.join(sentences)}" if sentences else ""
    return f"{escape(one.expansion)} ({escape(one.context)}){name}{more}".lstrip()


def _format_avoided(name: str, status: LabelStatus, preferred: str, escape: Escape) -> str:
    """Format a name to avoid: "Do not say pull rod, but tension bar."."""
    instead = f", but {escape(preferred)}" if preferred else ""
    return f"{'Do not say' if status == 'forbidden' else 'No longer say'} {escape(name)}{instead}."


def _quote_definition(one: MeaningShown, escape: Escape) -> list[str]:
    if one.definition is None:
        return []
    found = one.definition
    where = f"{escape(found.document)}{place(found.document, found.page, found.page_kind)}"
    return [f"  “{escape(found.text)}” ({where})"]


def format_listing(listing: TermListing, escape: Escape = str, *, bullet: str = "-") -> str:
    """Format a list of terms, one meaning a line, and how to go on."""
    lines = [
        f"{bullet} {escape(one.term)}: {escape(meaning.expansion or meaning.description)} ({escape(meaning.context)})"
        for one in listing.terms
        for meaning in one.meanings
    ]
    if not lines:
        known = ", ".join(map(escape, listing.similar))
        return "No such terms." + (f" Known terms like it: {known}." if known else "")
    return "\n".join([*lines, *([f"There are more: continue after '{escape(listing.next)}'."] if listing.next else [])])
