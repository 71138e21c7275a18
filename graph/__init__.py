"""A question's journey as a LangGraph state machine.

LangGraph reads the variables below when it is imported, so they are set here, before any module of this package: with
them checkpoints hold plain types only, and no trace leaves the machine.
"""

import os
from typing import TYPE_CHECKING

from argot.lazy import build_lazy_getattr

if TYPE_CHECKING:
    from argot.graph.build import build_graph
    from argot.graph.run import ask
    from argot.graph.run_context import RunContext

# Without this setting a checkpoint may name a Python class, which is imported and built when the checkpoint is read.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
# The older variable names are set as well: LangChain reads whichever is set in the shell that started Argot.
for _tracing in ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2"):
    os.environ[_tracing] = "false"

__all__ = [
    "RunContext",
    "ask",
    "build_graph",
]

# Type checkers read the imports above; a `__getattr__` would tell them that every name is there.
if not TYPE_CHECKING:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "RunContext": "run_context",
            "ask": "run",
            "build_graph": "build",
        },
    )
