"""Answers as Markdown for the chat window and other programs, text made safe, and filters for the pages."""
