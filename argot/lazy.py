"""Public names of packages that cost nothing until they are used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def build_lazy_getattr(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's `__getattr__` (PEP 562), which imports a public name from its module on first use.

    Args:
        homes: the module, within the package, of each public name.
    """

    # Nothing is stored in the module's namespace: Python's own table of modules makes the second import cheap.
    def load_name(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home}"), name)

    return load_name
