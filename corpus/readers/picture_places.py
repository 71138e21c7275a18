"""The places of pictures in the finished Markdown of a file: captions, figures of several parts, words in pictures."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from argot.corpus.readers.picture_captions import MAX_CAPTION_CHARS, clean_caption, is_part_label, parse_label
from argot.corpus.readers.pictures import PictureShelf, ShelvedPicture, strip_marks
from argot.types import BoxMark, ParsedDocument, Picture

WORDS_BEGIN = "Text in"
"""Begins the paragraph with the words of a picture: "Text in Figure 3: ..."."""
_MIN_NEW_SHARE = 0.3
"""Share of the words in a picture that its page must lack: otherwise they are text that the file says already."""
_NEAR_CHARS = 6_000


@dataclass(frozen=True, slots=True)
class _Edit:
    """Replace [start, end) of the Markdown."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class _PlacedPicture:
    """A picture in the text: [start, end) is its mark, [first, last) the paragraph that holds it."""

    start: int
    end: int
    first: int
    last: int
    shelved: ShelvedPicture
    caption: tuple[int, int] | None = None
    label: str = ""
    number: int = 0
    words: str = ""

    @property
    def paragraph(self) -> str:
        """The paragraph with its words; empty if the text has them already."""
        if not self.words or self.shelved.is_text:
            return ""
        return f"{WORDS_BEGIN} {self.label}: {self.words}"

    def is_alone(self, markdown: str) -> bool:
        return not strip_marks(markdown[self.first : self.last]).strip(" >*-")


@dataclass(slots=True)
class _Figure:
    """The pictures under one caption. `before`, `after`: paragraphs beside them that are captions by their words."""

    parts: list[_PlacedPicture] = field(default_factory=list)
    before: tuple[int, int, str] | None = None
    after: tuple[int, int, str] | None = None


def place_pictures(parsed: ParsedDocument, shelf: PictureShelf) -> ParsedDocument:
    """Replace the marks of pictures by the words that were read in them, and list the pictures with their captions.

    A picture without words leaves no trace in the text, so that a document reads as if it had none.
    """
    title = strip_marks(parsed.title)
    found = list(shelf.find(parsed.markdown))
    if not found:
        return replace(parsed, title=title, markdown=strip_marks(parsed.markdown))
    markdown = parsed.markdown
    placed = [
        _PlacedPicture(start, end, *_find_paragraph(markdown, start, end), shelved) for start, end, shelved in found
    ]
    shown = [one for one in placed if not shelf.is_repeated(one.shelved)]
    figures = list(_group_figures(markdown, shown))
    _assign_captions(figures)
    figures = list(_drop_banners(figures))
    _choose_words(markdown, figures)
    edits = sorted(_plan_edits(markdown, placed, figures), key=lambda one: (one.start, one.end))
    return _apply(replace(parsed, title=title), figures, edits)


def _find_paragraph(markdown: str, start: int, end: int) -> tuple[int, int]:
    """Return the lines without a blank one between them around a place: a paragraph, a table or a list."""
    first = markdown.rfind("\n\n", 0, start)
    last = markdown.find("\n\n", end)
    return (first + 2 if first >= 0 else 0), (last if last >= 0 else len(markdown.rstrip()))


def _group_figures(markdown: str, placed: Sequence[_PlacedPicture]) -> Iterator[_Figure]:
    """Yield the pictures that stand together, with the captions beside them."""
    figure = _Figure()
    for one in placed:
        last = figure.parts[-1] if figure.parts else None
        if last is not None and not _is_same_figure(markdown, last, one):
            yield _find_captions(markdown, figure)
            figure = _Figure()
        figure.parts.append(one)
    if figure.parts:
        yield _find_captions(markdown, figure)


def _is_same_figure(markdown: str, last: _PlacedPicture, one: _PlacedPicture) -> bool:
    if one.shelved.caption or last.shelved.caption:
        return one.shelved.caption == last.shelved.caption
    if last.shelved.box and one.shelved.box and last.shelved.box.page != one.shelved.box.page:
        return False
    # Their alternative texts stand before their marks.
    between = markdown[last.end : one.start].replace(one.shelved.alternative or "\n\n\n", "").replace("Picture:", "")
    return len(between) < 200 and not parse_label(between.strip()) and is_part_label(between)


