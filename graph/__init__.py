"""A question's journey as a LangGraph state machine.

Set before LangGraph is imported anywhere below: checkpoints hold plain types only, and no trace leaves the machine.
"""

import os

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
for _tracing in ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2"):
    os.environ[_tracing] = "false"
