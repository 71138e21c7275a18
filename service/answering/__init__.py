"""Processes that answer questions, so that the main process is free to stream."""
