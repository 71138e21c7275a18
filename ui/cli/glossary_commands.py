"""argot glossary and argot context: terms, their meanings, and the contexts in which they have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from argot.languages.catalogues import translate
from argot.types import SenseStatus
from argot.ui.cli import conflict_commands, glossary_file_commands, glossary_history_commands, review_commands
from argot.ui.cli.command_base import (
    AsUser,
    Audience,
    Home,
    Json,
    format_count,
    format_examples,
    line,
    open_knowledge_base,
    print_table,
    say,
    say_aside,
    say_json,
)
from argot.ui.cli.progress_bar import show_progress
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.service.usecases.glossary.mining import MiningReport
    from argot.service.usecases.glossary.proposal_results import MissRecord
    from argot.types import Context, Sense

glossary = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Terms and what they mean in each context.")
glossary_command = UseCaseCommands(glossary, as_user=True)
context = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Teams or fields in which terms have a meaning."
)

STATUSES: tuple[SenseStatus, ...] = get_args(SenseStatus)

# Here, before the decorators below, because help lists commands in the order of their registration.
glossary_file_commands.register(glossary)


def register(app: typer.Typer) -> None:
    review_commands.register(glossary)
    conflict_commands.register(glossary)
    glossary_history_commands.register(glossary)
    app.add_typer(glossary, name="glossary")
    app.add_typer(context, name="context")


def _parse_status(text: str) -> SenseStatus:
    # Returned from the tuple, so that mypy knows that it is a status.
    for status in STATUSES:
        if status == text:
            return status
    template = "Unknown status '%(status)s'. Statuses: %(statuses)s."
    raise typer.BadParameter(translate(template, status=text, statuses=", ".join(STATUSES)))


@glossary_command(
    "glossary.senses.glossary_list",
    "argot glossary list PUC",
    "argot glossary list --status draft",
    "argot glossary list --context Legal --json",
    name="list",
    json=True,
)
def list_senses(
    senses: list[Sense],
    /,
    query: Annotated[str | None, typer.Argument(help="Only terms, aliases or expansions that contain this.")] = None,
    context: Annotated[str | None, typer.Option("--context", help="Only the senses of this context.")] = None,
    status: Annotated[
        str | None,
        typer.Option(help="Only this status: draft, approved or retired.", metavar="STATUS", parser=_parse_status),
    ] = None,
) -> None:
    """List terms with their meanings and the numbers of these."""
    print_table(
        ["term", "context", "expansion", "aliases", "status", "sense"],
        lambda: [
            [one.term, one.context, one.expansion, ", ".join(one.aliases), translate(one.status), one.id]
            for one in senses
        ],
    )
    say_aside(
        format_count(len(senses), "sense")
        if senses
        else translate("No such senses. Define one with: argot glossary add TERM CONTEXT EXPANSION")
    )


@glossary.command(
    "add", epilog=format_examples('argot glossary add PUC "NAND Design" "Peripheral Under Cell" --alias P.U.C.')
)
def add_sense(
    *,
    term: Annotated[str, typer.Argument(help="The term or abbreviation.")],
    of_context: Annotated[str, typer.Argument(help="The context it has this meaning in.", metavar="CONTEXT")],
    expansion: Annotated[str, typer.Argument(help="What it stands for.")],
    description: Annotated[str, typer.Option(help="A description of it, in a sentence.")] = "",
    notes: Annotated[str, typer.Option(help="Anything else an asker should know.")] = "",
    alias: Annotated[
        list[str] | None, typer.Option("--alias", help="Another spelling; repeatable.", metavar="ALIAS")
    ] = None,
    audience: Audience = None,
    home: Home = None,
) -> None:
    """Define what a term means in a context, or change it."""
    from argot.service.usecases.glossary.senses import glossary_add, glossary_warnings

    with open_knowledge_base(home) as client:
        values: dict[str, Any] = {"term": term, "context": of_context, "expansion": expansion, "aliases": alias or []}
        # Before the sense is stored, because afterwards it would be compared with itself.
        warnings = client.call(glossary_warnings, **values)
        sense = client.call(
            glossary_add,
            term=term,
            context=of_context,
            expansion=expansion,
            description=description,
            notes=notes,
            aliases=alias or [],
            audience=audience,
        )
    say(f"{line(sense.term)} ({line(sense.context)}): {line(sense.expansion)}")
    for one in warnings:
        # Without warnings about the very sense that this command changed, or that no document spells it out.
        if one.kind != "no_document" and sense.id not in one.senses:
            say_aside(translate("Note: %(message)s", message=line(one.message)))


@glossary_command(
    "glossary.proposals.glossary_misses", "argot glossary misses", "argot glossary misses --json", json=True
)
def misses(found: list[MissRecord], /) -> None:
    """List terms that people asked for and nobody has defined."""
    print_table(
        ["term", "times", "last", "question"],
        [[one.term, one.count, one.last, one.questions[0] if one.questions else ""] for one in found],
    )
    say_aside(translate("%(found)s nobody has defined", found=format_count(len(found), "term")))


@glossary.command(
    "mine",
    epilog=format_examples(
        "argot glossary mine", "argot glossary mine --limit 20 --dry-run", "argot glossary mine --json"
    ),
)
def mine(
    *,
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Maximum number of rows, the surest first.", metavar="N")
    ] = 100,
    in_context: Annotated[str | None, typer.Option("--context", help="Propose them for this context.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show them; store no proposals.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Read all documents again, also those mined before.")] = False,
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Propose terms and meanings that the documents define, each with its passage.

    Nothing becomes part of the glossary by itself. Known and dismissed meanings are left out. You can stop at any time:
    meanings found so far stay, and the same command continues there, reading only new documents.
    """
    from argot.service.usecases.glossary.mining import glossary_mine

    # The bar counts documents, because the number of meanings is not known beforehand.
    with open_knowledge_base(home) as client, show_progress(translate("mining")) as move:
        watched = client.as_user(as_user).watch(move)
        result = watched.call(glossary_mine, limit=limit, context=in_context, dry_run=dry_run, again=again)
    if json_:
        say_json(result)
        return
    rows: list[list[object]] = [
        [one.id or "", one.term, one.expansion, one.score, one.count, one.evidence[0].quote] for one in result.proposals
    ]
    print_table(["proposal", "term", "expansion", "sure", "passages", "evidence"], rows)
    _say_mined(result, len(rows))


