"""The dependencies of Argot: listed with their licences, newer than known vulnerabilities, never made to run data."""

import re
import subprocess
import tomllib
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from repository import ROOT

PAST_FAULTS = {
    "chainlit": "2.9.4",  # CVE-2026-22218 reads files, CVE-2026-22219 asks other servers
    "langgraph": "1.0.10",
    "langgraph-checkpoint": "4.0.1",
    "langgraph-checkpoint-sqlite": "3.0.1",
    "langchain-core": "1.2.5",
    "pdfminer-six": "20251230",  # unpickles character maps
    "lxml": "6.1.0",
    "jinja2": "3.1.6",
    "python-multipart": "0.0.18",
}


def direct() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    given = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    return sorted({Requirement(one).name for one in given if not one.startswith("argot")})


def listed() -> dict[str, str]:
    """Return the licence of each package in the table of docs/dependencies.md."""
    found = {}
    for line in (ROOT / "docs" / "dependencies.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 3 and cells[0] != "Package":
            names, licences = cells[0].split(", "), cells[1].split(", ")
            found |= {name: licences[min(n, len(licences) - 1)] for n, name in enumerate(names)}
    return found


def test_the_dependency_table_lists_every_package_and_no_other() -> None:
    assert sorted(listed()) == sorted([*direct(), "torch"])


@pytest.mark.parametrize("name", direct())
def test_the_licence_of_every_package_is_permissive(name: str) -> None:
    """Check the licence that the package itself declares, or else the title of the one that it carries.

    docutils' GPL part is an editor mode, hypothesis only tests, and psycopg is a library that its own extra installs
    unchanged, which the LGPL asks for.
    """
    try:
        declared = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed here")
    texts = [declared.get("License-Expression") or "", (declared.get("License") or "").partition("\n")[0]]
    texts += [one for one in declared.get_all("Classifier") or [] if one.startswith("License")]
    if not any(texts):
        files = metadata.files(name) or []
        held = [one.read_text("utf-8") for one in files if one.name == "LICENSE"]
        texts += [one.partition("\n")[0] for one in held]
        # Some leave out the title of this one.
        texts += ["MIT" for one in held if "Permission is hereby granted, free of charge, to any person" in one]
    found = set(
        re.findall(r"\b(MIT|Apache|BSD|PSF|Python Software Foundation|[AL]?GPL|MPL|SSPL|BUSL)\b", " ".join(texts))
    )
    copyleft = found & {"GPL", "AGPL", "LGPL", "MPL", "SSPL", "BUSL"}
    assert found, texts
    known = {"docutils": {"GPL"}, "hypothesis": {"MPL"}, "psycopg": {"LGPL"}, "psycopg-pool": {"LGPL"}}
    assert copyleft == known.get(name, set())


def test_pinned_versions_are_newer_than_known_vulnerabilities() -> None:
    pinned = dict(
        re.findall(r"^([A-Za-z0-9._-]+)==([^\s;+]+)", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    )
    pinned = {re.sub(r"[._-]+", "-", name).casefold(): version for name, version in pinned.items()}
    assert {n: pinned[n] for n, least in PAST_FAULTS.items() if Version(pinned[n]) < Version(least)} == {}


def test_no_code_executes_data_that_it_reads() -> None:
    command = ["git", "ls-files", "*.py"]
    files = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True).stdout.split()
    sources = [ROOT / name for name in files if not name.startswith("tests/")] or [
        path
        for folder in ("argot", "corpus", "graph", "jargon_db", "service", "tools", "ui", "evaluate", "learn", "work")
        for path in (ROOT / folder).rglob("*.py")
    ]  # fmt: skip
    forbidden = re.compile(
        r"trust_remote_code\s*=\s*True|\bimport pickle\b|\bpickle\.loads?\b|\byaml\.(?:unsafe_)?load\(|shell=True"
        r"|\b(?<![.\w])(?:eval|exec)\(|torch\.load\(|verify=False|pickle_fallback=True"
    )
    assert len(sources) > 100
    found = [f"{path.name}: {hit}" for path in sources for hit in forbidden.findall(path.read_text("utf-8"))]
    assert found == []
