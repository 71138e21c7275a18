"""The one table of the formats in which a glossary is imported and exported."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from argot.errors import InvalidInput, RowProblem
from argot.jargon_db.formats import csv_format, json_format
from argot.jargon_db.formats.control_characters import clean_xml
from argot.jargon_db.formats.glossary_file import GlossaryFile, ProcessRequired, ReadOptions, refuse
from argot.types import Context, Sense

FormatReader = Callable[[bytes, str, ReadOptions], GlossaryFile]
FormatWriter = Callable[[Iterable[Sense], Iterable[Context]], str | bytes]

_MARKDOWN = (".md", ".markdown")
"""Endings of pages whose tables are read as those of CSV files."""


@dataclass(frozen=True, slots=True)
class GlossaryFormat:
    """A file format of the glossary; `suffixes` start with a dot, the first is the one written.

    `read` takes bytes, the file's name for messages, and options; `write` takes senses and contexts.
    """

    name: str
    label: str
    suffixes: tuple[str, ...]
    media_type: str
    read: FormatReader
    write: FormatWriter
    is_binary: bool = False


def _read_csv(data: bytes, name: str, options: ReadOptions) -> GlossaryFile:
    text = csv_format.decode_csv(data)
    if name.casefold().endswith(_MARKDOWN):
        from argot.jargon_db.formats import markdown_format

        return markdown_format.read_markdown(text, name, options)
    return csv_format.read_csv(text, name, options)


def _write_tsv(senses: Iterable[Sense], contexts: Iterable[Context]) -> str:
    return csv_format.write(senses, contexts, delimiter="\t")


def _read_skos(data: bytes, name: str, options: ReadOptions, *, syntax: str) -> GlossaryFile:
    # Imported here and below: most glossaries are CSV, and never need a parser of RDF.
    from argot.jargon_db.formats import skos_format

    read = partial(skos_format.read_skos, syntax=syntax)
    return _read_xml(read, data, name, options) if syntax == "rdfxml" else read(data, name, options)


def _write_skos(senses: Iterable[Sense], contexts: Iterable[Context], *, syntax: str) -> str:
    from argot.jargon_db.formats import skos_writer

    return skos_writer.write(senses, contexts, syntax)


def _build_skos_format(syntax: str, label: str, suffixes: tuple[str, ...], media_type: str) -> GlossaryFormat:
    read, write = partial(_read_skos, syntax=syntax), partial(_write_skos, syntax=syntax)
    return GlossaryFormat(syntax, f"SKOS ({label})", suffixes, media_type, read, write)


def _read_xlsx(data: bytes, name: str, options: ReadOptions) -> GlossaryFile:
    from argot.jargon_db.formats import xlsx_format

    return xlsx_format.read_xlsx(data, name, options)


def _write_xlsx(senses: Iterable[Sense], contexts: Iterable[Context]) -> bytes:
    from argot.jargon_db.formats import xlsx_format

    return xlsx_format.write(senses, contexts)


def _read_tbx(data: bytes, name: str, options: ReadOptions) -> GlossaryFile:
    from argot.jargon_db.formats import tbx_format

    return _read_xml(tbx_format.read_tbx, data, name, options)


def _read_xml(read: FormatReader, data: bytes, name: str, options: ReadOptions) -> GlossaryFile:
    plain, message = clean_xml(data)
    found = read(plain, name, options)
    return replace(found, notices=[*found.notices, RowProblem(0, "", message)]) if message else found


def _write_tbx(senses: Iterable[Sense], contexts: Iterable[Context]) -> str:
    from argot.jargon_db.formats import tbx_writer

    return tbx_writer.write(senses, contexts)


_XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
FORMATS: tuple[GlossaryFormat, ...] = (
    GlossaryFormat("csv", "CSV", (".csv", ".txt", *_MARKDOWN), "text/csv", _read_csv, csv_format.write),
    GlossaryFormat("tsv", "TSV", (".tsv", ".tab"), "text/tab-separated-values", _read_csv, _write_tsv),
    GlossaryFormat("xlsx", "XLSX", (".xlsx", ".xlsm"), _XLSX_TYPE, _read_xlsx, _write_xlsx, is_binary=True),
    GlossaryFormat("tbx", "TBX", (".tbx", ".tbxm"), "application/x-tbx+xml", _read_tbx, _write_tbx),
    GlossaryFormat("json", "JSON", (".json",), "application/json", json_format.read_json, json_format.write),
    _build_skos_format("turtle", "Turtle", (".ttl", ".turtle", ".nt"), "text/turtle"),
    _build_skos_format("rdfxml", "RDF/XML", (".rdf", ".xml", ".owl", ".skos"), "application/rdf+xml"),
    _build_skos_format("jsonld", "JSON-LD", (".jsonld", ".json-ld"), "application/ld+json"),
)
"""Formats for reading and writing, in the order in which they are offered."""

_CSV, _TSV, _XLSX, _TBX, _JSON, _TURTLE, _XML, _JSONLD = FORMATS
_LINKED = re.compile(r'"@(?:context|graph|id)"\s*:')
_LOOKS_TURTLE = re.compile(r"(?:@prefix|@base|prefix\s|base\s|_:|<[a-z][a-z0-9+.-]*:[^<>\s]*>\s)", re.IGNORECASE)
_LOOKS_TBX = re.compile(r"<(?:\w+:)?(?:martif|tbx)[\s>]", re.IGNORECASE)
_COMMENTS = re.compile(r"(?:\s*#[^\n]*\n)+\s*")
_ENDING = re.compile(r"\.(?=[^.]*[a-z])[a-z0-9_~-]{1,12}$", re.IGNORECASE)
"""An ending that identifies the kind of a file; those of "terms 1.2" and "Dr. Who's terms" do not."""
_READ_ALONE = (*_MARKDOWN, ".xlsm", ".tbxm", ".nt")
"""Endings of formats that are read and never written: Turtle is exported with prefixes."""
_HEAD_BYTES = 100_000
_SMALL_FILE_BYTES = 256 * 1024
"""Files up to this many bytes are read directly: every reader is fast enough, and starting a process takes half a
second."""


_ZIP = b"PK\x03\x04"
_NO_TEXT = (
    (_ZIP, "it is a ZIP archive that holds no workbook; unpack it"),
    (
        b"\xd0\xcf\x11\xe0",
        "it is an old or encrypted workbook or document of an office program; save it as XLSX without a password",
    ),
    (b"\x1f\x8b", "it is compressed; unpack it"),
    (b"%PDF-", "it is a PDF; add it as a document, and let Argot look for terms in the documents"),
)
"""Beginnings of binary files that people mistake for text, with the advice for each."""


def find_format(name: str) -> GlossaryFormat:
    """Raises:
    InvalidInput: there is no format of this name.
    """
    for one in FORMATS:
        if one.name == name.casefold():
            return one
    raise InvalidInput(f"Unknown glossary format '{name}'. Formats: {', '.join(one.name for one in FORMATS)}.")


def detect_format(file: str, data: bytes = b"") -> str:
    """Return the format of a file by the ending of its name and, if that is ambiguous, by its content.

    Raises:
        InvalidInput: its name has the ending of another kind of file.
    """
    by_name = _match_name(file)
    # ".txt" is ambiguous: people save all of these formats with it.
    if by_name is None or file.casefold().endswith(".txt"):
        return _match_content(data).name
    # JSON-LD is often saved as ".json".
    if by_name is _JSON and _LINKED.search(_decode_head(data)):
        return _JSONLD.name
    # TBX is often saved as ".xml".
    if by_name is _XML and _LOOKS_TBX.search(_decode_head(data)):
        return _TBX.name
    return by_name.name


def choose_written_format(file: str) -> str:
    """Return the format in which a file of this name is written; CSV if its name has no ending.

    Raises:
        InvalidInput: the written file would not match its name.
    """
    if file.casefold().endswith(_READ_ALONE):
        raise _build_ending_error(file, tuple(one for one in _list_suffixes() if one not in _READ_ALONE))
    return (_match_name(file) or _CSV).name


def read_file(data: bytes, name: str, format: str, options: ReadOptions) -> GlossaryFile:
    """Read a glossary file; `format` is the name of a format, or empty to detect it.

    A large file, and one that may take unbounded time, is read in a separate process with limits on time and memory.

    Raises:
        InvalidGlossary: the file is too large, or has content that cannot be read or stored; every problem is named.
        InvalidInput: there is no such format, or the file's name ends like that of another kind of file.
    """
    # Before the size: a workbook that is too large should be reported as a workbook.
    is_workbook = data.startswith(_ZIP) and _is_workbook(data)
    for beginning, what in _NO_TEXT:
        if data.startswith(beginning) and not is_workbook:
            raise refuse(name, what)
    if len(data) > options.max_bytes:
        size, most = len(data) / 2**20, options.max_bytes / 2**20
        remedy = "split it, or have the setting max_glossary_mb raised"
        raise refuse(name, f"it has {size:,.1f} MiB, and at most {most:,.1f} are read; {remedy}")
    # Whatever it is called: a workbook is recognised by its content.
    wanted = _XLSX if is_workbook else find_format(format or detect_format(name, data))
    if wanted is _XLSX and not is_workbook:
        raise refuse(name, "it is no XLSX workbook; save it again in a spreadsheet program, or give its real format")
    if options.bounded or len(data) <= _SMALL_FILE_BYTES:
        try:
            return wanted.read(data, name, options)
        # JSON-LD beyond the simple subset: the library that reads it needs a process with limits, whatever the size.
        except ProcessRequired:
            pass
    from argot.jargon_db.formats.isolated_reader import read_glossary_in_child

    return read_glossary_in_child(data, name, wanted.name, options)


def _is_workbook(data: bytes) -> bool:
    from argot.jargon_db.formats import xlsx_format

    return xlsx_format.is_workbook(data)


def _match_name(file: str) -> GlossaryFormat | None:
    found = next((one for one in FORMATS if file.casefold().endswith(one.suffixes)), None)
    if found is None and _ENDING.search(file):
        raise _build_ending_error(file, _list_suffixes())
    return found


def _list_suffixes() -> tuple[str, ...]:
    return tuple(suffix for one in FORMATS for suffix in one.suffixes)


def _build_ending_error(file: str, known: tuple[str, ...]) -> InvalidInput:
    ending = file[file.rindex(".") :]
    names = ", ".join(one.name for one in FORMATS)
    return InvalidInput(
        f"The name {file!r} ends in '{ending}', as no file of a glossary does here. Endings: {', '.join(known)}."
        f" Give it one of them, or name its format ({names})."
    )


def _match_content(data: bytes) -> GlossaryFormat:
    text = _decode_head(data).lstrip()
    # Turtle often begins with a comment.
    text = text[found.end() :] if (found := _COMMENTS.match(text)) else text
    if text.startswith(("{", "[")):
        return _JSONLD if _LINKED.search(text) else _JSON
    if _LOOKS_TURTLE.match(text):
        return _TURTLE
    if text.startswith("<"):
        return _TBX if _LOOKS_TBX.search(text) else _XML
    return _CSV


def _decode_head(data: bytes) -> str:
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return data[:_HEAD_BYTES].decode(encoding, errors="replace")