def _say_mined(result: MiningReport, shown: int) -> None:
    wording = "%(number)s proposed" if result.stored else "%(number)s found, none stored"
    parts = [translate(wording, number=result.offered)]
    if shown < result.offered:
        parts.append(translate("the surest %(number)s are shown", number=shown))
    counted = (
        (result.known, translate("%(number)s known already", number=result.known)),
        (result.decided, translate("%(number)s decided already", number=result.decided)),
        (result.documents, translate("%(number)s documents read", number=result.documents)),
        (result.skipped, translate("%(number)s were read before", number=result.skipped)),
    )
    parts += [text for number, text in counted if number]
    say_aside(", ".join(parts))
    if result.offered and result.stored:
        say_aside(
            translate(
                "Accept them in the pages of `argot serve`, or with: argot glossary accept --least "
                "0.8 --context CONTEXT"
            )
        )


# Contexts and their terms may exist before the first document.
@UseCaseCommands(context)(
    "glossary.contexts.context_add",
    'argot context add "NAND Design" --contact nand-terms@example.org',
    name="add",
    create=True,
)
def add_context(
    made: Context,
    /,
    name: Annotated[str, typer.Argument(help="Its name.")],
    description: Annotated[str, typer.Option(help="Its subject; this helps to recognise its questions.")] = "",
    contact: Annotated[str, typer.Option(help="The person or address to ask about its terms.")] = "",
    audience: Audience = None,
) -> None:
    """Make a context, or change one."""
    say(translate("Context %(name)s", name=line(made.name)))


@UseCaseCommands(context, as_user=True)("glossary.contexts.context_list", "argot context list", name="list", json=True)
def list_contexts(found: list[Context], /) -> None:
    """List the contexts."""
    print_table(["context", "description", "contact"], [[one.name, one.description, one.contact] for one in found])
