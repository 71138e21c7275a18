"""An answer of a shared conversation as inert HTML, with its marks as links to the library."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup, escape

from argot.languages.catalogues import translate
from argot.results import AskResult, FoundPassage
from argot.ui.rendering.chat_markdown import add_marks
from argot.ui.rendering.page_filters import load_renderer
from argot.ui.rendering.safe_markdown import fill_layout, quote_markdown
from argot.ui.rendering.source_addresses import PASSAGES

OPEN, CLOSE = "\ue010", "\ue011"
"""Private characters around a mark's number until the text is HTML; `quote_markdown` removes the text's own ones."""
_MARK = re.compile(f"{OPEN}([0-9]+){CLOSE}")


@dataclass(frozen=True, slots=True)
class SourceShown:
    """A passage as a source of an answer: its number, and the address of the page that shows it."""

    passage: FoundPassage
    address: str


@dataclass(frozen=True, slots=True)
class SharedTurnShown:
    """A question and its answer as HTML, with the sources that the answer shows."""

    turn: AskResult
    answer: Markup
    sources: list[SourceShown]


def render_shared_turn(turn: AskResult) -> SharedTurnShown:
    sources = [SourceShown(one, _link_source(turn, one)) for one in turn.passages]
    marks = {one.passage.n: f"{OPEN}{one.passage.n}{CLOSE}" for one in sources}
    shown = zip(turn.sentences, turn.list_marks(), strict=True)
    marked = [(sentence.text, add_marks(sentence, numbers, marks)) for sentence, numbers in shown]
    # Only an answer is divided into sentences; other texts are shown as they are.
    text = (turn.status == "answered" and fill_layout(turn.answer, marked)) or quote_markdown(turn.answer)
    links = {one.passage.n: _render_mark(one) for one in sources}
    html = _MARK.sub(lambda match: links.get(int(match[1]), ""), load_renderer().render(text))
    return SharedTurnShown(turn, Markup(html), sources)  # noqa: S704  the renderer escapes all text


def _link_source(turn: AskResult, passage: FoundPassage) -> str:
    cited = [one for sentence in turn.sentences for one in sentence.citations if one.passage_id == passage.passage_id]
    spans = "&".join(f"span={start}-{end}" for start, end in dict.fromkeys(one.span for one in cited))
    # A browser that follows it is led on to the page of the document.
    return f"{PASSAGES}/{quote(passage.passage_id, safe='')}{'?' if spans else ''}{spans}"


def _render_mark(source: SourceShown) -> str:
    title = translate("Read it in %(document)s", document=source.passage.name)
    return f'<a class="cite" href="{escape(source.address)}" aria-label="{escape(title)}">{source.passage.n}</a>'
