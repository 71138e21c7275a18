"""XML: register descriptions (CMSIS-SVD, IP-XACT) as tables, DITA topics as text, and other XML as it is written.

Entities are never expanded and nothing is fetched: a file that declares an entity is kept as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.omissions import join_names
from argot.corpus.readers.plain_text import decode_text, name_without_suffix
from argot.corpus.readers.register_xml import list_derived, read_ipxact_blocks, read_svd_blocks
from argot.corpus.readers.registers import RegisterBlock, write_register_blocks
from argot.corpus.readers.source_code import read_source_code
from argot.types import ParsedDocument

if TYPE_CHECKING:
    from lxml.etree import _Element  # type: ignore[import-untyped]

XML_TYPE = "application/xml"
BYTES_PER_SECOND = 2_000_000
_ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
_DITA_ROOTS = frozenset({"topic", "concept", "task", "reference", "dita", "troubleshooting", "glossentry"})
_DITA_BLOCKS = frozenset({"p", "shortdesc", "cmd", "note", "dt", "dd", "stepresult", "info", "context", "result"})
_DITA_CODE = frozenset({"codeblock", "screen", "pre", "msgblock"})


def read_xml(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read XML of any kind. The title is the name of the device or topic, else the file name."""
    limits.check_markup(len(data), BYTES_PER_SECOND, "XML", name)
    root = parse_safely(data)
    if root is None:
        why = "declares entities" if _ENTITY.search(data) else "is not well-formed"
        return replace(_keep_written(data, name, limits), warnings=(f"the XML {why}: it was read as it is written",))
    kind = _name_tag(root)
    if kind == "device" and root.find("peripherals") is not None:
        read = _write_registers(read_svd_blocks(root, name, limits), limits, name)
        derived = join_names(list_derived(root))
        return replace(read, warnings=(f"what these take from others was not read: {derived}",)) if derived else read
    if kind in ("component", "registerDefinitions") and "}" in str(root.tag):
        return _write_registers(read_ipxact_blocks(root), limits, name)
    if kind in _DITA_ROOTS and root.find("title") is not None:
        markdown = "\n\n".join(part for part in _write_topic(root, 1) if part.strip()) + "\n"
        return ParsedDocument(_join_text(root.find("title")) or name_without_suffix(name), markdown, XML_TYPE)
    return _keep_written(data, name, limits)


def parse_safely(data: bytes) -> _Element | None:
    """Parse XML; None if it is not well-formed, or declares entities, which could grow without end or name files."""
    from lxml import etree  # type: ignore[import-untyped]

    if _ENTITY.search(data):
        return None
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _keep_written(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    decode_text(data, name)  # binary files are refused here, by their name
    kept = read_source_code(data, name, limits)
    return ParsedDocument(kept.title, kept.markdown, XML_TYPE, pages=kept.pages)


def _write_registers(blocks: list[RegisterBlock], limits: ReadLimits, name: str) -> ParsedDocument:
    title = blocks[0].name if blocks else name_without_suffix(name)
    return ParsedDocument(title, write_register_blocks(blocks, limits, name), XML_TYPE)


# -- DITA ------------------------------------------------------------------------------------------------------------


def _write_topic(element: _Element, level: int) -> Iterator[str]:
    """Yield the Markdown of a topic or a part of one, block by block."""
    for child in element:
        kind = _name_tag(child)
        if kind == "title":
            yield f"{'#' * min(level, 6)} {_join_text(child)}"
        elif kind in ("section", "topic", "concept", "task", "reference", "example"):
            yield from _write_topic(child, level + 1)
        elif kind in _DITA_CODE:
            yield f"```\n{''.join(str(text) for text in child.itertext()).strip()}\n```"
        elif kind in ("li", "step", "substep"):
            yield f"- {_join_text(child)}"
        elif kind in ("row", "strow", "sthead"):
            yield " | ".join(_join_text(one) for one in child)
        elif kind in _DITA_BLOCKS or not len(child):
            yield _join_text(child)
        else:
            yield _join_text(child, own_only=True)
            yield from _write_topic(child, level)
        yield " ".join((child.tail or "").split())


def _join_text(element: _Element | None, *, own_only: bool = False) -> str:
    if element is None:
        return ""
    texts = [element.text or ""] if own_only else [str(text) for text in element.itertext()]
    return " ".join(" ".join(texts).split())


def _name_tag(element: _Element) -> str:
    """Return the tag without its namespace."""
    return str(element.tag).rpartition("}")[2]
