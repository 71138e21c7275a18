"""Annotations of a PDF page: filled-in form fields, text that was typed onto it, notes, and files pinned to it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from argot.corpus.readers.pdf_ligatures import Place
from argot.corpus.readers.pdf_lines import make_place

MAX_ANNOTATIONS = 5_000
"""Maximum of one page: a drawing may have more, but a person did not write them."""
_MAX_CHARS = 20_000
_PASSWORD_FLAG = 1 << 13
_OFF_STATE = "Off"
_MEDIA_KINDS = ("SOUND", "MOVIE", "SCREEN", "THREED", "RICHMEDIA")
_MARKUP_KINDS = ("HIGHLIGHT", "UNDERLINE", "SQUIGGLY", "STRIKEOUT")
_NOTE_KINDS = ("TEXT", "STAMP", "CARET", "SQUARE", "CIRCLE", "LINE", "POLYGON", "POLYLINE", "INK", "FILEATTACHMENT")
Corners = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class FormField:
    """A field and its place. `ticked`: None for a text field. `option`: the value that a radio button represents."""

    name: str
    value: str
    box: Corners
    ticked: bool | None = None
    option: str = ""

    @property
    def is_filled(self) -> bool:
        return bool(self.ticked or self.value)


@dataclass(frozen=True, slots=True)
class Remark:
    """An annotation on a page, and its place. `about`: the words of the page that a note is attached to."""

    text: str
    box: Corners
    about: str = ""


@dataclass(slots=True)
class PageAnnotations:
    """`files`: the names and bytes of those that are attached to the page. `media`: sounds and films."""

    fields: list[FormField] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    files: list[tuple[str, bytes]] = field(default_factory=list)
    media: int = 0

    @property
    def has_content(self) -> bool:
        return bool(self.remarks) or any(one.is_filled for one in self.fields)


def read_annotations(page: Any) -> PageAnnotations:
    """Return the visible annotations of a page."""
    import pypdfium2.raw as pdfium

    found = PageAnnotations()
    place = make_place(page)
    hidden = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page.raw), MAX_ANNOTATIONS)):
        handle = pdfium.FPDFPage_GetAnnot(page.raw, index)
        if not handle:
            continue
        try:
            if not pdfium.FPDFAnnot_GetFlags(handle) & hidden:
                _add(found, pdfium, handle, page, place)
        finally:
            pdfium.FPDFPage_CloseAnnot(handle)
    return found


def _add(found: PageAnnotations, pdfium: Any, handle: Any, page: Any, place: Place) -> None:
    def is_any(kinds: tuple[str, ...]) -> bool:
        return any(kind == getattr(pdfium, f"FPDF_ANNOT_{name}") for name in kinds)

    kind = pdfium.FPDFAnnot_GetSubtype(handle)
    box = _read_box(pdfium, handle, place)
    if kind == pdfium.FPDF_ANNOT_WIDGET:
        if page.formenv and (one := _read_field(pdfium, page.formenv.raw, handle, box)):
            found.fields.append(one)
        return
    if kind == pdfium.FPDF_ANNOT_FILEATTACHMENT and (file := pdfium.FPDFAnnot_GetFileAttachment(handle)):
        _add_file(found, file, page)
    found.media += is_any(_MEDIA_KINDS)
    text = _read_entry(pdfium, handle, b"Contents")
    # Programs for review keep such states ("Accepted") as replies.
    if not text or pdfium.FPDFAnnot_HasKey(handle, b"StateModel"):
        return
    if kind == pdfium.FPDF_ANNOT_FREETEXT:
        found.remarks.append(Remark(text, box))
    elif is_any((*_MARKUP_KINDS, *_NOTE_KINDS)):
        author = _read_entry(pdfium, handle, b"T")
        note = f"**Note ({author}):** {text}" if author else f"**Note:** {text}"
        found.remarks.append(Remark(note, box, about=text if is_any(_MARKUP_KINDS) else ""))


def _add_file(found: PageAnnotations, file: Any, page: Any) -> None:
    import pypdfium2

    # A failure to extract one does not affect the others.
    with suppress(pypdfium2.PdfiumError):
        one = pypdfium2.PdfAttachment(file, page.pdf)
        found.files.append((" ".join(one.get_name().split()), bytes(one.get_data())))


def _read_box(pdfium: Any, handle: Any, place: Place) -> Corners:
    corners = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(handle, ctypes.byref(corners))
    left, right = sorted((corners.left, corners.right))
    bottom, top = sorted((corners.bottom, corners.top))
    return place(left, bottom, right, top)


def _read_field(pdfium: Any, form: Any, handle: Any, box: Corners) -> FormField | None:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, handle)
    name = _read_text(lambda *to: pdfium.FPDFAnnot_GetFormFieldAlternateName(form, handle, *to))
    name = name or _read_text(lambda *to: pdfium.FPDFAnnot_GetFormFieldName(form, handle, *to))
    if kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
        ticked = _is_ticked(pdfium, form, handle)
        is_radio = kind == pdfium.FPDF_FORMFIELD_RADIOBUTTON
        option = _read_text(lambda *to: pdfium.FPDFAnnot_GetFormFieldExportValue(form, handle, *to)) if is_radio else ""
        return FormField(name, "", box, ticked, option)
    if kind in (pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX):
        if chosen := list(islice(_list_choices(pdfium, form, handle), MAX_ANNOTATIONS)):
            return FormField(name, ", ".join(chosen), box)
    elif kind != pdfium.FPDF_FORMFIELD_TEXTFIELD:
        return None
    if pdfium.FPDFAnnot_GetFormFieldFlags(form, handle) & _PASSWORD_FLAG:
        return None
    return FormField(name, _read_text(lambda *to: pdfium.FPDFAnnot_GetFormFieldValue(form, handle, *to)), box)


def _is_ticked(pdfium: Any, form: Any, handle: Any) -> bool:
    """Return whether the state of a box, or the value of its field, is anything other than Off.

    PDFium expects the state for which the box has a drawing. Some programs write another name, or fill in the value
    alone and leave the state at Off; and PDFium itself puts a box without a drawing to Off.
    """
    if pdfium.FPDFAnnot_IsChecked(form, handle):
        return True
    return any(_read_entry(pdfium, handle, key) not in ("", _OFF_STATE) for key in (b"AS", b"V"))


def _list_choices(pdfium: Any, form: Any, handle: Any) -> Iterator[str]:
    """Yield the options that are chosen, as they are shown: the value of the field may be another word."""
    for number in range(max(0, pdfium.FPDFAnnot_GetOptionCount(form, handle))):
        if pdfium.FPDFAnnot_IsOptionSelected(form, handle, number):
            yield _read_text(lambda *to, number=number: pdfium.FPDFAnnot_GetOptionLabel(form, handle, number, *to))


def _read_entry(pdfium: Any, handle: Any, key: bytes) -> str:
    return _read_text(lambda *to: pdfium.FPDFAnnot_GetStringValue(handle, key, *to))


def _read_text(function: Callable[..., int]) -> str:
    """Return the text that a function of PDFium writes into a buffer, on one line."""
    import pypdfium2.raw as pdfium

    size = function(None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    function(ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size)
    return " ".join(buffer.raw.decode("utf-16-le", "replace").replace("\0", "").split())[:_MAX_CHARS]
