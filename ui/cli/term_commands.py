"""argot terms: the glossary as everybody reads it, from A to Z, and the entry of one term."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from argot.languages.catalogues import join_with_or, translate
from argot.ui.cli.command_base import line, print_table, say, say_aside
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.service.usecases.glossary.term_results import TermEntry, TermListing

terms = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="What terms mean, for everybody who reads.")
term_command = UseCaseCommands(terms, as_user=True)


def register(app: typer.Typer) -> None:
    app.add_typer(terms, name="terms")


@term_command(
    "glossary.terms.terms_list",
    "argot terms list",
    'argot terms list "word line"',
    "argot terms list --initial P --context NAND",
    name="list",
    json=True,
)
def list_terms(
    found: TermListing,
    /,
    query: Annotated[str, typer.Argument(help="Text in a term, another name or a meaning.")] = "",
    *,
    initial: Annotated[str, typer.Option(help="Only terms that begin with this letter; # for digits and signs.")] = "",
    context: Annotated[str | None, typer.Option("--context", help="Only the meanings of this context.")] = None,
    after: Annotated[str, typer.Option(help="Continue after the page before, as it says at its end.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="Maximum number of terms.", metavar="N")] = 50,
) -> None:
    """List terms from A to Z with their meanings, or those that a text finds."""
    rows: list[list[object]] = [
        [one.term, each.expansion or each.description, each.context, each.contact]
        for one in found.terms
        for each in one.meanings
    ]
    headings = ["term", "meaning", "context", "looked after by"]
    print_table(headings, rows)
    if not rows:
        parts = [translate("No such terms that you may read.")]
        if found.similar:
            parts.append(translate("Did you mean %(terms)s?", terms=join_with_or([*map(line, found.similar)])))
        say_aside(" ".join(parts))
    elif found.next:
        say_aside(translate("There are more: --after '%(term)s'", term=line(found.next)))


@term_command("glossary.terms.term_show", "argot terms show PUC", "argot terms show PUC --json", name="show", json=True)
def show_term(
    found: TermEntry,
    /,
    term: Annotated[str, typer.Argument(help="The term or abbreviation, or another name of it.")],
) -> None:
    """Show what a term means in each context, who looks after it, and the sentence of a document that defines it."""
    from argot.ui.rendering.term_text import format_entry

    say(format_entry(found, line))
