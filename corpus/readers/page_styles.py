"""Style rules of a page, as far as a drawing in it needs them: it is drawn apart from its page.

The program that draws matches the rules itself. It does not have the elements around the drawing, so what a selector
says of them is compared here. It knows neither conditions such as `@media` nor variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bs4 import Tag

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->|<!\[CDATA\[|\]\]>", re.DOTALL)
FOREIGN_ADDRESS = re.compile(r"url\(\s*[\"']?(?!#)|@import|\\", re.IGNORECASE)
"""What may name another file; a backslash may write it in other characters."""
_SELECTOR = re.compile(r"[\w.#*>\s-]{1,200}\Z")
"""Names, classes and ids, for elements within and beside each other. States such as `:hover` are not drawn."""
_STEP = re.compile(r"[^\s>]+")
_KEY = re.compile(r"[.#]?[\w-]+")
_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,([^()]*(?:\([^()]*\)[^()]*)?))?\)")
_BY_SCHEME = re.compile(r"light-dark\(\s*([^(),]*(?:\([^()]*\))?)\s*,[^()]*(?:\([^()]*\))?\s*\)", re.IGNORECASE)
BY_PAGE = re.compile(r"\bvar\(|light-dark\(", re.IGNORECASE)
"""A value that depends on the page around a drawing."""
_MAX_VARIABLE_DEPTH = 4
_MAX_VALUE_CHARS = 500
_MAX_SHEETS_CHARS = 2_000_000
_MAX_DRAWING_RULES = 500
_MAX_SELECTIONS = 1_000
"""Drawings of a page that get its styles: most of so many are icons."""
_INHERITED = frozenset(
    {"color", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-opacity",
     "font-size", "font-family", "font-weight", "font-style", "text-anchor"}
)  # fmt: skip
"""Properties of the elements around a drawing that apply to it as well."""

Declarations = dict[str, str]
Rule = tuple[str, Declarations]


def list_rules(sheet: str) -> Iterator[Rule]:
    """Yield the rules of a style sheet that apply without a condition, in their order, one for each selector; without
    declarations that name another file.
    """
    text = _COMMENT.sub(" ", sheet)
    opened: list[str] = []
    at = conditions = 0
    for mark in re.finditer("[{}]", text):
        piece, at = text[at : mark.start()], mark.end()
        if mark[0] == "{":
            opened.append(piece.rpartition(";")[2].strip())
            conditions += opened[-1].startswith("@")
        elif opened:
            selectors = opened.pop()
            if not conditions and (found := _read_declarations(piece)):
                yield from ((one.strip(), found) for one in selectors.split(","))
            conditions -= selectors.startswith("@")


def write_rules(rules: Iterable[Rule]) -> str:
    return "\n".join(
        f"{selector} {{ {'; '.join(f'{name}: {value}' for name, value in declarations.items())} }}"
        for selector, declarations in rules
    )


def _read_declarations(text: str) -> Declarations:
    pairs = (one.partition(":") for one in text.split(";"))
    return {name.strip(): value.strip() for name, colon, value in pairs if colon and not FOREIGN_ADDRESS.search(value)}


@dataclass(frozen=True, slots=True)
class DrawingStyles:
    """The styles of one drawing. `sheet`: the rules for its elements. `own`: what rules say of the drawing itself;
    `inherited`: what the elements around it hand down to it.
    """

    sheet: str = ""
    own: Declarations = field(default_factory=dict)
    inherited: Declarations = field(default_factory=dict)


class PageStyles:
    """The style rules of a page."""

    def __init__(self, sheets: Iterable[str]) -> None:
        self._rules: list[tuple[list[frozenset[str]], str, Declarations]] = []
        self._places: dict[str, list[int]] = {}
        self._variables: Declarations = {}
        self._selections = 0
        for selector, declarations in list_rules("\n".join(sheets)[:_MAX_SHEETS_CHARS]):
            for name, value in declarations.items():
                if name.startswith("--"):
                    # The first one: later ones are for dark pages and other themes.
                    self._variables.setdefault(name, value)
            if _SELECTOR.match(selector) and (steps := _STEP.findall(selector)):
                keys = [frozenset(_KEY.findall(step)) for step in steps]
                # Few elements have a class or an id, which begin with a sign.
                self._places.setdefault(min(keys[-1], default=""), []).append(len(self._rules))
                self._rules.append((keys, selector, declarations))

    def select(self, drawing: Tag) -> DrawingStyles:
        """Return the styles that apply to a drawing and its elements. Variables in its attributes are resolved."""
        elements = [drawing, *drawing.find_all(True)]
        for element in elements:
            for name, value in element.attrs.items():
                if isinstance(value, str) and BY_PAGE.search(value):
                    element[name] = resolve_values(value, self._variables)
        self._selections += 1
        if not self._rules or self._selections > _MAX_SELECTIONS:
            return DrawingStyles()
        around = [_list_keys(one) for one in reversed(list(drawing.parents))]
        own_keys = _list_keys(drawing)
        drawn = frozenset[str]().union(*map(_list_keys, elements))
        styles = DrawingStyles()
        sheet: list[Rule] = []
        for place in self._list_places(drawn.union(*around)):
            steps, selector, unresolved = self._rules[place]
            outer, declarations = _count_outer(steps, around), self._resolve_all(unresolved)
            if outer == len(steps):
                styles.inherited.update((name, value) for name, value in declarations.items() if name in _INHERITED)
            if not steps[-1] <= drawn:
                continue
            rest = list(_STEP.finditer(selector))[min(outer, len(steps) - 1)]
            sheet.append((selector[rest.start() :], declarations))
            if steps[-1] <= own_keys and outer >= len(steps) - 1:
                styles.own.update(declarations)
        return replace(styles, sheet=write_rules(sheet))

    def _list_places(self, keys: frozenset[str]) -> list[int]:
        """Return the places of the rules that may apply to elements with these names, classes and ids, in order; of
        many, the last, which override others.
        """
        return sorted(place for key in ("", *keys) for place in self._places.get(key, ()))[-_MAX_DRAWING_RULES:]

    def _resolve_all(self, declarations: Declarations) -> Declarations:
        return {
            name: _resolve(value, self._variables) for name, value in declarations.items() if not name.startswith("--")
        }


def _list_keys(element: Tag) -> frozenset[str]:
    """Return the name, classes and id of an element, as selectors write them."""
    classes = element.get("class") or ""
    marks = [f".{one}" for one in (classes.split() if isinstance(classes, str) else classes)]
    return frozenset([element.name, *marks, *([f"#{element['id']}"] if element.get("id") else [])])


def _count_outer(steps: Sequence[frozenset[str]], around: Sequence[frozenset[str]]) -> int:
    """Return how many steps of a selector the elements around a drawing fulfil, from the outermost."""
    count = 0
    for keys in around:
        if count < len(steps) and steps[count] <= keys:
            count += 1
    return count


def resolve_values(text: str, variables: Declarations) -> str:
    """Return the value of an attribute, or declarations between semicolons, with the values of the variables in it and
    with the colours of a light page.
    """
    return ";".join(_resolve(one, variables) for one in text.split(";"))


def _resolve(value: str, variables: Declarations) -> str:
    for _ in range(_MAX_VARIABLE_DEPTH):
        if len(value) > _MAX_VALUE_CHARS:
            return ""
        if "var(" not in value:
            break
        value = _VARIABLE.sub(lambda found: variables.get(found[1], (found[2] or "").strip()), value)
    return _BY_SCHEME.sub(r"\1", value)
