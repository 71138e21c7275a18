"""API calls in answers, compared with the right call as syntax trees (APIBench: Patil et al. 2023).

A call is right if it calls the same function and its arguments include every text among the right call's arguments, in
any order and under any names. Other arguments (pretrained=True) do not count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_CALL = re.compile(r"[A-Za-z_][\w.]*\s*\(")
_MAX_CALL_CHARS = 2000


def has_call(answer: str, call: str) -> bool:
    """Return true if the answer holds the call; false also if `call` is not a call."""
    wanted = [_split_call(node) for node in _find_calls(call)]
    if not wanted:
        return False
    function, texts = wanted[0]
    return any(name == function and texts <= said for name, said in map(_split_call, _find_calls(answer)))


def _find_calls(text: str) -> Iterator[ast.Call]:
    for begin in _CALL.finditer(text):
        expression = _cut_balanced(text, begin.start(), begin.end() - 1)
        try:
            parsed = ast.parse(expression, mode="eval").body
        except (SyntaxError, ValueError):
            continue  # prose with a bracket after a word
        if isinstance(parsed, ast.Call):
            yield parsed


def _cut_balanced(text: str, start: int, opened: int) -> str:
    depth = 0
    for place in range(opened, min(len(text), start + _MAX_CALL_CHARS)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return text[start : place + 1]
    return ""


def _split_call(call: ast.Call) -> tuple[str, frozenset[str]]:
    """Return the name of the function and the texts among its arguments."""
    given = [*call.args, *(one.value for one in call.keywords)]
    texts = frozenset(one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return ast.unparse(call.func), texts
