"""Whether an answer makes the API call that was asked for, compared as syntax trees (APIBench: Patil et al. 2023).

Right is a call of the same function whose arguments hold every text of the true call's, in whatever order and under
whatever names; other arguments (pretrained=True) do not count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_CALL = re.compile(r"[A-Za-z_][\w.]*\s*\(")
_LONGEST_CALL = 2000


def makes_call(answer: str, call: str) -> bool:
    """Whether the answer holds the call; False also where `call` is none."""
    wanted = [_parts(node) for node in _calls(call)]
    if not wanted:
        return False
    function, texts = wanted[0]
    return any(name == function and texts <= said for name, said in map(_parts, _calls(answer)))


def _calls(text: str) -> Iterator[ast.Call]:
    for begin in _CALL.finditer(text):
        expression = _balanced(text, begin.start(), begin.end() - 1)
        try:
            parsed = ast.parse(expression, mode="eval").body
        except (SyntaxError, ValueError):
            continue  # prose with a bracket behind a word
        if isinstance(parsed, ast.Call):
            yield parsed


def _balanced(text: str, start: int, opened: int) -> str:
    depth = 0
    for place in range(opened, min(len(text), start + _LONGEST_CALL)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return text[start : place + 1]
    return ""


def _parts(call: ast.Call) -> tuple[str, frozenset[str]]:
    """The function, and the texts among its arguments."""
    given = [*call.args, *(one.value for one in call.keywords)]
    texts = frozenset(one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return ast.unparse(call.func), texts
