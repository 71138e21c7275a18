"""Stand-ins for clients that LangGraph imports: nothing of the packages is loaded until somebody uses it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

RUN = """
import sys
from argot.stand_ins import leave_out_clients
leave_out_clients()
import argot.graph
from langgraph.graph import END, START, StateGraph
graph = StateGraph(dict)
graph.add_node("double", lambda state: {"n": state["n"] * 2})
graph.add_edge(START, "double")
graph.add_edge("double", END)
assert graph.compile().invoke({"n": 2}) == {"n": 4}
"""
LOADED = """
from argot.stand_ins import StandIn
loaded = {name for name, one in sys.modules.items() if not isinstance(one, StandIn)}
print(*sorted({"langsmith", "langsmith.run_helpers", "langsmith.client", "langgraph_sdk.client"} & loaded))
"""
USES = {
    "a class": "import langsmith; run = langsmith.RunTree(name='a'); assert run.name == 'a'",
    "a method of a class": (
        "from langchain_core.tracers.schemas import Run; assert Run.model_construct(name='a').name == 'a'"
    ),
    "a part": "import langsmith.client; assert langsmith.client.Client.__module__ == 'langsmith.client'",
    "another name": "from langsmith import traceable; assert traceable(lambda: 3)() == 3",
    "a name of a part": "from langsmith.run_helpers import trace; assert trace.__module__ == 'langsmith.run_helpers'",
    "the context": (
        "from langsmith import get_tracing_context as before; from langsmith import tracing_context\n"
        "from langsmith.run_helpers import get_tracing_context as after\n"
        "with tracing_context(tags=['x']): assert before()['tags'] == after()['tags'] == ['x']"
    ),
    "the server's client": (
        "import langgraph_sdk; assert langgraph_sdk.get_client(url='http://127.0.0.1:1')\n"
        "from langgraph.pregel.remote import RemoteGraph; assert RemoteGraph('a', url='http://127.0.0.1:1')"
    ),
}


def run(code: str, **variables: str) -> str:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("LANGSMITH_", "LANGCHAIN_"))
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**environment, **variables}
    )
    return done.stdout.strip()


def test_a_run_loads_neither_client() -> None:
    assert run(RUN + LOADED) == ""


@pytest.mark.parametrize("use", USES)
def test_what_is_used_is_the_package_itself(use: str) -> None:
    loaded = run(f"{RUN}\n{USES[use]}\n{LOADED}")
    assert ("langgraph_sdk.client" in loaded) if "server" in use else ("langsmith.client" in loaded)


def test_a_run_after_a_use_is_as_any_other() -> None:
    assert "langsmith.run_helpers" in run(
        f"{RUN}\nimport langsmith.client\nassert graph.compile().invoke({{'n': 3}}) == {{'n': 6}}\n{LOADED}"
    )


@pytest.mark.parametrize("variable", ["LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"])
def test_nothing_is_left_out_where_runs_are_recorded(variable: str) -> None:
    assert "langsmith.client" in run(RUN + LOADED, **{variable: "true"})


def test_a_package_that_is_loaded_stays() -> None:
    code = (
        "import langsmith.run_helpers as before\n"
        + RUN
        + "import langsmith.run_helpers as after\nassert after is before"
    )
    run(code)
