"""Headers and footers of a document as label and value: "Document no.: QP-4471", "Revision: 3"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

Row = Sequence[str]
"""The cells of a row of a table, or the texts between the tabs of a line."""
PAGE_NUMBER_MARK = "\ue0f2"
"""Placeholder where Word shows the number of a page or of all pages."""
TODAY_MARK = "\ue0f3"
"""Placeholder where Word shows the day on which the file is opened or printed."""
_FURNITURE_TEXT = re.compile(
    rf"(?:\b(?:page|pages|p\.|seite|side|sida|página|pagina|strana|pág\.)\s*)?{PAGE_NUMBER_MARK}"
    rf"(?:\s*(?:of|von|av|af|van|de|di|sur|/|\||-)\s*{PAGE_NUMBER_MARK})?(?:\s*pages?\b)?"
    rf"|(?:\bprinted(?:\s+on)?\s*:?\s*)?{TODAY_MARK}",
    re.IGNORECASE,
)
_LABELLED_VALUE = re.compile(
    # "Confidentiality class: Restricted. Retention: 9 years." holds two.
    r"(?P<label>[^\W\d_][\w ./()&-]{0,38}?)\s*:\s+(?P<value>\S.*?)"
    r"(?=(?:[.;,|]\s+|\s{2,}|\s+[-–|]\s+)[^\W\d_][\w /()&-]{0,38}?\s*:\s|[.;,|]?\s*$)"
)
_NUMBER_SUFFIX = r"(?:\s*(?:no|number|id|code|nr)\.?)?"
_LABEL_PATTERNS = {
    "document_number": r"(?:(?:doc(?:ument)?|procedure|form|policy|sop|file|control)?\.?\s*"
    r"(?:no|number|id|code|ref(?:erence)?|nr|#)\.?|document|doc\.?)",
    "revision": rf"(?:rev(?:ision)?\.?|version|ver\.?|issue|edition){_NUMBER_SUFFIX}",
    "effective_date": r"(?:date )?effective(?: date| from| as of)?|valid from|in force (?:since|from)",
    "revision_date": r"(?:revision|issue|review|approval) date|date(?: of (?:issue|revision|approval))?"
    r"|last (?:updated|revised)|revised",
    "next_review": r"next review(?: date)?|review (?:by|due)|valid (?:until|to)|expir(?:y|es)(?: date| on)?",
    "owner": r"(?:(?:document|process|policy) )?owner|responsible(?: person)?|maintained by",
    "approved_by": r"approved(?: by)?|approver|approval|released by|authori[sz]ed by",
    "prepared_by": r"(?:prepared|written|issued|drafted) by",
    "reviewed_by": r"(?:reviewed|checked|verified) by|reviewer",
    "retention": r"retention(?: period| time)?|retain(?:ed)? (?:for|until)",
    "classification": r"classification|confidentiality(?: class)?|security class|sensitivity",
    "status": r"status",
    "department": r"department|division|business unit",
    "supersedes": r"supersedes|replaces",
    "title": r"title|subject",
    "page": r"pages?|seite|side",
}
_LABELS = {name: re.compile(rf"\s*(?:{pattern})\s*:?\s*", re.IGNORECASE) for name, pattern in _LABEL_PATTERNS.items()}
_UNMARKED_LABEL = re.compile(
    r"(rev(?:ision)?\.?|version|issue|edition|effective(?: date| from| as of)?|valid from|approved by|prepared by"
    r"|document (?:no\.?|number)|doc\.? no\.?|retention|owner)\s+((?=.{0,20}\d)\S.*|(?<=by )\S.*)",
    re.IGNORECASE,
)
_IGNORED_FIELDS = ("page", "title")
_MAX_LABEL_CHARS = 40


@dataclass(frozen=True, slots=True)
class HeaderText:
    """One entry of a header; `label` is empty if it has none."""

    label: str
    value: str

    @property
    def line(self) -> str:
        return f"{self.label}: {self.value}" if self.label else self.value

    @property
    def field_name(self) -> str:
        """The document field that it corresponds to; empty for other text."""
        return "" if (name := name_label(self.label)) in _IGNORED_FIELDS else name


def read_header_rows(rows: Sequence[Row]) -> list[HeaderText]:
    """Return the entries of a header or footer, without page numbers, each once."""
    cleaned = [[_remove_furniture(cell) for cell in row] for row in rows]
    found: list[HeaderText] = []
    skipped = False
    for row, below in zip_longest(cleaned, cleaned[1:], fillvalue=()):
        if skipped:
            skipped = False
        elif _is_label_row(row, below):
            found += [HeaderText(_strip_label(label), value) for label, value in zip(row, below, strict=True) if value]
            skipped = True
        else:
            found += _read_row([cell for cell in row if cell])
    return list(dict.fromkeys(one for one in found if re.search(r"\w", one.value)))


def name_label(label: str) -> str:
    """Return the common field name for a header's label; empty for any other label."""
    return next((name for name, pattern in _LABELS.items() if label.strip() and pattern.fullmatch(label)), "")


def _remove_furniture(text: str) -> str:
    return " ".join(_FURNITURE_TEXT.sub(" ", text).split()).strip("|–- ")


def _is_label_row(row: Row, below: Row) -> bool:
    """Return whether a row of a table has labels for the values in the row below it."""
    if len(row) < 2 or len(row) != len(below) or not any(below):
        return False
    return all(_is_label(cell) or not cell for cell in row) and not any(_is_label(cell) for cell in below)


def _is_label(text: str) -> bool:
    return 0 < len(text) <= _MAX_LABEL_CHARS and (text.endswith(":") or bool(name_label(text)))


def _read_row(cells: Sequence[str]) -> Iterator[HeaderText]:
    waiting = ""
    for cell in cells:
        if waiting and not _is_label(cell):
            yield HeaderText(_strip_label(waiting), cell)
            waiting = ""
        elif _is_label(cell):
            # A label whose value is furniture, such as a page number, carries no information.
            waiting = cell
        else:
            yield from _read_cell(cell)


def _read_cell(text: str) -> Iterable[HeaderText]:
    pairs = list(_LABELLED_VALUE.finditer(text))
    if pairs:
        before = text[: pairs[0].start()].strip(" .;,|–-")
        texts = [HeaderText(_strip_label(one["label"]), one["value"]) for one in pairs]
        return [*([HeaderText("", before)] if before else []), *texts]
    if unmarked := _UNMARKED_LABEL.fullmatch(text):
        return [HeaderText(_strip_label(unmarked[1]), unmarked[2])]
    return [HeaderText("", text)]


def _strip_label(text: str) -> str:
    return text.strip().rstrip(":").strip()
