"""argot insight: the questions of a period, and how they went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from argot.languages.catalogues import format_local_number, translate
from argot.ui.cli.command_base import format_count, line, print_table, say, say_aside
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.service.usecases.questions.insight import Insight


def register(app: typer.Typer) -> None:
    UseCaseCommands(app, as_user=True)(
        "questions.insight.insight", "argot insight", "argot insight --since 2027-01-01 --json", json=True
    )(insight)


def insight(
    found: Insight,
    /,
    since: Annotated[
        str, typer.Option("--since", help="The first day, as 2027-01-31; default: 30 days ago.", metavar="DAY")
    ] = "",
    until: Annotated[str, typer.Option("--until", help="The last day; default: today.", metavar="DAY")] = "",
) -> None:
    """Show the questions of a period and how they went: unanswered subjects, thumbs, documents, missed terms, waits,
    model calls.
    """
    if not found.counted_from:
        say_aside(translate("No question has been counted yet."))
        return
    say(
        translate(
            "%(questions)s from %(since)s to %(until)s (days in UTC)",
            questions=format_count(found.counts.questions, "question"),
            since=found.since,
            until=found.until,
        )
    )
    _print_counts(found)
    _print_subjects(found)
    say(
        "\n"
        + translate(
            "Thumbs: %(up)s up, %(down)s down",
            up=format_local_number(found.thumbs.up),
            down=format_local_number(found.thumbs.down),
        )
    )
    for one in found.thumbs.reasons:
        say(f"  {'+' if one.value > 0 else '-'} {line(one.question)}{f': {line(one.comment)}' if one.comment else ''}")
    _print_documents(found)


def _print_counts(found: Insight) -> None:
    counts = found.counts
    # Plain numbers, because in a pipe they are for programs.
    print_table(
        ["outcome", "questions", "share"],
        lambda: [[translate(one.name), one.questions, f"{one.share:.0%}"] for one in counts.outcomes],
    )
    print_table(
        ["surface", "questions"], lambda: [[translate(name), number] for name, number in counts.surfaces.items()]
    )
    waits = [("first word", counts.first_word), ("whole answer", counts.whole_answer)]
    print_table(
        ["wait", "half at most", "95 of 100 at most"],
        lambda: [[translate(name), _format_seconds(of.p50), _format_seconds(of.p95)] for name, of in waits],
    )
    used = counts.model
    say(
        translate(
            "Language model: %(calls)s, %(failed)s failed, %(sent)s tokens sent, %(received)s received",
            calls=format_count(used.calls, "call"),
            failed=format_local_number(used.failed),
            sent=format_local_number(used.sent),
            received=format_local_number(used.received),
        )
    )


def _format_seconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.1f} s"


def _print_subjects(found: Insight) -> None:
    say("\n" + translate("Questions without an answer, by subject:"))
    for group in found.unanswered.groups:
        named = f"“{line(group.typical)}”" if group.typical else translate("(nobody has shared the wording)")
        terms = f" [{', '.join(map(line, group.terms))}]" if group.terms else ""
        say(f"  {group.questions:,} × {named}{terms}")
    if found.unanswered.unnamed:
        say(
            "  "
            + translate(
                "%(unnamed)s in no group here, because nobody has shared the wording",
                unnamed=format_local_number(found.unanswered.unnamed),
            )
        )
    if found.missed:
        print_table(["term missed", "questions"], [[line(one.term), one.questions] for one in found.missed])


def _print_documents(found: Insight) -> None:
    documents = found.documents
    if documents.cited:
        print_table(["document cited", "answers with it"], [[line(one.name), one.answers] for one in documents.cited])
    say(translate("Documents that no answer has ever cited: %(never)s", never=format_local_number(documents.never)))
    for one in documents.never_cited:
        say(f"  {line(one.name)}")
