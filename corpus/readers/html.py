"""HTML to Markdown. Site navigation, scripts and hidden text are dropped; tables, lists, definitions and code keep
their structure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.dates import DATE_NAMES, find_date, warn_of_date
from argot.corpus.readers.file_fields import build_fields
from argot.corpus.readers.html_lists import BULLET_ATTRIBUTE, write_item, write_list_numbers
from argot.corpus.readers.nested_tables import flatten_nested_tables
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.pipe_tables import join_headers, render_pipe_table
from argot.corpus.readers.plain_text import decode_text, name_without_suffix, restore_windows_characters
from argot.corpus.readers.titles import clean_title, is_distinctive_heading
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

    from argot.corpus.readers.html_media import LoadPicture

_CHARSET = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w.:-]{2,40})|\A\s*<\?xml[^>]{0,200}encoding\s*=\s*[\"']([\w.:-]{2,40})",
    re.IGNORECASE,
)
# These numbers mean windows-1252 characters (HTML, 13.2.5.80); lxml reads them as control characters.
_WINDOWS_REFERENCE = re.compile(r"&#(?:0{0,5}(1[2-5]\d)|x0{0,4}([89][0-9a-f]));?", re.IGNORECASE)
_DATE_SELECTORS = (
    'meta[property="article:modified_time"]',
    'meta[name="last-modified" i]',
    'meta[name="dcterms.modified" i]',
    'meta[name="date" i]',
    'meta[property="article:published_time"]',
    'meta[name="dcterms.date" i]',
)
# Metadata for browsers, search engines and other sites. Names with a dot or a colon are those of some vocabulary.
_IGNORED_FIELDS = frozenset(
    {
        *DATE_NAMES, "title", "description", "viewport", "generator", "charset", "robots", "referrer", "rating",
        "slurp", "googlebot", "bingbot", "theme_color", "color_scheme", "format_detection", "application_name",
        "progid", "originator", "handheldfriendly", "mobileoptimized", "mobile_web_app_capable", "revisit_after",
        "language", "content_type", "next_head_count", "thumbnail", "image", "url", "nonce",
    }
)  # fmt: skip
_TECHNICAL_NAME = re.compile(
    r"(?:apple|msapplication|google|csrf|citation|octolytics|hovercard|baidu|yandex|shopify)_.*|.*_(?:verification|token"
    r"|id|url|key|nonce|payload|hmac|capable)"
)
_VOCABULARY_FIELDS = frozenset({"dc.creator"})
_PLAIN_NAME = re.compile(r"[^\W\d_][\w -]{0,59}")
_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.IGNORECASE | re.DOTALL)
# All but tab and line feed; the marks used below are thereby absent from every source.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")
_OUTER_TABLE_MARK = "\x03"
"""An attribute set on tables that contain tables; no document can have it."""
ELEMENTS_PER_SECOND = 8_000
"""Speed of reading ordinary pages."""
# A few cells that claim to span thousands of columns would fill the memory.
_MAX_SPAN_COLUMNS = 50
_MAX_SPAN_ROWS = 65_534
"""According to the standard (HTML, 4.9.11)."""
_MAX_ABBREVIATION_CHARS = 150  # characters of an abbreviation's long form
_MAX_CELLS = 2_000_000
_TERM, _DEFINITION = "\x01", "\x02"
"""Marks that join a definition to its term once both are Markdown; the source has no such characters left."""


def read_html(data: bytes, name: str, limits: ReadLimits, load: LoadPicture | None = None) -> ParsedDocument:
    """Read a page. The title is the first top heading if there is one, else `<title>`, else the file name.

    Args:
        load: returns the bytes of a picture by its address, beside those that are in the page itself.
    """
    text = decode_html(data, name)
    limits.check_elements(text.count("<") - text.count("</"), ELEMENTS_PER_SECOND, "HTML", name)
    soup = _parse_html(text)
    headings = (_read_line(heading) for heading in soup.find_all("h1", limit=10))
    title = next((text for text in headings if text and is_distinctive_heading(text)), "")
    # A drawing has a title of its own.
    titles = (one for one in soup.find_all("title", limit=10) if one.find_parent("svg") is None)
    title = title or clean_title(_read_line(next(titles, None)))
    fields, dates, omissions = build_fields(_read_meta_fields(soup)), _list_dates(soup), Omissions()
    try:
        markdown = convert_tree(_find_main_part(soup), omissions, load)
    except RecursionError as error:
        raise UnreadableDocument(name, "nested too deeply", "Simplify the page, or save it as text.") from error
    return ParsedDocument(
        title or name_without_suffix(name),
        markdown,
        "text/html",
        date=find_date(*dates),
        warnings=(*warn_of_date(*dates), *omissions.warnings()),
        fields=fields,
    )


def decode_html(data: bytes, name: str, declared: str | None = None) -> str:
    """Return the text of a page, whose own declaration counts where nothing else declares an encoding."""
    found = None if declared else _CHARSET.search(data[:4096])
    return decode_text(data, name, (found[1] or found[2]).decode("ascii") if found else declared)


def convert_html(html: str, load: LoadPicture | None = None) -> str:
    """Convert HTML to Markdown, for readers whose library returns HTML."""
    return convert_tree(parse_body(html), load=load)


def parse_body(html: str) -> BeautifulSoup:
    """Parse the body of a page; the page's title is no part of its text. Its styles stay, for the drawings in it."""
    soup = _parse_html(html)
    if soup.head is not None:
        if soup.body is not None:
            soup.body.extend(soup.head.find_all(["style", "link"]))
        soup.head.decompose()
    return soup