def _find_captions(markdown: str, figure: _Figure) -> _Figure:
    first, last = figure.parts[0], figure.parts[-1]
    figure.before = _find_neighbour(markdown, first.first, -1)
    figure.after = _find_neighbour(markdown, last.last, 1)
    if not last.is_alone(markdown):  # a caption in the picture's own paragraph
        begin = last.end + len(markdown[last.end :]) - len(markdown[last.end :].lstrip())
        own = (begin, last.last) if begin < last.last else (first.first, first.start)
        text = strip_marks(markdown[own[0] : own[1]]).strip()
        # An alternative text such as "Chart 3" is a caption only without another.
        is_alternative = text == last.shelved.alternative and (figure.before or figure.after)
        if (label := parse_label(text)) and not is_alternative:
            figure.after = (*own, label)
    return figure


def _find_neighbour(markdown: str, at: int, step: int) -> tuple[int, int, str] | None:
    """Return the paragraph after (step 1) or before (-1) a place and its label, if it is a caption."""
    if step > 0:
        start = at + len(markdown[at : at + 40]) - len(markdown[at : at + 40].lstrip())
    else:
        stop = len(markdown[max(0, at - 40) : at].rstrip()) + max(0, at - 40)
        start = markdown.rfind("\n\n", 0, max(stop, 0)) + 2 if markdown.rfind("\n\n", 0, max(stop, 0)) >= 0 else 0
    end = markdown.find("\n\n", start)
    end = end if end >= 0 else len(markdown.rstrip())
    text = strip_marks(markdown[start:end]).strip()
    if step > 0 and at < start < end and text and is_part_label(text):
        return _find_neighbour(markdown, end, step)  # of the last part; the figure's follows
    if not 0 < end - start <= MAX_CAPTION_CHARS + 100:
        return None
    label = parse_label(text.lstrip("#> "))
    return (start, end, label) if label else None


def _assign_captions(figures: Sequence[_Figure]) -> None:
    """Give each figure its caption: below it or above it, as most figures of the document have theirs."""
    below = sum(one.after is not None for one in figures) >= sum(one.before is not None for one in figures)
    taken: set[int] = set()
    for wanted in (below, not below):
        for one in figures:
            found = one.after if wanted else one.before
            if found is None or found[0] in taken or one.parts[0].label:
                continue
            taken.add(found[0])
            for part in one.parts:
                part.caption, part.label = (found[0], found[1]), found[2]


def _drop_banners(figures: Sequence[_Figure]) -> Iterator[_Figure]:
    for one in figures:
        parts = [part for part in one.parts if part.caption or part.shelved.caption or not part.shelved.is_strip]
        if parts:
            yield replace(one, parts=parts)


def _choose_words(markdown: str, figures: Sequence[_Figure]) -> None:
    """Keep of the words of each picture those that the text lacks, and number the figures without a label."""
    for number, part in enumerate((part for one in figures for part in one.parts), start=1):
        part.number, part.label = number, part.label or f"Picture {number}"
        words = part.shelved.words
        part.words = words if part.shelved.is_text else _drop_known(words, markdown, part)


def _plan_edits(markdown: str, placed: Sequence[_PlacedPicture], figures: Sequence[_Figure]) -> Iterator[_Edit]:
    """Yield the edits that take all marks out of the text, and put in the words of each figure, below it."""
    written: dict[int, str] = {}
    for one in figures:
        if not (text := "\n\n".join(filter(None, (part.paragraph for part in one.parts)))):
            continue
        captions = [_find_paragraph(markdown, *part.caption)[1] for part in one.parts if part.caption]
        at = max([one.parts[-1].last, *captions])
        written[at] = "\n\n".join(filter(None, [written.get(at, ""), text]))
    for (first, last), marks in groupby(placed, key=lambda one: (one.first, one.last)):
        several = list(marks)
        if several[0].is_alone(markdown):
            text = written.pop(last, "")
            # A paragraph of marks alone goes with the blank lines after it.
            blank = 0 if text else len(markdown[last:]) - len(markdown[last:].lstrip("\n"))
            yield _Edit(first, last + blank, text)
        else:
            yield from (_Edit(one.start - (markdown[one.start - 1 : one.start] == " "), one.end, "") for one in several)
    yield from (_Edit(at, at, f"\n\n{text}") for at, text in written.items())


