"""JSON that somebody sent: read, or refused in words whatever is wrong with it."""

from __future__ import annotations

import json
from typing import Any

from argot.errors import InvalidInput


def parse_json(text: str | bytes, place: str) -> Any:
    """Return the value that a JSON text holds.

    Args:
        place: the file and line, or what was sent, for the message.

    Raises:
        InvalidInput: it is no JSON, is nested too deeply, or has a number of thousands of digits.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{place}: not JSON ({error.msg}).") from error
    except RecursionError as error:
        raise InvalidInput(f"{place}: JSON that is nested too deeply. Flatten it.") from error
    except ValueError as error:  # numbers of thousands of digits, bytes that are no UTF-8
        raise InvalidInput(f"{place}: JSON that cannot be read ({error}).") from error
