"""Processes of our own that answer questions, so that the one people reach is free to stream."""
