"""Markdown to passages: blocks with exact offsets, and the contextual units they are cut into (AccurateRAG 2.1)."""
