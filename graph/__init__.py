"""A question's journey as a LangGraph state machine."""
