"""Embedded parts of a page as text: formulas, drawings, inner pages. Sound and films are counted as not read.

Pictures that are in the file itself are kept, with a mark where they stand; none is fetched.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString

from argot.corpus.readers.html_drawings import DRAWN_WORDS, write_drawing
from argot.corpus.readers.html_selection import select_elements
from argot.corpus.readers.mathml import convert_mathml, parse_image_tex
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.page_styles import PageStyles
from argot.corpus.readers.pictures import get_shelf, shelve_picture

LoadPicture = Callable[[str], bytes | None]
"""Returns the bytes of a picture by its address in the page; None if they are not in the file."""
_DATA_ADDRESS = re.compile(r"\s*data:image/[\w.+-]{1,40}(?:;[\w=.-]{1,40})*;base64,", re.IGNORECASE)
_PICTURE_NAME = re.compile(r"^data:image/[\w.+-]{1,40};name=([\w.-]{1,40});")
_FURNITURE_NAME = re.compile(
    r"(?:^|[^a-z])(?:logo|icon|avatar|badge|spacer|emoji|favicon|bullet|banner)s?(?:[^a-z]|$)", re.IGNORECASE
)
_LENGTH = re.compile(r"(?:^|;)\s*(?:max-)?(width|height)\s*:\s*([\d.]{1,8})(px|pt|in|cm|mm|em)", re.IGNORECASE)
_POINTS_PER_UNIT = {"px": 0.75, "pt": 1.0, "in": 72.0, "cm": 28.35, "mm": 2.835, "em": 12.0}
_MAX_EMBEDDED_PAGES = 50
_MEDIA = ("all", "screen")
_LATE_ADDRESSES = ("data-src", "data-original", "data-lazy-src")
"""Where pages name a picture that a script loads once it is looked at."""
_EMBEDDED_TAGS = ["script", "math", "img", "iframe", "template", "svg", "video", "audio", "object"]
_MATHJAX_COPIES = (
    ".MathJax, .MathJax_Preview, .MathJax_Display, .MathJax_SVG, .MathJax_SVG_Display, .MathJax_CHTML, .mjx-chtml"
)


def write_media(root: Tag, omissions: Omissions, load: LoadPicture | None = None) -> None:
    """Replace embedded parts by text, before hidden parts are removed: formulas are often hidden copies.

    Args:
        load: returns the bytes of a style sheet by its address in the page, if it is in the file.
    """
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
    _write_drawings(root, load)
    for kind, name in (("video", "video"), ("audio", "sound recording")):
        for element in select_elements(root, kind):
            omissions.add(name)
            label = str(element.get("aria-label") or element.get("title") or "")
            element.replace_with(NavigableString(f" {label} "))
    for element in select_elements(root, "object"):
        _write_object(element, load or decode_data_address)


def _write_object(element: Tag, load: LoadPicture) -> None:
    """Replace an object by its picture, or by its fallback content."""
    is_picture = str(element.get("type") or "").startswith("image/") or _DATA_ADDRESS.match(str(element.get("data")))
    if not is_picture or load(str(element.get("data"))) is None:
        element.unwrap()
        return
    picture = Tag(name="img")
    picture.attrs = {name: element[name] for name in ("id", "class", "width", "height", "style") if element.get(name)}
    picture["src"] = element["data"]
    picture["alt"] = " ".join(element.get_text(" ").split())
    element.replace_with(picture)


def _write_drawings(root: Tag, load: LoadPicture | None) -> None:
    # One within another is part of that: read again, thousands within each other would take minutes.
    drawings = [one for one in select_elements(root, "svg") if one.find_parent("svg") is None]
    if not drawings:
        return
    styles = PageStyles(_list_sheets([root, *root.parents][-1], load))
    # All of them before the first is replaced: rules are about the page as it is.
    for drawing, style in [(one, styles.select(one)) for one in drawings]:
        write_drawing(drawing, style)


def _list_sheets(page: Tag, load: LoadPicture | None) -> Iterator[str]:
    """Yield the style sheets of a page; those of a drawing stay in it."""
    for one in select_elements(page, "style, link[rel~=stylesheet][href]"):
        if one.find_parent("svg") is not None or str(one.get("media") or "all").lower() not in _MEDIA:
            continue
        if one.name == "style":
            yield one.get_text()
        elif load is not None and (data := load(str(one["href"]))) is not None:
            yield data.decode(errors="replace")


def decode_data_address(address: str) -> bytes | None:
    """Return the bytes in an address such as "data:image/png;base64,..."; None for any other."""
    if (found := _DATA_ADDRESS.match(address)) is None:
        return None
    try:
        return base64.b64decode("".join(address[found.end() :].split()))
    except (binascii.Error, ValueError):
        return None


def shelve_pictures(root: Tag, omissions: Omissions, load: LoadPicture = decode_data_address) -> None:
    """Keep the pictures of a page that are in the file, with a mark behind each; count those without any words.

    Hidden ones must be removed before.
    """
    if get_shelf() is None:
        return
    for picture in select_elements(root, "img"):
        if picture.decomposed or not _settle_address(picture, load):
            continue
        if not _is_furniture(picture):
            _shelve_picture(picture, omissions, load)


def _settle_address(picture: Tag, load: LoadPicture) -> bool:
    """Give a picture the address at which the file has it, if a script or the browser chooses it; return whether it has
    any.
    """
    named = [str(picture.get(name) or "") for name in _LATE_ADDRESSES]
    # Of several sizes, each with its width behind it.
    sizes = (str(picture.get(name) or "").split() for name in ("data-srcset", "srcset"))
    named += [size[0].rstrip(",") for size in sizes if size]
    late = next((one for one in filter(None, named) if load(one) is not None), "")
    # A picture of a pixel stands in the place of one that is loaded late.
    if late and (not picture.get("src") or any(map(picture.get, _LATE_ADDRESSES)) or load(str(picture["src"])) is None):
        picture["src"] = late
    return bool(picture.get("src"))


def _shelve_picture(picture: Tag, omissions: Omissions, load: LoadPicture) -> None:
    words = picture.attrs.pop(DRAWN_WORDS, None)
    address = str(picture["src"])
    if (data := load(address) if words is None else decode_data_address(address)) is None:
        return
    figure = picture.find_parent("figure")
    caption = figure.find("figcaption") if figure is not None else None
    alternative = " ".join(str(picture.get("alt") or picture.get("aria-label") or "").split())
    mark, has_words = shelve_picture(
        data,
        alternative=alternative,
        caption=" ".join(caption.get_text(" ").split()) if caption is not None else "",
        shown=_read_shown_size(picture),
        words=str(words) if words else None,
    )
    omissions.add("picture", bool(mark) and not has_words and not alternative)
    if mark and not picture.get("alt") and alternative and not _is_said_beside(picture, alternative):
        mark = f" {alternative} {mark}"
    # Behind the link around it: a link without words is left out.
    (picture.find_parent("a") or picture).insert_after(NavigableString(mark))


def _is_said_beside(picture: Tag, alternative: str) -> bool:
    """Return whether the text in front of a picture begins with its alternative text, as that of a drawing does."""
    before = picture.previous_sibling
    return isinstance(before, NavigableString) and str(before).startswith(alternative)


def _is_furniture(picture: Tag) -> bool:
    """Return whether a picture is in the page's header or footer, or is called a logo or an icon."""
    if picture.find_parent(["header", "footer", "nav"]) is not None:
        return True
    names = [str(picture.get(name) or "")[:300] for name in ("id", "class", "alt")]
    source = str(picture["src"])[:300]
    names.append(source if not source.startswith("data:") else "".join(_PICTURE_NAME.findall(source)))
    return any(map(is_name_of_furniture, names)) and picture.find_parent("figure") is None


def is_name_of_furniture(name: str) -> bool:
    """Return whether a picture of this name, or with this alternative text, is a logo, an icon or the like."""
    return _FURNITURE_NAME.search(name) is not None


def _read_shown_size(picture: Tag) -> tuple[float, float]:
    """Return width and height in points, as far as the page says; one that is missing counts like the other."""
    sides = {name: str(picture.get(name) or "").removesuffix("px") for name in ("width", "height")}
    points = {name: float(side) * 0.75 for name, side in sides.items() if side.isascii() and side.isdigit()}
    for name, number, unit in _LENGTH.findall(str(picture.get("style") or "")):
        if number.count(".") <= 1 and number != ".":
            points[name.lower()] = float(number) * _POINTS_PER_UNIT[unit.lower()]
    known = next(iter(points.values()), 0.0)
    return points.get("width", known), points.get("height", known)


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
