"""Embedded parts of a page as text: formulas, drawings, inner pages. Sound and films are counted as not read."""

from __future__ import annotations

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString

from argot.corpus.readers.html_selection import select_elements
from argot.corpus.readers.mathml import convert_mathml, parse_image_tex
from argot.corpus.readers.omissions import Omissions

_MAX_EMBEDDED_PAGES = 50
_EMBEDDED_TAGS = ["script", "math", "img", "iframe", "template", "svg", "video", "audio", "object"]
_MATHJAX_COPIES = (
    ".MathJax, .MathJax_Preview, .MathJax_Display, .MathJax_SVG, .MathJax_SVG_Display, .MathJax_CHTML, .mjx-chtml"
)


def write_media(root: Tag, omissions: Omissions) -> None:
    """Replace embedded parts by text, before hidden parts are removed: formulas are often hidden copies."""
    # One search for all of them: most pages have none, and each selection walks the whole page.
    if root.find(_EMBEDDED_TAGS) is None:
        return
    _write_formulas(root)
    for frame in select_elements(root, "iframe[srcdoc]", limit=_MAX_EMBEDDED_PAGES):
        inner = BeautifulSoup(str(frame["srcdoc"]), "lxml")
        frame.name, frame.attrs = "div", {}
        frame.clear()
        if inner.body is not None:
            frame.extend(list(inner.body.contents))
    for shadow in select_elements(root, "template[shadowrootmode], template[shadowroot]"):
        shadow.name, shadow.attrs = "div", {}
    for drawing in select_elements(root, "svg"):
        if not drawing.decomposed:
            _write_drawing(drawing)
    for kind, name in (("video", "video"), ("audio", "sound recording")):
        for element in select_elements(root, kind):
            omissions.add(name)
            said = str(element.get("aria-label") or element.get("title") or "")
            element.replace_with(NavigableString(f" {said} "))
    for element in select_elements(root, "object"):
        element.unwrap()  # shown if the object cannot be


def _write_formulas(root: Tag) -> None:
    for script in select_elements(root, 'script[type^="math/tex"]'):
        parent = script.parent
        for copy in parent.select(_MATHJAX_COPIES) if parent is not None else ():
            if not copy.decomposed:
                copy.decompose()
        _write_formula(script, script.get_text().strip(), block="mode=display" in str(script["type"]))
    for picture in select_elements(root, "img[alt]"):
        if tex := parse_image_tex(str(picture["alt"])):
            around = picture.find_parent(class_="mwe-math-element")
            if around is not None and around.find("math") is not None:
                picture.decompose()
            else:
                _write_formula(picture, tex, block=False)
    for element in select_elements(root, ".mwe-math-mathml-a11y[style]"):
        del element["style"]  # hidden, since a picture of it is beside it
    for element in select_elements(root, "math"):
        if not element.decomposed:
            container = element.find_parent(class_="katex-display") or element.find_parent("mjx-container")
            block = element.get("display") == "block" or (container is not None and container.name != "mjx-container")
            _write_formula(element, convert_mathml(element), block=block)


def _write_formula(element: Tag, latex: str, *, block: bool) -> None:
    if not latex:
        element.decompose()
        return
    formula = Tag(name="div" if block else "span")
    formula.append(NavigableString(f"${latex}$"))
    element.replace_with(formula)


def _write_drawing(drawing: Tag) -> None:
    texts = [" ".join(one.get_text(" ").split()) for one in drawing.select("text, foreignObject, foreignobject")]
    about = drawing.find("title", recursive=False)
    title = about.get_text(" ", strip=True) if about is not None else str(drawing.get("aria-label") or "")
    is_icon = not any(texts) and (drawing.find_parent(["a", "button"]) is not None or drawing.get("role") != "img")
    if is_icon or drawing.get("aria-hidden") == "true":
        drawing.decompose()
        return
    described = drawing.find("desc", recursive=False)
    texts[:0] = [title, " ".join(described.get_text(" ").split()) if described is not None else ""]
    drawing.replace_with(_make_paragraph("; ".join(filter(None, texts))))


def _make_paragraph(text: str) -> Tag:
    paragraph = Tag(name="div")
    paragraph.append(NavigableString(text))
    return paragraph
