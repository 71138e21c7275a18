"""The licences of Argot and of the installed packages that it needs, as the packages state them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata

MAX_LICENCE_CHARS = 100
"""Some packages put the whole text of their licence into the field for its name."""
NOT_STATED = "not stated"
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


@dataclass(frozen=True, slots=True)
class InstalledPackage:
    name: str
    version: str
    licence: str


@cache
def list_licences() -> tuple[InstalledPackage, ...]:
    """List Argot, and then by name the installed packages that it needs directly or indirectly, with its extras."""
    found: dict[str, InstalledPackage] = {}
    # For each package the extras that others ask for. None: all of them, as far as they are installed.
    seen: set[tuple[str, frozenset[str] | None]] = set()
    waiting: list[tuple[str, frozenset[str] | None]] = [("argot", None)]
    while waiting:
        wanted = waiting.pop()
        if wanted in seen:
            continue
        seen.add(wanted)
        try:
            package = metadata.distribution(wanted[0])
        except metadata.PackageNotFoundError:  # of another system, or of an extra that is not installed
            continue
        found[wanted[0]] = InstalledPackage(package.metadata["Name"], package.version, _read_licence(package))
        waiting += _list_needs(package.requires or [], wanted[1])
    own = found.pop("argot", None)
    others = sorted(found.values(), key=lambda one: one.name.lower())
    return (*([own] if own else []), *others)


def _list_needs(requirements: list[str], extras: frozenset[str] | None) -> Iterator[tuple[str, frozenset[str] | None]]:
    for requirement in requirements:
        needed, extra = _REQUIREMENT.match(requirement), _EXTRA.search(requirement)
        if needed and (extra is None or extras is None or extra[1] in extras):
            asked = frozenset(one.strip() for one in (needed[2] or "").split(",") if one.strip())
            yield re.sub(r"[-_.]+", "-", needed[1]).lower(), asked


def _read_licence(package: metadata.Distribution) -> str:
    """Return the licence: its expression (PEP 639), else its classifiers, else the first line of the older field."""
    if expression := _read_field(package, "License-Expression"):
        return expression
    classifiers = package.metadata.get_all("Classifier") or []
    kinds = [str(one).rpartition(" :: ")[2] for one in classifiers if str(one).startswith("License ::")]
    if kinds := [one for one in kinds if one != "OSI Approved"]:
        return ", ".join(kinds)
    lines = _read_field(package, "License").strip().splitlines()
    return lines[0][:MAX_LICENCE_CHARS] if lines else NOT_STATED


def _read_field(package: metadata.Distribution, name: str) -> str:
    return str((package.metadata.get_all(name) or [""])[0])
