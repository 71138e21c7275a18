"""The text around an answer, as the chat window and other programs show it: a muted quotation below the answer."""

from __future__ import annotations

from argot.languages.catalogues import translate
from argot.results import AnswerContext
from argot.ui.rendering.safe_markdown import highlight


def format_context(context: AnswerContext, address: str) -> str:
    """Format the text around an answer for the chat window, which folds a quotation under a heading that is a link.

    Args:
        address: of the passage, where the link leads if nothing unfolds the quotation.
    """
    text, _ = highlight(context.text, context.spans)
    return f"###### [{translate('In context')} \\[{context.n}\\]]({address})\n{quote_lines(text)}"


def quote_lines(markdown: str) -> str:
    """Return the text as a quotation in Markdown, line by line."""
    return "\n".join(f"> {line}".rstrip() for line in markdown.split("\n"))