def convert_tree(root: Tag, omissions: Omissions | None = None, load: LoadPicture | None = None) -> str:
    """Return the Markdown of a part of a page; visible parts that are not read are added to `omissions`.

    Args:
        load: returns the bytes of a picture by its address, beside those that are in the page itself.
    """
    from argot.corpus.readers.html_forms import write_form_fields
    from argot.corpus.readers.html_media import decode_data_address, shelve_pictures, write_media
    from argot.corpus.readers.html_visibility import remove_unseen

    omissions = omissions or Omissions()
    write_media(root, omissions, load)
    remove_unseen(root)
    shelve_pictures(root, omissions, load or decode_data_address)
    write_form_fields(root)
    write_list_numbers(root)
    for element in root.find_all(["address", "summary"]):
        element.name = "div"  # except for adjacent text
    flatten_nested_tables(root)
    for element in root.select("table table"):
        if (around := element.find_parent("table")) is not None:
            around[_OUTER_TABLE_MARK] = "1"
    return _clean_markdown(_make_converter().convert_soup(root))


def _parse_html(html: str) -> BeautifulSoup:
    from bs4 import BeautifulSoup

    # Document type and entity declarations are dropped: lxml's HTML parser resolves none, and their text is no content.
    cleaned = _CONTROL.sub("", _DECLARATION.sub("", html[:20_000], count=3) + html[20_000:])
    soup = BeautifulSoup(_WINDOWS_REFERENCE.sub(_restore_reference, cleaned), "lxml")
    # The parser takes a drawing behind a style, with no text before it, for a part of the head.
    drawings = soup.head.find_all("svg", recursive=False) if soup.head is not None else []
    if drawings and soup.html is not None:
        if (body := soup.body) is None:
            body = soup.new_tag("body")
            soup.html.append(body)
        for drawing in reversed(drawings):
            body.insert(0, drawing)
    return soup


def _restore_reference(reference: re.Match[str]) -> str:
    return restore_windows_characters(chr(int(reference[1]) if reference[1] else int(reference[2], 16)))


