"""Why a file was not read, in the language of its reader.

Readers name a fault in English, because logs and the command line show it (`argot/errors.py`: `UnreadableDocument`).
"""

from __future__ import annotations

from argot.languages.catalogues import translate
from argot.languages.written_texts import find_template, translate_written

REASONS = (
    "empty",
    "no text in it",
    "empty: it holds no text",
    "empty: it holds no text that can be read (%(why)s)",
    "encrypted",
    "encrypted: it is protected by a password",
    "nested too deeply",
    "binary, not text",
    "binary, not text: this is %(kind)s",
    "unknown format '%(suffix)s'",
    "too large: %(size)s MB, the limit is %(most)s MB",
    "too large: it unpacks to more than %(most)s MB",
    "too large: more than %(most)s million pixels",
    "too large: it holds %(what)s",
    "too much text: more than %(most)s characters",
    "too much text: what was read takes more than %(most)s bytes",
    "too long: more than %(most)s passages",
    "too much to embed: more than %(most)s pieces of text",
    "cut too finely: %(what)s",
    "took longer than %(seconds)s seconds to read",
    "took more than %(most)s MB of memory to read",
    "no document: %(kind)s",
    "damaged, or no picture of a known kind",
    "damaged or cut off: not a complete Office file",
    "damaged: no line of it is JSON",
    "damaged: not the JSON of a notebook",
    "damaged: it holds no message",
    "damaged: it holds no pages",
    "damaged: it holds no text of Word",
    "damaged: it holds no workbook",
    "damaged: the order of its text is lost",
    "damaged: its part '%(part)s' cannot be unpacked",
    "damaged: its part '%(part)s' is no XML",
    "damaged: %(part)s is no valid XML",
    "damaged: the SystemRDL ends within a component",
    "damaged or cut off: not a complete PDF",
    "damaged or cut off: %(why)s",
    "unsafe: its part '%(part)s' declares entities",
    "suspicious: an archive of %(number)s parts",
    "no Word file, and of no other kind that Argot reads",
    "encrypted: a copy-protected e-book (%(locked)s of %(number)s pages)",
    "no e-book: it lacks the list of its parts",
    "no text in the picture",
    "no mail: it names neither sender, date nor subject",
    "no mailbox: no line in it begins a message ('From ann@example.org ...')",
    "no message of Outlook",
    "no notebook: it holds no cells",
    "a page of it took tesseract more than %(seconds)s seconds",
    "tesseract failed: %(why)s",
    "tesseract cannot be started: %(why)s",
    "no text: it looks scanned, and nothing on it is legible",
    "no text: its pages are empty",
    "no valid reStructuredText: %(why)s",
    "no rich text (RTF)",
    "no valid CSV at line %(number)s: %(why)s",
    "no SystemRDL: it defines no addrmap, regfile or reg",
    "no web archive: it holds no page",
    "in the format of Word before 97",
    "a fault in Argot: %(why)s",
    "damaged or no PDF: it does not begin like one",
    "damaged, or no workbook (%(why)s)",
    "damaged: %(why)s",
    "damaged (%(why)s)",
    # Of a file or folder that was skipped.
    "unknown kind of file (no suffix, and no text)",
    "unknown kind of file (%(suffix)s)",
    "a link that leaves its folder, to %(path)s; name what it leads to, or give --follow-links",
    "a link that leaves the folder, to %(path)s; name what it leads to, or give --follow-links",
    "a link to a folder; name what it leads to, or give --follow-links",
    "a link to a folder that is added anyhow",
    "a folder that is added already; a link leads there",
    "%(path)s is the system's own, and no document",
    "an archive in an archive",
    "another file in the archive has its name",
    # Of a file that was read: how much of it there is.
    "1 passage",
    "%(number)s passages",
)
REMEDIES = (
    "Save it without a password.",
    "Save it without protection.",
    "Open it in its program and save it again.",
    "Get a complete copy of it.",
    "Give the file its right suffix.",
    "Give the file the suffix of its kind.",
    "Give the document itself.",
    "Convert it to one of the formats Argot reads.",
    "Split it, or have it put among the documents, where the limits are higher.",
    "Get the book without copy protection from its publisher.",
    "Export the book again as EPUB.",
    "Simplify the page, or save it as text.",
    "Save it from Outlook again, or as .eml.",
    "Open it in Visio and save it again.",
    "Save the page as .html.",
    "Open it in Word or LibreOffice and save it as .docx.",
    "Reading scans needs tesseract: apt install tesseract-ocr (Debian, Ubuntu), brew install tesseract (macOS).",
    "Reading scans is switched off: set ARGOT_OCR_LANGUAGES, e.g. to eng.",
    "Split it, or have it put among the documents, where the limits are higher. Setting: %(setting)s.",
    "Set %(setting)s to allow more, or split the file.",
    "Argot reads %(formats)s.",
)


NOT_ADDED = "%(name)s was not added: %(why)s."


def translate_refused_file(text: str) -> str:
    """Translate the message of a file that was not added, with its reason; empty if the text is none."""
    template, values = find_template(text, [NOT_ADDED])
    return translate(template, name=values["name"], why=translate_read_fault(values["why"])) if template else ""


def translate_read_fault(detail: str) -> str:
    """Translate the reason and the remedy of a file that was not read; what has no translation stays English."""
    reason, point, remedy = detail.partition(". ")
    return translate_written(reason, REASONS) + point + (translate_written(remedy, REMEDIES) if remedy else "")
