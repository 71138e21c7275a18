"""The words and signs of SystemRDL after the directives of its Verilog preprocessor (SystemRDL 2.0, section 16)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from argot.corpus.read_limits import ReadLimits

TOKENS_PER_SECOND = 100_000
_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?(?:\*/|\Z))|(?P<string>"(?:[^"\\]|\\.)*")"""
    r"""|(?P<define>`define\b[ \t]*(?P<macro>\w*)(?P<body>(?:\\\r?\n|"(?:[^"\\\n]|\\.)*"|[^\n])*))"""
    r"""|(?P<include>`include\b[ \t]*(?P<file>[^\n]*))"""
    r"""|(?P<directive>`(?:ifn?def|elsif|undef)\b[ \t]*\w*|`(?:else|endif|resetall|celldefine|endcelldefine)\b"""
    r"""|`(?:line|timescale|pragma|default_nettype|begin_keywords|end_keywords)\b[^\n]*)"""
    r"""|(?P<word>`?[A-Za-z_\\][\w]*|\d*'[bodhBODH][\w]+|\d[\w]*)|(?P<sign>->|\+=|%=|::|.)""",
    re.DOTALL,
)
_COMMENT = re.compile(r"""("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?(?:\*/|\Z)""", re.DOTALL)


@dataclass(slots=True)
class TokenReader:
    """Reads the tokens of a file, each with the offset at which it begins, and replaces the macros without parameters
    that the file defines. Other macros stay as they are written; the parts under every condition are read.
    """

    name: str
    limits: ReadLimits
    tokens: list[tuple[str, int]] = field(default_factory=list)
    included: list[str] = field(default_factory=list)
    """Files that it includes, as written."""
    _macros: dict[str, str] = field(default_factory=dict)
    _steps: int = 0

    def read(self, text: str, start: int | None = None, inside: frozenset[str] = frozenset()) -> None:
        """Add the tokens of a text. `start`, `inside`: where the macros are used whose text this is, and their names.

        Raises:
            UnreadableDocument: it has too many tokens, or its macros stand for too many.
        """
        for found in _TOKEN.finditer(text):
            self._steps += 1
            self.limits.check_elements(self._steps, TOKENS_PER_SECOND, "SystemRDL", self.name)
            token, at = found[0], found.start() if start is None else start
            macro = token[1:] if token[0] == "`" else ""
            if found["define"] is not None:
                self._define(found["macro"], found["body"])
            elif found["include"] is not None:
                self.included.append(found["file"].strip().strip('"<>'))
            elif macro in self._macros and macro not in inside:
                self.read(self._macros[macro], at, inside | {macro})
            elif found["blank"] is None and found["directive"] is None:
                self.tokens.append((token, at))

    def _define(self, name: str, body: str) -> None:
        # A bracket that follows the name at once holds parameters.
        if not body.startswith("("):
            self._macros[name] = _COMMENT.sub(lambda one: one[1] or " ", body.replace("\\\n", "\n"))
