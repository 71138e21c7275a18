"""argot init, doctor, backup and restore."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argot.languages.catalogues import format_local_decimal, format_local_number, translate, translate_number
from argot.ui.cli.command_base import (
    Home,
    Json,
    format_examples,
    open_knowledge_base,
    read_settings,
    say,
    say_aside,
    say_json,
)


def register(app: typer.Typer) -> None:
    app.command(epilog=format_examples("argot init", "argot init --home /srv/argot/kb"))(init)
    app.command(epilog=format_examples("argot doctor", "argot doctor --json"))(doctor)
    app.command(epilog=format_examples("argot backup monday.tar"))(backup)
    app.command(epilog=format_examples("argot restore monday.tar", "argot restore monday.tar --force"))(restore)


def init(home: Home = None) -> None:
    """Make an empty knowledge base. An existing one stays as it is; a store that it has lost is made anew."""
    from argot.service.storage.home_folder import is_knowledge_base, note_stores, require

    folder = read_settings(home).home
    if there := is_knowledge_base(folder):
        require(folder)
        # A lost store is no longer recorded as required, so opening makes it anew.
        note_stores(folder)
    with open_knowledge_base(home, create=True):
        pass
    if there:
        say(translate("There is a knowledge base already; nothing was changed."))
    else:
        hint = "Add documents with: argot add PATHS; find the terms they explain with: argot glossary mine"
        say(translate(hint))


def doctor(json_: Json = False, home: Home = None) -> None:
    """Check packages, settings, stores, embedding model and free space, and name a remedy for each problem."""
    from argot.service.operations.doctor import diagnose

    settings = read_settings(home)
    findings = diagnose(settings.home, settings)
    if json_:
        say_json(findings)
    else:
        from argot.ui.translation.finding_texts import translate_finding, translate_finding_line

        good, bad = translate("ok"), translate("PROBLEM")
        width = max(len(good), len(bad))
        for finding in findings:
            line = translate_finding_line(finding["name"], finding["detail"])
            say(f"{good if finding['ok'] else bad:{width}}  {line}")
            if not finding["ok"]:
                say(f"{'':{width}}  -> {translate_finding(finding['remedy'])}")
    problems = sum(not finding["ok"] for finding in findings)
    if problems:
        say_aside(translate("%(number)s problem(s)", number=problems))
        raise typer.Exit(1)


def backup(
    file: Annotated[Path, typer.Argument(help="The tar file to write.", metavar="FILE.tar")], home: Home = None
) -> None:
    """Back up everything except the vectors into one file, as of one moment; the service may be running."""
    from argot.service.usecases.operations.maintenance import backup as backup_case

    with open_knowledge_base(home) as client:
        # Absolute, because the service that writes the file may run in another folder.
        written = client.call(backup_case, path=str(file.expanduser().absolute()))
    template = "Wrote %(path)s: %(files)s files, %(size)s MB"
    say(translate(template, path=written.path, files=written.files, size=format_local_decimal(written.bytes / 1e6, 1)))


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `argot backup` wrote.", metavar="FILE.tar")],
    force: Annotated[bool, typer.Option("--force", help="Replace the knowledge base that is there.")] = False,
    home: Home = None,
) -> None:
    """Restore a backup and rebuild the vectors. Nothing is changed unless the whole file is sound."""
    from argot.service.maintenance.backup import record_restore, restore_backup
    from argot.service.usecases.documents.documents import reindex

    settings = read_settings(home)
    # Not through the service: the whole folder is replaced, so no process may have it open.
    if settings.storage.database:
        from argot.service.maintenance.shared_backup import restore_shared_backup

        restored = restore_shared_backup(settings.home, settings, file.expanduser().absolute(), force=force)
    else:
        restored = restore_backup(settings.home, file.expanduser().absolute(), force=force)
    record_restore(settings, file.expanduser().absolute())
    template = "Restored %(files)s files, %(size)s MB. Rebuilding the vectors."
    say(translate(template, files=restored.files, size=format_local_decimal(restored.bytes / 1e6, 1)))
    with open_knowledge_base(home) as client:
        result = client.call(reindex)
    say(
        translate_number(
            "Indexed %(number)s passage.",
            "Indexed %(number)s passages.",
            result.passages,
            number=format_local_number(result.passages),
        )
    )
