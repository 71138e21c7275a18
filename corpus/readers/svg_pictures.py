"""Vector pictures (SVG) drawn as PNG, without anything that lies outside the file."""

from __future__ import annotations

import math
import re
import subprocess
import sys

from lxml import etree  # type: ignore[import-untyped]
from lxml.etree import _Element  # type: ignore[import-untyped]

from argot.corpus.readers.page_styles import BY_PAGE, FOREIGN_ADDRESS, list_rules, resolve_values, write_rules
from argot.corpus.readers.xml_text import parse_safely

_MAX_BYTES = 3_000_000
_DRAWN_WIDTH_PIXELS = 1_200
_MAX_SIDES_RATIO = 16
_LOADED = ("image", "feImage", "foreignObject", "script")
"""Elements that name other files, or may."""
_OWN_PICTURE = re.compile(r"\s*data:image/(?:png|jpe?g|gif|webp);base64,", re.IGNORECASE)
"""Begins the address of a picture in the file itself, such as a map of heat. A drawing could name others again."""
_MAX_SECONDS = 2
"""Processor time of a drawing. References, clips, masks, markers and filters of a small file can take any time."""
_MAX_WAIT_SECONDS = 20
_DRAWING = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({_MAX_SECONDS}, {_MAX_SECONDS}))
resource.setrlimit(resource.RLIMIT_AS, ({1 << 30}, {1 << 30}))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import resvg_py
svg = sys.stdin.buffer.read().decode()
sys.stdout.buffer.write(bytes(resvg_py.svg_to_bytes(svg_string=svg, background="white")))
"""
_NUMBER = re.compile(r"\s*(\d{1,6}(?:\.\d{1,6})?)(?:px)?\s*\Z")


def draw_svg(data: bytes) -> bytes | None:
    """Return an SVG as PNG; None if it is none, or exceeds the bounds."""
    if len(data) > _MAX_BYTES or b"<svg" not in data[:4_000]:
        return None
    root = parse_safely(data)
    if root is None or etree.QName(root).localname != "svg" or (ratio := _read_ratio(root)) is None:
        return None
    _remove_foreign(root)
    if not root.get("viewBox"):
        root.set("viewBox", f"0 0 {root.get('width')} {root.get('height')}")
    width = round(_DRAWN_WIDTH_PIXELS * min(ratio, 1.0))
    # With one of them alone, resvg refuses the file.
    root.set("width", str(width))
    root.set("height", str(round(width / ratio)))
    return _draw_apart(etree.tostring(root))


def _draw_apart(svg: bytes) -> bytes | None:
    """Return an SVG as PNG, drawn in a process of its own: where that takes too long or crashes, only the picture is
    lost, and None returned.
    """
    command = [sys.executable, "-I", "-c", _DRAWING]
    try:
        done = subprocess.run(  # noqa: S603  (no shell; the file is data)
            command, input=svg, capture_output=True, timeout=_MAX_WAIT_SECONDS, check=False
        )
    except (subprocess.TimeoutExpired, OSError):
        return None
    return done.stdout if done.returncode == 0 and done.stdout else None


def _read_ratio(root: _Element) -> float | None:
    """Return width by height, as the file says; None if it does not, or is a rule."""
    sides = [found[1] for name in ("width", "height") if (found := _NUMBER.match(root.get(name, "")))]
    if len(sides) != len(("width", "height")):
        sides = root.get("viewBox", "").replace(",", " ").split()[2:]
    try:
        width, height = map(float, sides)
    except ValueError:
        return None
    if (
        not math.isfinite(width * height)
        or min(width, height) <= 0
        or max(width, height) > _MAX_SIDES_RATIO * min(width, height)
    ):
        return None
    return width / height


def _remove_foreign(root: _Element) -> None:
    """Remove references to other files: nothing is fetched, and no file of this machine is read."""
    for element in list(root.iter(etree.Element)):
        kind, parent = etree.QName(element).localname, element.getparent()
        has_own_picture = kind == "image" and any(map(_OWN_PICTURE.match, element.attrib.values()))
        if kind in _LOADED and parent is not None and not has_own_picture:
            parent.remove(element)
            continue
        if kind == "style":
            element.text = write_rules(list_rules(element.text or ""))
        for name, value in list(element.attrib.items()):
            is_own = value.startswith("#") or (has_own_picture and _OWN_PICTURE.match(value))
            if etree.QName(name).localname in ("href", "base") and not is_own:
                del element.attrib[name]
                continue
            resolved = resolve_values(value, {}) if BY_PAGE.search(value) else value
            if kept := ";".join(one for one in resolved.split(";") if not FOREIGN_ADDRESS.search(one)):
                element.set(name, kept)
            else:
                del element.attrib[name]