def _drop_known(words: str, markdown: str, part: _PlacedPicture) -> str:
    """Return the words of a picture without those pieces that the text around it says as well."""
    if not words:
        return ""
    near = strip_marks(markdown[max(0, part.start - _NEAR_CHARS) : part.end + _NEAR_CHARS])
    around = _fold(f"{near} {part.shelved.alternative}")
    pieces = words.split("; ")
    new = [piece for piece in pieces if _fold(piece) not in around]
    is_copy = sum(map(len, new)) < _MIN_NEW_SHARE * len(words)
    return "" if is_copy else "; ".join(pieces if len(new) == len(pieces) else new)


def _fold(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


class _Offsets:
    """Offsets before and after the edits."""

    def __init__(self, edits: Sequence[_Edit]) -> None:
        self._ends: list[int] = []
        self._shifts = [0]
        self._edits = edits
        for edit in edits:
            self._ends.append(edit.end)
            self._shifts.append(self._shifts[-1] + len(edit.text) - (edit.end - edit.start))

    def move(self, offset: int, *, before: bool = False) -> int:
        """Return the offset after the edits. `before`: in front of a text that is inserted just there."""
        count = bisect_right(self._ends, offset)
        while before and count and self._edits[count - 1].start == self._edits[count - 1].end == offset:
            count -= 1
        inside = count < len(self._edits) and self._edits[count].start < offset
        return (self._edits[count].start if inside else offset) + self._shifts[count]


def _apply(parsed: ParsedDocument, figures: Sequence[_Figure], edits: Sequence[_Edit]) -> ParsedDocument:
    offsets = _Offsets(edits)
    pieces, at = [], 0
    for edit in edits:
        pieces += [parsed.markdown[at : edit.start], edit.text]
        at = edit.end
    markdown = "".join([*pieces, parsed.markdown[at:]])
    parts = [part for one in figures for part in one.parts]
    pictures = tuple(_list_pictures(parsed, markdown, parts, offsets))
    boxes = [
        replace(mark, start=offsets.move(mark.start), end=offsets.move(mark.end, before=True)) for mark in parsed.boxes
    ]
    boxes += _mark_words(markdown, pictures)
    return replace(
        parsed,
        markdown=markdown,
        pages=tuple(replace(mark, start=offsets.move(mark.start)) for mark in parsed.pages),
        boxes=tuple(sorted((one for one in boxes if one.end > one.start), key=lambda one: one.start)),
        pictures=pictures,
        picture_data={part.shelved.content_hash: part.shelved.file.data for part in parts},
    )


def _list_pictures(
    parsed: ParsedDocument, markdown: str, parts: Sequence[_PlacedPicture], offsets: _Offsets
) -> Iterator[Picture]:
    starts = [mark.start for mark in parsed.pages]
    for part in parts:
        shelved, file = part.shelved, part.shelved.file
        at = bisect_right(starts, part.start) - 1
        page = parsed.pages[at] if at >= 0 else None
        caption = parsed.markdown[slice(*part.caption)] if part.caption else shelved.caption
        yield Picture(
            number=part.number,
            start=_find_start(parsed, markdown, part, offsets),
            label=part.label,
            content_hash=shelved.content_hash,
            media_type=file.media_type,
            width=file.width,
            height=file.height,
            size=len(file.data),
            caption=clean_caption(strip_marks(caption)),
            alternative=shelved.alternative,
            words=part.words,
            page=shelved.box.page if shelved.box else page.number if page else None,
            page_kind="page" if shelved.box else page.kind if page else None,
            box=shelved.box,
        )


def _find_start(parsed: ParsedDocument, markdown: str, part: _PlacedPicture, offsets: _Offsets) -> int:
    """Return the offset in the finished Markdown by which a picture belongs to a passage: that of its words, of its
    caption, or of the text before it on its page.
    """
    if part.paragraph:
        around = offsets.move(part.caption[0] if part.caption else part.first)
        at = markdown.find(part.paragraph, max(0, around - 2))
        if at >= 0:
            return at
    if part.caption:
        return offsets.move(part.caption[0])
    before = len(parsed.markdown[: part.start].rstrip()) - 1
    starts = [mark.start for mark in parsed.pages]
    is_same_page = before >= 0 and bisect_right(starts, before) == bisect_right(starts, part.start)
    return min(offsets.move(before if is_same_page else part.start), max(len(markdown.rstrip()) - 1, 0))


def _mark_words(markdown: str, pictures: Sequence[Picture]) -> Iterator[BoxMark]:
    """Yield the places on the page of the words in pictures: the pictures themselves."""
    for one in pictures:
        if one.box and one.words:
            end = markdown.find("\n", one.start)
            yield BoxMark(one.start, end if end >= 0 else len(markdown), one.box)
