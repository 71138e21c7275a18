"""Bodies of SCIM requests: the limits of their JSON, and the deviations of some providers."""

from __future__ import annotations

import json
from typing import Any

from argot.errors import InvalidInput

MAX_OPERATIONS = 1000
"""Operations of one PATCH. Each reads all values of its attribute; a list of members is one operation."""


def read_body(body: bytes) -> Any:
    """Read a JSON body.

    Raises:
        ValueError, RecursionError: it is not JSON, is nested too deeply, or has text that no database can store.
    """
    sent = json.loads(body)
    # JSON may hold lone surrogates, which UTF-8 cannot encode; PostgreSQL stores no zero characters.
    text = json.dumps(sent, ensure_ascii=False)
    text.encode()
    if "\\u0000" in text.replace("\\\\", ""):
        raise ValueError("a text holds a zero character")
    return sent


def convert_booleans(sent: Any) -> Any:
    """Return the body of a PATCH with booleans in the places where Microsoft Entra writes text ("False").

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
