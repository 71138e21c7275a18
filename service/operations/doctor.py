"""`argot doctor`: everything that can be wrong with an installation and its knowledge base, each with its remedy.

It never needs the knowledge base to open: a damaged one is what it is for.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from argot.errors import ArgotError, DamagedStore, InvalidSettings, KnowledgeBaseBusy, install_command
from argot.profile import PROFILES
from argot.profile_files import SavedProfiles
from argot.remedies import init_command, quote_shell, reindex_command
from argot.service.maintenance.findings import Finding, check_by, make_bad_finding, make_good_finding
from argot.service.maintenance.process_checks import EMBEDDER, check_process
from argot.service.maintenance.storage_sizes import check_free_space
from argot.service.maintenance.wing_checks import check_wings_of_folder
from argot.service.storage import home_folder as layout
from argot.service.storage.adopted_models import (
    FILE,
    MODEL_KINDS,
    SETTING_OF,
    apply_adopted,
    find_model_path,
    read_adopted,
)
from argot.service.storage.damage import check_database
from argot.service.storage.home_lock import read_owner
from argot.service.storage.restore import finish_interrupted_restore
from argot.service.usecases.operations.maintenance import check, language_advice
from argot.settings import Settings
from argot.wings import load_parts

_KEEP_IT_SHUT = {layout.MARKER, *layout.DATABASES, "PostgreSQL", "knowledge base"}
"""Findings with which a knowledge base does not open."""


def diagnose(home: Path, settings: Settings) -> list[Finding]:
    """Look at everything, in the order in which problems should be mended."""
    home = home.expanduser().absolute()
    # A cut-off restore is completed before the stores are looked at.
    restored = [*_restore(home)]
    learnt = [
        *(finding for look in load_parts("folder_checks") for finding in look(home)),
        *_check_adopted(home, settings),
    ]
    in_force = apply_adopted(home, settings) if all(one["ok"] for one in learnt) else settings
    findings = [*(_ask_service(home) or check_process(in_force)), check_free_space(home), *restored, *learnt]
    if not settings.storage.database and not layout.is_knowledge_base(home):
        return [*findings, make_bad_finding("knowledge base", f"none in {home}", init_command(home))]
    stores = [*_on_postgresql(settings, home)] if settings.storage.database else [*_check_stores(home)]
    embedder = next((one for one in findings if one["name"] == EMBEDDER), None)
    findings += [*stores, *_check_profiles(home, settings.profile)]
    # Opening a damaged store would only report the same in other words; and without the embedding model the vectors
    # cannot be checked.
    if embedder is not None and not embedder["ok"]:
        return [*findings, make_good_finding("index", "not looked at: it needs the embedding model")]
    if not any(finding["name"] in _KEEP_IT_SHUT for finding in stores if not finding["ok"]):
        findings += _check_inside(home, settings)
    return findings


def _on_postgresql(settings: Settings, home: Path) -> Iterator[Finding]:
    try:
        from argot.service.maintenance.postgresql_checks import check_postgresql
    except ImportError:
        yield make_bad_finding("PostgreSQL", "its packages are not installed", install_command("postgresql"))
        return
    yield from check_postgresql(settings.storage.database, settings.storage.schema_name, home)


def _ask_service(home: Path) -> list[Finding]:
    """Ask the service that has the knowledge base open for findings of its own process; none if there is none."""
    from argot.service.transport.knowledge_base_client import SocketClient
    from argot.service.usecases.operations.monitoring import doctor_findings

    owner = read_owner(home)
    if owner is None or not owner.socket:
        return []
    # Its settings count, not this command's, which may run with other variables or in another folder.
    running = make_good_finding("service", f"runs as process {owner.pid}; the settings shown are its own")
    try:
        return [running, *SocketClient(Path(owner.socket)).call(doctor_findings)]
    except (OSError, ArgotError):
        return []


def _restore(home: Path) -> Iterator[Finding]:
    """Completes a restore that was cut off, or takes it back, before the stores are looked at."""
    try:
        if remark := finish_interrupted_restore(home):
            yield make_good_finding("restore", remark)
    except KnowledgeBaseBusy as busy:
        yield make_good_finding("restore", f"in progress: {busy}")


def _check_adopted(home: Path, settings: Settings) -> Iterator[Finding]:
    """Look at the models that the knowledge base goes by, and at those that a setting keeps from it."""
    try:
        adopted = read_adopted(home)
    except DamagedStore as error:
        yield make_bad_finding(
            "adopted models", str(error), f"mv {quote_shell(home / FILE)} {quote_shell(home / FILE)}.damaged"
        )
        return
    for kind in MODEL_KINDS:
        if (model := adopted.in_force(kind)) is None:
            continue
        name, detail = f"adopted {kind}", f"{model.name} ({model.run}), since {model.at}"
        setting = "model" if kind == "generator" else SETTING_OF[kind]
        # The adoption says under which name the model server has to serve a generator: its run's, or Argot's own.
        is_named = kind == "generator" and settings.flatten()["model"] in ("", model.run, "argot")
        if setting in settings.flatten(only_given=True) and not is_named:
            yield make_good_finding(
                name, f"{detail}; not in force: the setting '{setting}' is {settings.flatten()[setting]!r}, and wins"
            )
        elif not find_model_path(home, model).is_dir():
            remedy = f"argot learn back {kind}, or restore a backup that has it"
            yield make_bad_finding(name, f"{detail}: its folder {find_model_path(home, model)} is gone", remedy)
        else:
            yield make_good_finding(name, detail)


def _check_stores(home: Path) -> Iterator[Finding]:
    """Every page of every SQLite store; a running service may go on meanwhile."""
    yield check_by(layout.MARKER, lambda: _check_marker(home))
    for name in layout.DATABASES:
        path = home / name

        def look(path: Path = path) -> str:
            check_database(path, thoroughly=True)
            return f"sound, {path.stat().st_size / 1e6:.1f} MB" if path.exists() else "not needed yet"

        yield check_by(name, look)
    try:
        yield from check_wings_of_folder(home)
    except sqlite3.DatabaseError:
        # Said of people.db already.
        return


def _check_marker(home: Path) -> str:
    layout.require(home)
    return f"format {layout.FORMAT}" if (home / layout.MARKER).exists() else "missing; nothing needs it"


def _check_profiles(home: Path, in_force: str) -> Iterator[Finding]:
    """Check the saved profiles, which may have been edited by hand, and that the one of the settings exists."""
    saved = SavedProfiles(home)
    names = saved.names()
    for name in names:
        try:
            saved.find(name)
        except InvalidSettings as error:
            remedy = f"correct the file, or: argot profile remove {name} --home {quote_shell(home)}"
            yield make_bad_finding(f"profile {name}", str(error), remedy)
    if in_force not in names:
        yield from _check_profile_in_force(saved, in_force)
    for path in saved.list_ignored():
        reason = "a built-in profile has its name" if path.stem in PROFILES else "no profile can have its name"
        remedy = "give the file another name, of small letters, digits and hyphens, e.g. lab-notes.toml"
        yield make_bad_finding(f"profile {path.stem}", f"{path} is never read: {reason}", remedy)
    yield make_good_finding("profiles", f"{len(names)} saved")


def _check_profile_in_force(saved: SavedProfiles, name: str) -> Iterator[Finding]:
    try:
        saved.find(name)
    except InvalidSettings as error:
        yield make_bad_finding(f"profile {name}", str(error), "set ARGOT_PROFILE to one of these")


def _check_inside(home: Path, settings: Settings) -> list[Finding]:
    """Check as only the owner can whether documents, keyword index and vectors fit together."""
    from argot.service.transport.knowledge_base_client import connect

    try:
        with connect(home, settings) as client:
            problems, advice = client.call(check), client.call(language_advice)
    except KnowledgeBaseBusy as busy:
        return [make_good_finding("index", f"not looked at: {busy}")]
    except Exception as error:  # whatever the error is, doctor reports its findings so far
        detail = str(error) if isinstance(error, ArgotError) else f"{type(error).__name__}: {error}"
        return [make_bad_finding("index", detail, reindex_command(home))]
    found = [make_bad_finding("index", one.message, one.remedy or reindex_command(home)) for one in problems]
    # Advice is no problem: searching in one language works.
    languages = [make_good_finding("languages", advice.text)] if advice.text else []
    return [*(found or [make_good_finding("index", "complete")]), *languages]
