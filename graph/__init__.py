"""A question's journey as a LangGraph state machine.

LangGraph reads the variables below when it is imported, so they are set here, before any module of this package: with
them checkpoints hold plain types only, and no trace leaves the machine.
"""

import os

# Without it a checkpoint may name a Python class, which is imported and built when the checkpoint is read.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
# The older names count as well: LangChain reads whichever is set in the shell that started Argot.
for _tracing in ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2"):
    os.environ[_tracing] = "false"
