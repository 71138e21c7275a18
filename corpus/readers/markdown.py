"""Markdown: front matter read and left out, HTML in it turned into Markdown, everything else unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.dates import DATE_NAMES, find_date, warn_of_date
from argot.corpus.readers.embedded_html import convert_embedded_html, estimate_elements
from argot.corpus.readers.file_fields import build_fields
from argot.corpus.readers.html import ELEMENTS_PER_SECOND
from argot.corpus.readers.html_media import decode_data_address, is_name_of_furniture
from argot.corpus.readers.pictures import shelve_picture
from argot.corpus.readers.plain_text import decode_text, name_without_suffix
from argot.corpus.readers.titles import find_first_heading
from argot.types import ParsedDocument

# At most 60 lines: a rule at the top of a long text opens no front matter.
_FRONT_MATTER = re.compile(r"---[ \t]*\n((?:[^\n]*\n){0,60}?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_YAML_LINE = re.compile(r"\s*$|[\w.-]+[ \t]*:(?:[ \t]|$)|[ \t]|- |#")
_ITEM = re.compile(r"\s*- +(\S.*)")
_INLINE_LIST = re.compile(r"\[[^\[\]]*\]")
_ADDRESS = r"data:image/[\w.+-]{1,40};base64,[A-Za-z0-9+/=]*"
_EMBEDDED_PICTURE = re.compile(
    rf"!\[(?P<alternative>[^\]\n]{{0,300}})\]\(\s*<?(?P<address>{_ADDRESS})>?[^)\n]{{0,300}}\)"
    rf"|(?P<tag><img\b[^<>]{{0,2000}}?\bsrc\s?=\s?[\"']?(?P<source>{_ADDRESS})[^<>]{{0,2000}}>)",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    rf" {{0,3}}\[(?P<name>[^\]\n]{{1,200}})\]:\s{{0,9}}<?(?P<address>{_ADDRESS})>?[^\n]{{0,300}}$", re.IGNORECASE
)
"""The bytes of a picture apart from its place, as in exports of Google Docs."""
_REFERENCE = re.compile(r"!\[(?P<alternative>[^\]\n]{0,300})\](?:\[(?P<name>[^\]\n]{0,200})\])?")
_ALT = re.compile(r"\balt\s?=\s?([\"'])(.{0,300}?)\1", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,20}|~{3,20})")
_IGNORED_FIELDS = frozenset({"title", *DATE_NAMES, "layout", "permalink", "slug", "weight", "id", "description"})
"""Keys that concern the page on its site, or are stored elsewhere."""


def read_markdown(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read Markdown. The title comes from the front matter, else the first heading, else the file name. Date and
    fields: of the front matter.

    HTML in it becomes Markdown; everything else is kept word for word. The front matter describes the document and is
    not searched or quoted.
    """
    front, markdown = _split_front_matter(decode_text(data, name))
    limits.check_elements(estimate_elements(markdown), ELEMENTS_PER_SECOND, "HTML", name)
    markdown = convert_embedded_html(_shelve_pictures(markdown))
    metadata = dict(reversed(front))
    title = metadata.get("title") or find_first_heading(markdown) or name_without_suffix(name)
    dates = [metadata.get(key) for key in DATE_NAMES]
    fields = build_fields((key, value) for key, value in front if key not in _IGNORED_FIELDS)
    return ParsedDocument(
        title, markdown, "text/markdown", date=find_date(*dates), warnings=warn_of_date(*dates), fields=fields
    )


def _shelve_pictures(markdown: str) -> str:
    """Return the text with its pictures, written out as base64, replaced by their alternative texts and marks."""
    if "data:image/" not in markdown:
        return markdown
    defined: dict[str, str] = {}
    texts = list(_read_definitions(markdown, defined))
    return "\n".join(line if is_code else _write_pictures(line, defined) for line, is_code in texts)


def _read_definitions(markdown: str, defined: dict[str, str]) -> Iterator[tuple[str, bool]]:
    """Yield the lines and whether they are code, without those that define a picture, which is added to `defined`."""
    fence = ""
    for line in markdown.split("\n"):
        ticks = _FENCE.match(line)
        if ticks and (not fence or ticks[1].startswith(fence)):
            fence = "" if fence else ticks[1]
        if not fence and (found := _DEFINITION.match(line)):
            defined.setdefault(found["name"].casefold(), found["address"])
        else:
            yield line, bool(fence)


def _write_pictures(line: str, defined: Mapping[str, str]) -> str:
    def write_reference(found: re.Match[str]) -> str:
        address = defined.get((found["name"] or found["alternative"]).casefold())
        return found[0] if address is None else _write_picture(found["alternative"], address)

    def write_embedded(found: re.Match[str]) -> str:
        alternative = found["alternative"] or _find_alternative(found["tag"] or "")
        return _write_picture(alternative, found["address"] or found["source"])

    line = _EMBEDDED_PICTURE.sub(write_embedded, line)
    return _REFERENCE.sub(write_reference, line) if defined else line


def _write_picture(alternative: str, address: str) -> str:
    alternative = " ".join(alternative.split())
    data = None if is_name_of_furniture(alternative) else decode_data_address(address)
    mark, _ = shelve_picture(data, alternative=alternative)
    return f"{alternative} {mark}".strip()


def _find_alternative(tag: str) -> str:
    alternative = _ALT.search(tag[:2000]) or _ALT.search(tag[-2000:])
    return alternative[2] if alternative else ""


def _split_front_matter(markdown: str) -> tuple[list[tuple[str, str]], str]:
    """Return the plain `name: value` pairs of a YAML front matter and the text after it; nothing is run or resolved.

    Lists give a pair for each item.

    Two rules with text between them are no front matter: each line of it is a pair, an item, indented or a comment.
    """
    match = _FRONT_MATTER.match(markdown)
    if match is None or not all(_YAML_LINE.match(line) for line in match[1].splitlines()):
        return [], markdown
    pairs: list[tuple[str, str]] = []
    under = ""
    for line in match[1].splitlines():
        if item := _ITEM.match(line):
            pairs += [(under, _parse_scalar(item[1]))] if under else []
            continue
        key, colon, value = line.partition(":")
        named = colon and key.strip().replace("-", "_").isidentifier()
        # An indented line that is no item belongs to the key above, and is no separate pair.
        name = key.strip().lower().replace("-", "_")
        under = name if named and not line[:1].isspace() else ""
        if under and value.strip():
            items = value.strip()[1:-1].split(",") if _INLINE_LIST.fullmatch(value.strip()) else [value]
            pairs += [(name, _parse_scalar(one)) for one in items]
    return pairs, markdown[match.end() :]


def _parse_scalar(value: str) -> str:
    """Return a value of YAML without its comment and quotation marks."""
    bare = value.strip()
    return bare.strip("'\"") if bare[:1] in ("'", '"') else bare.partition(" #")[0].rstrip()