def _find_main_part(soup: BeautifulSoup) -> Tag:
    """Return the part marked as the content; without such a mark the page less its header and footer."""
    # In the form in which Confluence exports a page.
    if (page := soup.select_one("#main-content.wiki-content")) is not None:
        return page
    for selector in ("main", "[role=main]", "body > article"):
        found = soup.select(selector)
        # Some pages mark a nearly empty part as the main one.
        if len(found) == 1 and len(found[0].get_text(strip=True)) > 200:
            return found[0]
    body = soup.body or soup
    for element in body.find_all("footer", recursive=False):
        element.decompose()
    return body


def _read_line(element: Any) -> str:
    return " ".join(element.get_text(" ").split())[:300] if element is not None else ""


def _list_dates(soup: BeautifulSoup) -> list[str]:
    """Return the dates on the page: of its last change first, then of its creation."""
    named = dict(reversed(list(_read_named_meta(soup))))
    return [
        *(_read_content(soup, selector) for selector in _DATE_SELECTORS),
        *(named.get(name, "") for name in DATE_NAMES),
    ]


def _read_meta_fields(soup: BeautifulSoup) -> Iterator[tuple[str, str]]:
    """Yield the page's metadata under names that its authors chose."""
    for name, text in _read_named_meta(soup):
        if name in _VOCABULARY_FIELDS or not (name in _IGNORED_FIELDS or _TECHNICAL_NAME.fullmatch(name)):
            yield name, text


def _read_named_meta(soup: BeautifulSoup) -> Iterator[tuple[str, str]]:
    for one in soup.find_all("meta", attrs={"name": True, "content": True}):
        name, text = str(one["name"]).strip().lower(), " ".join(str(one["content"]).split())
        if text and (name in _VOCABULARY_FIELDS or _PLAIN_NAME.fullmatch(name)):
            yield re.sub(r"[\s-]+", "_", name), text


def _read_content(soup: BeautifulSoup, selector: str) -> str:
    found = soup.select_one(selector)
    return str(found.get("content", "")) if found else ""


