"""Stand-ins for the clients of two services, which LangGraph imports and no question calls: LangSmith, which records
runs, and a LangGraph server. Importing them takes a tenth of the time of a command's first question.

A stand-in has the names that are needed until a run has ended. Any other name, and any call of a class, loads the
package itself, which then takes its place: whoever uses a client gets it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

LANGSMITH = "langsmith"
SERVER_CLIENT = "langgraph_sdk.client"
NO_TRACE = dict.fromkeys(
    ("parent", "project_name", "address", "tags", "metadata", "enabled", "client", "replicas", "distributed_parent_id")
)
"""The context of a run that nothing records, as langsmith's `get_tracing_context` returns it."""


def leave_out_clients() -> None:
    """Put the stand-ins in place of what is not imported yet. Nothing is left out if somebody wants runs recorded."""
    if not any(_is_tracing(name, value) for name, value in os.environ.items()):
        _install_stand_ins(_build_langsmith())
    makers = {name: _make_call(SERVER_CLIENT, name) for name in ("get_client", "get_sync_client")}
    _install_stand_ins([StandIn(SERVER_CLIENT, makers)])


def _is_tracing(variable: str, value: str) -> bool:
    return variable.startswith(("LANGSMITH_TRACING", "LANGCHAIN_TRACING")) and value.lower() == "true"


class StandIn(ModuleType):
    """A module in place of another, with some of its names."""

    def __init__(self, name: str, names: dict[str, Any]) -> None:
        super().__init__(name)
        self.__dict__.update(names)

    def __getattr__(self, name: str) -> Any:
        # Python asks every module for such names.
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(_load(self.__name__), name)


class _LaterPath:
    """The search path of a package that is loaded when a part of it is searched for."""

    def __init__(self, package: str) -> None:
        self._package = package

    def __iter__(self) -> Iterator[str]:
        return iter(_load(self._package).__path__)


class _LaterClass(type):
    """The class of classes that are loaded when they are used."""

    def __call__(cls, *args: Any, **named: Any) -> Any:
        return getattr(_load(LANGSMITH), cls.__name__)(*args, **named)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{cls.__name__} has no attribute {name!r}")
        return getattr(getattr(_load(LANGSMITH), cls.__name__), name)


def _build_langsmith() -> list[StandIn]:
    # `model_dump`: by it langchain-core sees which Pydantic the runs are made with.
    run_tree, client = _LaterClass("RunTree", (), {"model_dump": None}), _LaterClass("Client", (), {})
    get_context = _make_call(f"{LANGSMITH}.run_helpers", "get_tracing_context", NO_TRACE.copy)
    parts: dict[str, dict[str, Any]] = {
        "address": {},
        "run_helpers": {
            "get_tracing_context": get_context,
            "_set_tracing_context": _make_call(f"{LANGSMITH}.run_helpers", "_set_tracing_context", dict),
        },
        "run_trees": {"RunTree": run_tree},
        "utils": {"tracing_is_enabled": _make_call(f"{LANGSMITH}.utils", "tracing_is_enabled", bool)},
    }
    modules = {name: StandIn(f"{LANGSMITH}.{name}", names) for name, names in parts.items()}
    face = {"RunTree": run_tree, "Client": client, "get_tracing_context": get_context}
    return [StandIn(LANGSMITH, {"__path__": _LaterPath(LANGSMITH), **face, **modules}), *modules.values()]


def _make_call(module: str, name: str, answer: Callable[[], Any] | None = None) -> Callable[..., Any]:
    """Return a function that calls the one of this name, except that it gives this answer until the package is
    loaded.
    """

    def call(*args: Any, **named: Any) -> Any:
        if answer is not None and isinstance(sys.modules.get(module), StandIn):
            return answer()
        return getattr(_load(module), name)(*args, **named)

    return call


def _install_stand_ins(stand_ins: list[StandIn]) -> None:
    if stand_ins[0].__name__ not in sys.modules:
        sys.modules.update({one.__name__: one for one in stand_ins})


def _load(name: str) -> ModuleType:
    """Import a module itself, and with it all of its package whose place is taken."""
    package = name.partition(".")[0]
    for other in [one for one, module in sys.modules.items() if isinstance(module, StandIn)]:
        if other.partition(".")[0] == package:
            del sys.modules[other]
    return import_module(name)
