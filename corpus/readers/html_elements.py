"""The Markdown of each HTML element. Imported when a page is read, because markdownify takes a while to import."""

from __future__ import annotations

import re
from typing import Any

from markdownify import MarkdownConverter

from argot.corpus.readers.html_lists import BULLET_ATTRIBUTE, write_item
from argot.corpus.readers.html_tables import DEFINITION_MARK, OUTER_TABLE_MARK, TERM_MARK, build_grid, read_line
from argot.corpus.readers.pipe_tables import join_headers, render_pipe_table

_MAX_ABBREVIATION_CHARS = 150  # characters of an abbreviation's long form


class ElementConverter(MarkdownConverter):  # type: ignore[misc, unused-ignore]
    """markdownify's rules, except where a passage would lose content: tables with spans, definitions, code."""

    def __init__(self) -> None:
        super().__init__(
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
        self._expanded: set[tuple[str, str]] = set()
        """Abbreviations whose long form was given."""

    def convert_table(self, el: Any, text: str, parent_tags: Any) -> str:
        if el.has_attr(OUTER_TABLE_MARK):  # a pipe table cannot contain another: its cells are read one by one
            return f"\n\n{text}\n\n"
        rows, headers = build_grid(self, el)
        if max((len(row) for row in rows), default=0) <= 1:
            return "\n\n" + "\n\n".join(row[0] for row in rows if row) + "\n\n"
        caption = el.find("caption")
        above = f"**{read_line(caption)}**\n\n" if read_line(caption) else ""
        return f"\n\n{above}{render_pipe_table(join_headers(rows, headers))}\n\n"

    def convert_tr(self, el: Any, text: str, parent_tags: Any) -> str:
        return text  # matters only around a table in a table: all others are made of their cells

    def convert_td(self, el: Any, text: str, parent_tags: Any) -> str:
        table = el.find_parent("table")
        return f"\n\n{text.strip()}\n\n" if table is not None and table.has_attr(OUTER_TABLE_MARK) else f"{text} "

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
        return f"\n\n**{term}**{TERM_MARK}" if term else ""

    def convert_dd(self, el: Any, text: str, parent_tags: Any) -> str:
        return f"{DEFINITION_MARK}{text.strip()}\n\n" if text.strip() else ""

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
        if (text.strip(), title) in self._expanded:
            return text
        self._expanded.add((text.strip(), title))
        return f"{text} ({title})"

    convert_acronym = convert_dfn = convert_abbr

    def convert_rt(self, el: Any, text: str, parent_tags: Any) -> str:
        return text if el.find_previous_sibling("rp") is not None or not text.strip() else f"({text.strip()})"

    def convert_sup(self, el: Any, text: str, parent_tags: Any) -> str:
        return f"^{text.strip()}" if text.strip() else ""


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