def _clean_markdown(markdown: str) -> str:
    # Several consecutive terms share the definition after them.
    joined = re.sub(rf"\*\*{_TERM}\s*\*\*", ", ", markdown)
    joined = re.sub(rf"\*\*{_TERM}\s*{_DEFINITION}[ \t]*", "**: ", joined)
    joined = joined.replace(_TERM, "").replace(_DEFINITION, "")
    joined = joined.replace("\xa0", " ").replace("\xad", "")
    lines = [line.rstrip() for line in joined.split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


# -- elements -------------------------------------------------------------------------------------------------------


def _make_converter() -> Any:
    from markdownify import MarkdownConverter

    expanded: set[tuple[str, str]] = set()
    """Abbreviations whose long form was given."""

    class Converter(MarkdownConverter):  # type: ignore[misc, unused-ignore]
        """markdownify's rules, except where a passage would lose content: tables with spans, definitions, code."""

        def convert_table(self, el: Any, text: str, parent_tags: Any) -> str:
            if el.has_attr(_OUTER_TABLE_MARK):  # a pipe table cannot contain another: its cells are read one by one
                return f"\n\n{text}\n\n"
            rows, headers = _build_grid(self, el)
            if max((len(row) for row in rows), default=0) <= 1:
                return "\n\n" + "\n\n".join(row[0] for row in rows if row) + "\n\n"
            caption = el.find("caption")
            above = f"**{_read_line(caption)}**\n\n" if _read_line(caption) else ""
            return f"\n\n{above}{render_pipe_table(join_headers(rows, headers))}\n\n"

        def convert_tr(self, el: Any, text: str, parent_tags: Any) -> str:
            return text  # matters only around a table in a table: all others are made of their cells

        def convert_td(self, el: Any, text: str, parent_tags: Any) -> str:
            table = el.find_parent("table")
            return f"\n\n{text.strip()}\n\n" if table is not None and table.has_attr(_OUTER_TABLE_MARK) else f"{text} "

        convert_th = convert_td

        def convert_li(self, el: Any, text: str, parent_tags: Any) -> str:
            # A cell of a pipe table is one line, so list items are joined by semicolons.
            if not {"td", "th"}.isdisjoint(parent_tags):
                return f"{' '.join(write_item(el, text).split())}; "
            if not el.has_attr(BULLET_ATTRIBUTE):
                return str(super().convert_li(el, text, parent_tags))  # type: ignore[misc]
            return f"{write_item(el, text)}\n"

        def convert_p(self, el: Any, text: str, parent_tags: Any) -> str:
            # The title of a Sphinx box such as "Note" or "Warning".
            if "admonition-title" in (el.get("class") or ()):
                return f"\n\n**{text.strip()}:**\n\n"
            return str(super().convert_p(el, text, parent_tags))  # type: ignore[misc]

        def convert_span(self, el: Any, text: str, parent_tags: Any) -> str:
            # docutils marks inline code this way.
            if "literal" in (el.get("class") or ()) and "_noformat" not in parent_tags:
                return str(self.convert_code(el, text, parent_tags))  # type: ignore[attr-defined]
            return text

        def convert_caption(self, el: Any, text: str, parent_tags: Any) -> str:
            # `convert_table` has moved it above the table.
            return ""

        def convert_dt(self, el: Any, text: str, parent_tags: Any) -> str:
            # Bold within the term would end the bold that is set around all of it.
            term = " ".join(text.split()).rstrip(":").replace("**", "")
            return f"\n\n**{term}**{_TERM}" if term else ""

        def convert_dd(self, el: Any, text: str, parent_tags: Any) -> str:
            return f"{_DEFINITION}{text.strip()}\n\n" if text.strip() else ""

        def convert_dl(self, el: Any, text: str, parent_tags: Any) -> str:
            return f"\n\n{text}\n\n"

        def convert_pre(self, el: Any, text: str, parent_tags: Any) -> str:
            code = el.get_text().strip("\n").rstrip()
            # Longer than any run of backticks in the code, so that none of them closes the block.
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
            return f"\n\n{fence}{_find_language(el)}\n{code}\n{fence}\n\n" if code.strip() else ""

        def convert_img(self, el: Any, text: str, parent_tags: Any) -> str:
            return " ".join(str(el.get("alt") or "").split())

        def convert_a(self, el: Any, text: str, parent_tags: Any) -> str:
            if not el.get_text(strip=True):  # a badge, or a picture that opens larger
                return _name_of_choice(el, text)
            href = str(el.get("href") or "")
            # A relative link is useless outside its site.
            if not href.startswith(("http://", "https://")) or not text.strip() or "_noformat" in parent_tags:
                return text
            return f"[{text.strip()}]({href})" if text.strip() != href else href

        def convert_abbr(self, el: Any, text: str, parent_tags: Any) -> str:
            title = " ".join(str(el.get("title") or "").split())
            if (
                not title
                or not text.strip()
                or len(title) > _MAX_ABBREVIATION_CHARS
                or title.casefold() == text.strip().casefold()
            ):
                return text
            if (text.strip(), title) in expanded:
                return text
            expanded.add((text.strip(), title))
            return f"{text} ({title})"

        convert_acronym = convert_dfn = convert_abbr

        def convert_rt(self, el: Any, text: str, parent_tags: Any) -> str:
            return text if el.find_previous_sibling("rp") is not None or not text.strip() else f"({text.strip()})"

        def convert_sup(self, el: Any, text: str, parent_tags: Any) -> str:
            return f"^{text.strip()}" if text.strip() else ""

    return Converter(
        heading_style="atx",
        bullets="-",
        # Text is searched and quoted as the page shows it, without backslashes.
        escape_asterisks=False,
        escape_underscores=False,
        escape_misc=False,
        newline_style="backslash",
        wrap=True,
        wrap_width=None,
    )


def _name_of_choice(link: Any, text: str) -> str:
    """Return the name of a link without text, if that is all an item of a list or a cell contains."""
    item = link.find_parent(["li", "td", "th", "dd"])
    if item is None or item.get_text(strip=True):
        return ""
    return text or " ".join(str(link.get("aria-label") or link.get("title") or "").split())


def _find_language(el: Any) -> str:
    code = el.find("code")
    for element in (el, code):
        classes = list(element.get("class") or ()) if element is not None else []
        for index, value in enumerate(classes):
            if value.startswith("language-"):
                return str(value.removeprefix("language-"))
            if value == "code" and index + 1 < len(classes) and classes[index + 1] != "literal-block":
                return str(classes[index + 1])
    return ""


def _build_grid(converter: Any, table: Any) -> tuple[list[list[str]], int]:
    """Return the cells of a table, spans filled with the cell they come from, and the number of header rows."""
    rows: list[list[str]] = []
    headers, held, made = 0, {}, 0  # type: int, dict[int, tuple[int, str]], int
    elements = _sort_rows(table)
    widest = _measure_columns(elements)
    group = None
    for element in elements:
        if element.parent is not group:  # no cell extends beyond its group of rows
            held, group = {}, element.parent
        row: list[str] = []
        cells = list(element.find_all(["td", "th"], recursive=False))
        for each in cells:
            while len(row) in held:
                row.append(_take_held(held, len(row)))
            content = _read_cell(converter, each)
            across = _parse_span(each, "colspan", _MAX_SPAN_COLUMNS)
            for _ in range(min(across, widest) if len(cells) == 1 and widest else across):
                if (down := _parse_span(each, "rowspan", _MAX_SPAN_ROWS)) > 1:
                    held[len(row)] = (down - 1, content)
                row.append(content)
        while len(row) in held:
            row.append(_take_held(held, len(row)))
        made += len(row)
        if made > _MAX_CELLS:
            break
        is_header = bool(cells) and (element.find_parent("thead") is not None or all(c.name == "th" for c in cells))
        # Only rows at the top are headers: a row of headings further down is an ordinary row.
        headers += is_header and headers == len(rows)
        rows.append(row)
    return rows, headers


def _sort_rows(table: Any) -> list[Any]:
    """Return the rows from top to bottom: browsers show a head above and a foot below, wherever they are written."""
    place = {"thead": 0, "tfoot": 2}
    return sorted(table.find_all("tr"), key=lambda row: place.get(row.parent.name, 1))


def _measure_columns(rows: list[Any]) -> int:
    """Return the columns of the widest row of several cells: a single cell that claims more means "all of them"."""
    cells = [row.find_all(["td", "th"], recursive=False) for row in rows]
    return max(
        (sum(_parse_span(one, "colspan", _MAX_SPAN_COLUMNS) for one in row) for row in cells if len(row) > 1), default=0
    )


def _take_held(held: dict[int, tuple[int, str]], column: int) -> str:
    left, content = held.pop(column)
    if left > 1:
        held[column] = (left - 1, content)
    return content


def _parse_span(element: Any, attribute: str, largest: int) -> int:
    value = str(element.get(attribute) or "1").strip()
    # `int` would also take other scripts' digits, and numbers of any length.
    if not (value.isascii() and value.isdigit() and len(value) < 6):
        return 1
    # A rowspan of 0 reaches to the end of its group of rows.
    return largest if attribute == "rowspan" and int(value) == 0 else min(max(int(value), 1), largest)


def _read_cell(converter: Any, element: Any) -> str:
    # List items and breaks end up on one line, since a pipe table has no second.
    text = converter.process_tag(element) if element.contents else ""
    # Fences of code and a line break's backslash have no meaning within a cell.
    text = re.sub(r"^```\w*$|\\$", "", text, flags=re.MULTILINE)
    return " ".join(text.replace(_TERM, ": ").replace(_DEFINITION, "").split()).rstrip("; ")
