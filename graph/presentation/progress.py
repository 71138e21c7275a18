"""The progress that an asker reads while a thorough answer is being prepared, in the language of the question."""

from __future__ import annotations

from argot.languages.catalogues import format_local_number, speak_as_asked, translate, translate_number


def write_call_step(sub_question: str, server: str, tool: str, *, of: str) -> str:
    """Write the line of a sub-question for which another server is being asked; `of` is the asker's question."""
    with speak_as_asked(of):
        asking = translate("asking %(server)s for %(tool)s", server=server, tool=tool)
        return f"{sub_question} · {asking}"


def write_settled_step(sub_question: str, passages: int, *, of: str) -> str:
    """Write the line of a settled sub-question: how many passages were found; `of` is the asker's question."""
    with speak_as_asked(of):
        number = format_local_number(passages)
        found = translate_number("%(number)s passage", "%(number)s passages", passages, number=number)
        return f"{sub_question} · {found if passages else translate('not found')}"
