"""Bodies of SCIM requests: what can be read at all, and what providers write in their own ways."""

from __future__ import annotations

import json
from typing import Any

from argot.errors import InvalidInput

MAX_OPERATIONS = 1000
"""Of one PATCH. Each reads all values of its attribute; a list of members is one operation."""


def read_body(body: bytes) -> Any:
    """
    Raises:
        ValueError, RecursionError: it is no JSON, nested too deeply, or has text that no database takes.
    """
    sent = json.loads(body)
    # JSON may escape halves of a character, which no UTF-8 has; PostgreSQL takes no zeros.
    text = json.dumps(sent, ensure_ascii=False)
    text.encode()
    if "\\u0000" in text.replace("\\\\", ""):
        raise ValueError("zero in a text")
    return sent


def convert_booleans(sent: Any) -> Any:
    """The body of a PATCH with truth in the places where Microsoft Entra writes it as text ("False").

    Raises:
        InvalidInput: there are too many operations.
    """
    operations = sent.get("Operations") if isinstance(sent, dict) else None
    if isinstance(operations, list) and len(operations) > MAX_OPERATIONS:
        raise InvalidInput(
            f"A PATCH may have {MAX_OPERATIONS:,} operations. Send the values of one attribute as a list."
        )
    for one in operations if isinstance(operations, list) else ():
        if not isinstance(one, dict):
            continue
        holder, name = (value, "active") if isinstance(value := one.get("value"), dict) else (one, "value")
        if holder is one and one.get("path") != "active":
            continue
        said = holder.get(name)
        if isinstance(said, str) and said.casefold() in ("true", "false"):
            holder[name] = said.casefold() == "true"
    return sent
