"""Characters of symbol fonts in Word files, such as a tick of Wingdings, as characters that can be searched."""

from __future__ import annotations

import re
from typing import Any

from argot.corpus.readers.docx_form_fields import OPEN, TICKED
from argot.corpus.readers.docx_package import W
from argot.corpus.readers.omissions import Omissions

UNREAD_SYMBOL = "[symbol]"
# By the glyphs of the fonts, not the names of their characters elsewhere: a box is a check box.
_BOX_SYMBOLS = {
    **dict.fromkeys("☐□🞎🞏🗆⬜❏❑❒", OPEN),
    **dict.fromkeys("☑☒🗹🗷🗵⌧⮽🗸🗴", TICKED),
}
_TYPED_BOXES = re.compile("[☐☑☒]")
_PRIVATE_CHARACTER = re.compile("[\uf000-\uf0ff]")
_FIRST_PRIVATE_CODE = 0xF000
_SYMBOL_FONTS = ("Symbol", "Wingdings", "Wingdings 2", "Wingdings 3", "Webdings")


def write_symbol_characters(root: Any, omissions: Omissions) -> None:
    """Replace symbols by characters, check boxes by `[x]` and `[ ]`; those of unknown fonts are counted."""
    for symbol in list(root.iter(f"{W}sym")):
        code = _parse_code(str(symbol.get(f"{W}char") or ""))
        text = symbol.makeelement(f"{W}t")
        text.text = name_symbol(str(symbol.get(f"{W}font") or ""), code, omissions)
        text.tail = symbol.tail
        symbol.getparent().replace(symbol, text)
    for text in root.iter(f"{W}t"):
        if text.text and not text.text.isascii():
            text.text = _write_characters(text, omissions)


def _write_characters(text: Any, omissions: Omissions) -> str:
    boxed = _TYPED_BOXES.sub(lambda found: _BOX_SYMBOLS[found.group()], text.text)
    if not _PRIVATE_CHARACTER.search(boxed):
        return str(boxed)
    fonts = text.getparent().find(f"{W}rPr/{W}rFonts")
    names = [str(fonts.get(f"{W}{name}") or "") for name in ("ascii", "hAnsi")] if fonts is not None else []
    font = next((name for name in names if name), "Symbol")
    return _PRIVATE_CHARACTER.sub(lambda found: name_symbol(font, ord(found.group()), omissions), boxed)


def name_symbol(font: str, code: int, omissions: Omissions) -> str:
    """Return the character that a font shows for a code; one that is not known is counted."""
    from mammoth.docx.dingbats import dingbats

    low = code - _FIRST_PRIVATE_CODE if _FIRST_PRIVATE_CODE <= code < _FIRST_PRIVATE_CODE + 0x100 else code
    known = dingbats.get((font, low))
    if known is not None:
        return _BOX_SYMBOLS.get(chr(known), chr(known)) if font != "Symbol" else chr(known)
    # Outside symbol fonts a code is Unicode.
    if font not in _SYMBOL_FONTS and code != low and 0x20 < low < 0x7F:
        return chr(low)
    if 0x20 <= code < 0xD800 and font not in _SYMBOL_FONTS:
        return chr(code)
    omissions.add("symbol")
    return UNREAD_SYMBOL


def _parse_code(char: str) -> int:
    return int(char, 16) if re.fullmatch("[0-9A-Fa-f]{1,5}", char) else 0
