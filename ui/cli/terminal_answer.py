"""An answer on a terminal: sentences with [n], how terms were understood, the numbered sources."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent
from typing import TYPE_CHECKING

from argot.languages.catalogues import translate
from argot.locations import place
from argot.ui.cli.command_base import line, say, say_faintly
from argot.ui.rendering.cell_marks import mark_cells
from argot.ui.rendering.safe_markdown import draw_boxes, spell_out_links

if TYPE_CHECKING:
    from argot.results import AskResult, Choice, ModelCall, Sentence

UNSUPPORTED = "[?]"


def print_turn(result: AskResult) -> None:
    """Print one answer for people."""
    if result.caution:
        say(f"{translate(result.caution)}\n")
    say(_format_answer(result))
    _print_context(result)
    if result.status == "answered" and result.answered_by == "model":
        by = "Written by the language model %(model)s; each mark was found in the documents."
        say(f"\n{translate(by, model=line(result.model))}")
    _print_notes(result)
    _print_understood(result)
    if result.status != "query_miss":  # there the answer itself says it
        _print_misses(result)
    _print_sources(result)


def print_choices(result: AskResult) -> None:
    """Print the choices, numbered."""
    for number, choice in enumerate(result.choices, 1):
        say(f"  {number}. {format_choice(choice)}")


def print_timings(result: AskResult) -> None:
    """Print seconds by stage, longest first, and of each call to the language model."""
    timings = sorted(result.timings.items(), key=lambda item: -item[1])
    stages = ", ".join(f"{stage} {seconds * 1000:.0f} ms" for stage, seconds in timings)
    say("\n" + translate("Time: %(stages)s", stages=stages))
    if result.model_calls:
        say(translate("Language model: %(calls)s", calls=", ".join(map(_format_call, result.model_calls))))


def _format_call(call: ModelCall) -> str:
    tokens = f"{call.prompt_tokens} + {call.completion_tokens} tokens" if call.prompt_tokens else ""
    about = "; ".join(line(part) for part in (tokens, call.failed) if part)
    return f"{line(call.prompt)} {call.seconds * 1000:.0f} ms" + (f" ({about})" if about else "")


def format_choice(choice: Choice) -> str:
    if choice.expansion:
        context = f" ({line(choice.context)})" if choice.context else ""
        meaning = f"{line(choice.expansion)}{context}"
        return f"{line(choice.term)} = {meaning}" if choice.term else meaning
    if choice.answer == "none":
        return translate("none of these")
    if choice.answer == "anyway":
        return translate("answer anyway")
    return line(choice.term)


def _format_answer(result: AskResult) -> str:
    """Format the answer with marks; [?] marks unsupported sentences. White space between sentences stays as written."""
    rest = result.answer
    marked = []
    for sentence, numbers in zip(result.sentences, result.list_marks(), strict=True):
        # Searched for behind the previous one: an answer may hold the same sentence twice.
        found = rest.find(sentence.text)
        if found < 0:
            continue
        end = found + len(sentence.text)
        row = mark_cells(sentence.text, sentence, lambda cited: "".join(f"[{n}]" for n in cited), UNSUPPORTED)
        marked += [rest[:found], row] if row else [rest[:end], _format_marks(sentence, numbers)]
        rest = rest[end:]
    return spell_out_links(draw_boxes("".join([*marked, rest])))


def _format_marks(sentence: Sentence, numbers: Sequence[int]) -> str:
    marks = UNSUPPORTED if sentence.lacks_support else "".join(f"[{number}]" for number in numbers)
    return f" {marks}" if marks else ""


def _print_context(result: AskResult) -> None:
    """Print the text around the answer in its passages, indented and faint."""
    for context in result.answer_context:
        say_faintly(f"\n{translate('In context')} [{context.n}]:")
        say_faintly(indent(spell_out_links(draw_boxes(context.text)), "    "))


def _print_notes(result: AskResult) -> None:
    if any(sentence.lacks_support for sentence in result.sentences):
        say(f"\n{UNSUPPORTED} {translate('no passage supports this sentence.')}")
    for remark in result.notes:
        say("\n" + translate("Note: %(text)s", text=line(remark)))


def _print_understood(result: AskResult) -> None:
    if result.jargon:
        say(f"\n{translate('Understood as')}:")
    for term in result.jargon:
        context = f" ({line(term.context)})" if term.context else ""
        say(f"  {line(term.surface)} = {line(term.meaning)}{context}")


def _print_misses(result: AskResult) -> None:
    # Without a spelling or a person to name, a note above has said that it is unknown.
    for miss in (one for one in result.misses if one.suggestions or one.contact):
        parts = [translate("Unknown term: %(term)s.", term=line(miss.term))]
        if miss.suggestions:
            parts.append(translate("Did you mean %(terms)s?", terms=", ".join(map(line, miss.suggestions))))
        if miss.contact:
            parts.append(translate("Ask %(name)s.", name=line(miss.contact)))
        say(f"\n{' '.join(parts)}")


def _print_sources(result: AskResult) -> None:
    # Only cited passages: a search finds more, on which the answer does not rest.
    cited = {n for sentence in result.sentences for n in sentence.cited}
    shown = [passage for passage in result.passages if passage.n in cited]
    if shown:
        say(f"\n{translate('Sources')}:")
    for passage in shown:
        page = place(passage.document, passage.page, passage.page_kind)
        heading = f", {line(passage.heading)}" if passage.heading else ""
        fresh = f", {line(passage.freshness)}" if passage.freshness else ""
        say(f"  [{passage.n}] {line(passage.name)}{page}{fresh}{heading}")
