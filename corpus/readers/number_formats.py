"""How a program shows a number: as a percentage, with the unit or currency that stands in its format, or with zeros."""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]|(?P<sign>[$€£¥])'
    r"|_(?:.)|(?P<space>\*.| )|\[[^\]]*\]|(?P<digits>[#0?][#0?.,]*)|(?P<end>;)|.",
    re.DOTALL,
)
_GENERAL = "General"


def shown_number(value: float, number_format: str) -> str:
    """`value` with all its digits, as nothing that is there may be rounded away, and what the format says around it."""
    # Stored as 0.12 but shown as 12%, which is what people will ask about.
    if "%" in number_format:
        return f"{value * 100:.10g}%"
    plain = str(value) if isinstance(value, int) else f"{value:.12g}"
    if not number_format or number_format == _GENERAL:
        return plain
    before, digits, after = _around(number_format)
    # With a comma behind its digits a format shows thousands or millions, and its unit is that of these.
    if digits.endswith(","):
        return plain
    if isinstance(value, int) and digits and not digits.strip("0"):
        plain = plain.zfill(len(digits))
    return f"{before}{plain}{after}"


@lru_cache(256)
def _around(number_format: str) -> tuple[str, str, str]:
    """What stands before the digits of a positive number, their places, and what stands behind."""
    before, digits, after = "", "", ""
    for token in _TOKEN.finditer(number_format):
        if token["end"]:
            break
        if token["digits"]:
            # Between two groups of digits nothing is a unit, as in 000-000.
            digits, after = digits + (token["digits"] if not digits else "-"), ""
            continue
        text = token["quoted"] or token["escaped"] or token["currency"] or token["sign"] or (token["space"] and " ")
        if digits:
            after += text or ""
        else:
            before += text or ""
    return (before.lstrip(), digits, after.rstrip()) if digits else ("", "", "")
