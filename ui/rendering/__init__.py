"""Answers as Markdown for the chat window and other programs, safe text, and filters for the pages."""
