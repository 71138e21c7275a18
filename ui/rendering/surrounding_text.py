"""The text around an answer, as the chat window and other programs show it: a quotation below the answer."""

from __future__ import annotations

from argot.results import AnswerContext
from argot.ui.rendering.safe_markdown import highlight


def format_context(context: AnswerContext) -> str:
    """Format the text around an answer for the chat window, which mutes quotations, with the answer in bold."""
    text, _ = highlight(context.text, context.spans)
    return f"###### In context \\[{context.n}\\]\n{quote_lines(text)}"


def quote_lines(markdown: str) -> str:
    """Return the text as a quotation in Markdown, line by line."""
    return "\n".join(f"> {line}".rstrip() for line in markdown.split("\n"))
