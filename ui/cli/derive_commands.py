"""argot derive: texts and triples that the language model derives from documents, so that search finds them better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from argot.errors import InvalidInput
from argot.languages.catalogues import translate
from argot.remedies import LIST_DOCUMENTS
from argot.types import DerivableKind
from argot.ui.cli.command_base import (
    Home,
    Json,
    format_examples,
    line,
    open_knowledge_base,
    print_table,
    say,
    say_aside,
    say_json,
)
from argot.ui.cli.document_commands import resolve_reference
from argot.ui.cli.progress_bar import show_progress

if TYPE_CHECKING:
    from argot.service.transport.knowledge_base_client import Client
    from argot.service.usecases.documents.derivations import DerivedTexts, DeriveReport

KNOWN_KINDS: tuple[DerivableKind, ...] = get_args(DerivableKind)
KIND_LIST = ", ".join(KNOWN_KINDS)


def _parse_kind(text: str) -> str:
    # A parser of Typer's, so that the message names the option and the exit code is that of a wrong command line.
    if text not in KNOWN_KINDS:
        raise typer.BadParameter(translate("Unknown kind '%(kind)s'. Kinds: %(kinds)s.", kind=text, kinds=KIND_LIST))
    return text


def _parse_kinds(names: list[str]) -> list[DerivableKind]:
    from argot.service.usecases.usecase_registry import find_choice

    # `_parse_kind` has checked them already; this gives the strings a type for mypy.
    return [find_choice(KNOWN_KINDS, kind, "the kind") for kind in names]


def register(app: typer.Typer) -> None:
    app.command(
        epilog=format_examples(
            "argot derive --kind expert_summary --kind question",
            "argot derive --kind triple handbook.pdf",
            "argot derive --status",
            "argot derive --list",
            "argot derive --remove question",
        )
    )(derive)


def derive(
    *,
    documents: Annotated[
        list[str] | None,
        typer.Argument(help="Ids, names or URIs of documents; default: all documents.", metavar="DOCUMENT"),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", help=f"What to make: {KIND_LIST}; repeatable.", metavar="KIND", parser=_parse_kind),
    ] = None,
    renew: Annotated[
        bool, typer.Option("--renew", help="Make texts again that another model or an earlier prompt made.")
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="List the derived texts, with their prompts and models.")
    ] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Show the progress of the service's background derivation.")
    ] = False,
    remove: Annotated[
        list[str] | None,
        typer.Option("--remove", help="Remove texts of this kind; repeatable.", metavar="KIND", parser=_parse_kind),
    ] = None,
    json_: Json = False,
    home: Home = None,
) -> None:
    """Derive summaries, questions and other texts of documents with the language model, for search.

    Only missing texts are made: after a stop or a crash, the same command continues where it was. Needs
    ARGOT_MODEL_URL, and ARGOT_VISION_URL to describe pictures. A running service does the same in the background;
    --status shows its progress. The exit code is 1 if a text could not be made.
    """
    # Typer has no options that exclude each other.
    if bool(kind) + bool(remove) + list_ + status != 1:
        raise typer.BadParameter(translate("give one of --kind KIND, --status, --list and --remove KIND"))
    # An empty name comes from an unset variable in a script: "$NAME".
    if documents is not None and "" in documents:
        raise InvalidInput(f"An empty name of a document was given. {LIST_DOCUMENTS}")
    named = [resolve_reference(document) for document in documents or []]
    with open_knowledge_base(home) as client:
        if list_:
            _list(client, json_)
        elif status:
            _print_status(client, named, json_)
        elif remove:
            _remove(client, _parse_kinds(remove), named, json_)
        else:
            _derive(client, _parse_kinds(kind or []), named, renew=renew, json_=json_)


def _derive(client: Client, kinds: list[DerivableKind], documents: list[str], *, renew: bool, json_: bool) -> None:
    from argot.service.usecases.documents.derivations import derive as derive_case

    # With the remaining time: a model takes seconds for each passage.
    with show_progress(translate("deriving"), elapsed=True, left=True) as move:
        result = client.watch(move).call(derive_case, kinds=kinds, documents=documents, renew=renew)
    if json_:
        say_json(result)
    else:
        _print_summary(result)
    # Also with --json: a script checks the exit code first.
    if result.failed:
        raise typer.Exit(1)


def _print_summary(result: DeriveReport) -> None:
    for problem in result.problems:
        say_aside(
            translate(
                "failed: %(name)s, %(kind)s of %(passage)s: %(detail)s",
                name=line(problem.name),
                kind=problem.kind,
                passage=problem.passage,
                detail=line(problem.detail),
            )
        )
    # Otherwise the output would read as if nothing could be made.
    if not result.total:
        say(translate("Nothing was missing."))
        return
    failed = (
        translate(", %(number)s failed: the same command tries them again", number=result.failed)
        if result.failed
        else ""
    )
    say(
        translate(
            "%(texts)s texts and %(triples)s triples of %(made)s passages%(failed)s (%(model)s, "
            "%(calls)s calls, %(completion_tokens)s tokens written).",
            texts=result.texts,
            triples=result.triples,
            made=result.made,
            failed=failed,
            model=line(result.model),
            calls=result.calls,
            completion_tokens=result.completion_tokens,
        )
    )


def _list(client: Client, json_: bool) -> None:
    from argot.service.usecases.documents.derivations import derived_list

    found = client.call(derived_list)
    if json_:
        say_json(found)
        return
    print_table(
        ["kind", "texts", "passages", "documents", "prompt", "model"],
        lambda: [
            [
                one.kind,
                one.texts,
                f"{one.passages}/{found.passages}" if one.prompt else "",
                one.documents,
                _describe_prompt(one),
                one.model,
            ]
            for one in found.rows
        ],
    )
    if not found.rows:
        say_aside(translate("Nothing was derived yet. Begin with: argot derive --kind expert_summary"))


def _describe_prompt(one: DerivedTexts) -> str:
    outdated = f" ({translate('outdated')})" if one.outdated else ""
    return f"{one.prompt}{outdated}" if one.prompt else translate("came with the documents")


def _print_status(client: Client, documents: list[str], json_: bool) -> None:
    from argot.service.usecases.documents.automatic_derivation import derivation_status

    found = client.call(derivation_status, documents=documents or None)
    if json_:
        say_json(found)
        return
    print_table(
        ["document", "state", "tries", "why"],
        lambda: [[line(one.name), translate(one.state), one.tries or "", line(one.detail)] for one in found.documents],
    )
    if not found.kinds:
        say_aside(
            translate(
                "Nothing is derived in the background: that requires a language model "
                "(ARGOT_MODEL_URL), or one that sees pictures (ARGOT_VISION_URL; "
                "ARGOT_DERIVE_IN_BACKGROUND)."
            )
        )
        return
    counted = ", ".join(f"{count} {translate(state)}" for state, count in found.counts.items()) or translate(
        "no documents"
    )
    budget = translate(" of %(total)s", total=found.calls_per_day) if found.calls_per_day else ""
    say_aside(
        translate(
            "%(counted)s; %(calls_today)s%(budget)s calls today (UTC), %(tokens_today)s tokens.",
            counted=counted,
            calls_today=found.calls_today,
            budget=budget,
            tokens_today=found.tokens_today,
        )
    )
    if not found.running:
        say_aside(translate("Nothing is being derived now: a running service does that (argot serve)."))
    if found.resting:
        say_aside(translate("Waiting: %(resting)s", resting=line(found.resting)))


def _remove(client: Client, kinds: list[DerivableKind], documents: list[str], json_: bool) -> None:
    from argot.service.usecases.documents.derivations import derived_remove

    removed = client.call(derived_remove, kinds=kinds, documents=documents).removed
    if json_:
        say_json(removed)
    else:
        parts = (translate("%(number)s of kind %(kind)s", number=count, kind=kind) for kind, count in removed.items())
        say(translate("Removed %(kinds)s.", kinds=", ".join(parts)))
