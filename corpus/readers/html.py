"""HTML to Markdown. Site navigation, scripts and hidden text are dropped; tables, lists, definitions and code keep
their structure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.dates import DATE_NAMES, find_date, warn_of_date
from argot.corpus.readers.file_fields import build_fields
from argot.corpus.readers.html_lists import write_list_numbers
from argot.corpus.readers.html_tables import DEFINITION_MARK, OUTER_TABLE_MARK, TERM_MARK, read_line
from argot.corpus.readers.nested_tables import flatten_nested_tables
from argot.corpus.readers.omissions import Omissions
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
ELEMENTS_PER_SECOND = 8_000
"""Speed of reading ordinary pages."""


def read_html(data: bytes, name: str, limits: ReadLimits, load: LoadPicture | None = None) -> ParsedDocument:
    """Read a page. The title is the first top heading if there is one, else `<title>`, else the file name.

    Args:
        load: returns the bytes of a picture by its address, beside those that are in the page itself.
    """
    text = decode_html(data, name)
    limits.check_elements(text.count("<") - text.count("</"), ELEMENTS_PER_SECOND, "HTML", name)
    soup = _parse_html(text)
    headings = (read_line(heading) for heading in soup.find_all("h1", limit=10))
    title = next((text for text in headings if text and is_distinctive_heading(text)), "")
    # A drawing has a title of its own.
    titles = (one for one in soup.find_all("title", limit=10) if one.find_parent("svg") is None)
    title = title or clean_title(read_line(next(titles, None)))
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
    from argot.corpus.readers.html_elements import ElementConverter
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
            around[OUTER_TABLE_MARK] = "1"
    return _clean_markdown(ElementConverter().convert_soup(root))


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
    joined = re.sub(rf"\*\*{TERM_MARK}\s*\*\*", ", ", markdown)
    joined = re.sub(rf"\*\*{TERM_MARK}\s*{DEFINITION_MARK}[ \t]*", "**: ", joined)
    joined = joined.replace(TERM_MARK, "").replace(DEFINITION_MARK, "")
    joined = joined.replace("\xa0", " ").replace("\xad", "")
    lines = [line.rstrip() for line in joined.split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
