"""Names in the documents exist in the code: commands, settings, files, addresses, metrics, profiles."""

import ast
import csv
import inspect
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main
from repository import ROOT

from argot.profile import PROFILES, Profile
from argot.service.observability.metrics import STATUSES, SURFACES, Metrics
from argot.settings import SETTING_FIELDS, Settings, list_valid_names
from argot.ui.api import openapi
from argot.ui.api.api_routes import build_api_routes
from argot.ui.cli.main import app
from argot.wings import NAMES

PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "bench" / "laboratory").glob("*.md")),
    *sorted(page for page in ROOT.glob("*/**/README.md") if page.relative_to(ROOT).parts[0] in (*NAMES, "samples")),
]
UNITS = sorted((ROOT / "deploy" / "systemd").iterdir())
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def text(path: Path) -> str:
    return path.read_text("utf-8")


def without_blocks(path: Path) -> str:
    return FENCE.sub("", text(path))


def in_code(path: Path) -> list[str]:
    """Return the code spans of sentences and tables, each on one line."""
    spans = re.findall(r"`([^`]+)`", without_blocks(path))
    return [" ".join(span.replace(r"\|", "|").split()) for span in spans]


# -- commands ---------------------------------------------------------------------------------------------------------


@cache
def command_line() -> Any:
    return typer.main.get_command(app)


def typed(path: Path) -> Iterator[list[str]]:
    """Yield every `argot ...` of the page's shell blocks as split by the shell, up to a pipe or a redirection."""
    for language, block in FENCE.findall(text(path)):
        if language not in ("", "bash"):
            continue
        for line in block.replace("\\\n", "").splitlines():
            yield from commands_of(line.strip().removeprefix("$ "))


def commands_of(line: str) -> Iterator[list[str]]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # prose of an example's output
        return
    where = next(
        (n for n, word in enumerate(words) if re.fullmatch(r"(.*/)?argot", word) and words[n - 1] != "-u"), None
    )
    if where is None or not all("=" in word or word in ("sudo", "-u", "argot") for word in words[:where]):
        return
    ends = [n for n, word in enumerate(words) if word in ("|", ">", "&&", ";")]
    yield words[where + 1 : min(ends, default=len(words))]


def parsed(words: list[str]) -> str:
    """Return the command line's error for these words, or ""; the command itself is not run."""
    command = command_line()
    context = command.context_class(command, info_name="argot")
    rest = list(words)
    while hasattr(command, "commands"):
        if not rest or rest[0].startswith("-"):
            return ""
        if rest[0] not in command.commands:
            return f"there is no command {rest[0]}"
        command = command.commands[rest.pop(0)]
        if hasattr(command, "commands"):
            context = command.context_class(command, parent=context, info_name=command.name)
    try:
        command.make_context(command.name, rest, parent=context)
    except Exception as error:  # typer's own copy of click raises its usage errors
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_shell_block_is_valid(page: Path) -> None:
    refused = {shlex.join(words): parsed(words) for words in typed(page)}
    assert {command: why for command, why in refused.items() if why} == {}


def test_commands_are_found_in_pages_and_wrong_ones_are_detected() -> None:
    assert sum(len(list(typed(page))) for page in PAGES) > 80
    assert list(commands_of("sudo -u argot ARGOT_HOME=kb /opt/argot/.venv/bin/argot list | cat")) == [["list"]]
    assert list(commands_of("what argot says")) == []
    assert parsed(["ask", "--no-such-thing", "x"])
    assert parsed(["glossary", "frobnicate"])
    assert not parsed(["glossary", "approve", "17"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_and_option_named_in_a_sentence_exists(page: Path) -> None:
    wrong = [span for span in in_code(page) if span.startswith("argot ") and not is_named_rightly(span)]
    assert wrong == []


def is_named_rightly(span: str) -> bool:
    command = command_line()
    for word in span.split()[1:]:
        if not hasattr(command, "commands") or word.startswith("-") or word.isupper():
            break
        if word not in command.commands:
            return False
        command = command.commands[word]
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)} | {"--help"}
    return {word.split("=")[0] for word in re.findall(r"(?<= )--[a-z][a-z-]*", span)} <= known


def test_every_option_in_the_table_belongs_to_its_command() -> None:
    rows = re.findall(r"^\| `(argot [^`]+)` \| (.*)\|$", text(ROOT / "docs" / "command-line.md"), re.MULTILINE)
    assert len(rows) > 60
    for name, said in rows:
        options = " ".join(re.findall(r"--[a-z][a-z-]*", said))
        base = re.split(r" [A-Z\[]", name)[0]
        assert is_named_rightly(f"{base} {options}"), f"{base}: {options}"


def each_command(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
    for part, sub in getattr(command, "commands", {}).items():
        yield from each_command(f"{name} {part}", sub)


@pytest.mark.parametrize(("name", "command"), list(each_command("argot", command_line())))
def test_the_examples_of_a_help_text_are_valid_commands(name: str, command: Any) -> None:
    for line in command.epilog.splitlines():
        for words in commands_of(line.strip()):
            assert not parsed(words), f"{name}: {line}"


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_commands_of_the_systemd_units_exist(unit: Path) -> None:
    for said in re.findall(r"bin/argot ([a-z][^\n']*)", text(unit)):
        assert is_named_rightly(f"argot {said}"), said


# -- messages ---------------------------------------------------------------------------------------------------------


def test_no_message_installs_argot_from_the_package_index() -> None:
    """Check all messages and pages, since another project has that name there; extras use Argot's own Python."""
    fetches = re.compile(r"(?<!-m )pip install [^\n]*(?<![\w/])argot(?![\w-])")
    found = []
    for path in [
        path for folder in ("argot", "service", "ui", "work", "jargon_db", "corpus") for path in modules(folder)
    ]:
        for node in ast.walk(ast.parse(text(path))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and fetches.search(node.value):
                found.append(f"{path.relative_to(ROOT)}: {node.value[:80]}")
    found += [page.name for page in PAGES if fetches.search(text(page))]
    assert found == []
    assert fetches.search("pip install -U argot")
    assert fetches.search("pip install 'argot[chat,slack]'")


def modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


# -- settings, files, links -------------------------------------------------------------------------------------------


def test_every_setting_is_documented_and_no_unknown_one_is() -> None:
    pages = "\n".join(text(page) for page in PAGES if page.name != "CHANGELOG.md")
    beside = "\n".join(text(path) for path in (ROOT / "deploy").rglob("*") if path.is_file())
    named = {name.lower() for name in re.findall(r"ARGOT_([A-Z][A-Z_]*[A-Z])", pages + beside)}
    assert named - set(list_valid_names()) == set()
    assert {name for name in list_valid_names() if name not in named and f"`{name}`" not in pages} == set()


def test_every_setting_has_a_description() -> None:
    """Check it, since an invalid value is reported with the description."""
    assert [name for name, field in SETTING_FIELDS.items() if not field.description] == []


def test_the_defaults_in_the_builders_table_are_correct() -> None:
    rows = re.findall(r"^\| (`ARGOT_[^|]*) \| ([^|]*) \|", text(ROOT / "docs" / "builders.md"), re.MULTILINE)
    pairs = [pair for names, said in rows for pair in zip(names.split(", "), said.split(", "), strict=True)]
    compared = 0
    for name, said in pairs:
        default = SETTING_FIELDS[name.strip("`").removeprefix("ARGOT_").lower()].default
        value = said.strip("`")
        if isinstance(default, int | float) and re.fullmatch(r"[\d,.]+", value):
            assert float(value.replace(",", "")) == default, name
            compared += 1
        elif isinstance(default, str) and default:
            assert value == default, name
            compared += 1
    assert compared > 12


def anchors(page: Path) -> set[str]:
    """Return the anchors that Markdown sites make from headings."""
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in HEADING.findall(without_blocks(page)))
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_has_an_existing_target(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_repository_file_that_is_named_exists(page: Path) -> None:
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    for named in re.findall(
        r"(?<![\w./-])([a-z_]+/[\w./*-]+\.(?:py|md|sh|yaml|service|timer|txt|js|json))\b", text(page)
    ):
        if named.split("/")[0] in folders - {"specs"}:
            assert list(ROOT.glob(named)) or list(page.parent.glob(named)), named


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", text(ROOT / "Makefile"), re.MULTILINE))
    typed_lines = "\n".join(block for page in PAGES for _, block in FENCE.findall(text(page)))
    spans = "\n".join(span for page in PAGES for span in in_code(page))
    named = set(re.findall(r"(?:^|&& )make ([a-z][a-z-]*)", f"{typed_lines}\n{spans}", re.MULTILINE))
    assert {"chat", "test", "model-server"} <= named <= targets


def test_the_readme_stays_short() -> None:
    assert len(text(ROOT / "README.md").splitlines()) < 150


def test_the_changelog_of_a_version_stays_short() -> None:
    sections = re.split(r"^(?=## )", text(ROOT / "CHANGELOG.md"), flags=re.MULTILINE)[1:]
    assert len(sections) > 4
    assert [one.splitlines()[0] for one in sections if len(one.strip().splitlines()) > 40] == []


# -- addresses, metrics, profiles -------------------------------------------------------------------------------------


class _Alone:
    """A stand-in for the service, with all that describing the routes needs."""

    settings = Settings()


def test_every_address_that_is_named_is_served() -> None:
    known = set(openapi.build_document(build_api_routes(_Alone()).routes)["paths"])  # type: ignore[arg-type]
    sources = "\n".join(text(path) for path in modules("ui"))
    spans = {span for page in PAGES for span in in_code(page)}
    named = {one for span in spans for one in re.findall(r"(?:^|(?<=GET )|(?<=POST ))/[a-z][\w{}/.-]*", span)}
    assert len(named) > 20
    for address in named:
        if re.match(r"/(?:api|v1)/", address) and address not in OURS:
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(address.rstrip("/.")))
            assert any(re.fullmatch(pattern + "(/.*)?", path) for path in known), address
        elif address in OURS:
            assert re.search(rf'"{address}["/]', sources), address


OURS = {
    "/health", "/ready", "/metrics", "/account", "/people", "/glossary", "/documents", "/library", "/insight",
    "/administration", "/slack/events", "/api/openapi.json",
}  # fmt: skip


def test_the_operations_page_lists_the_served_metrics() -> None:
    page = text(ROOT / "docs" / "operations.md")
    served = set(re.findall(r"^# TYPE (\w+)", Metrics().text().decode(), re.MULTILINE))
    ours = {name for name in served if name.startswith("argot_") and not name.endswith("_created")}
    assert set(re.findall(r"`(argot_\w+)", page)) == ours
    row = re.search(r"status \(([^)]*)\)", page)
    assert row and set(row[1].split(", ")) == STATUSES
    surfaces = re.search(r"`surface` is ([^.]*)\.", page)
    assert surfaces and set(re.split(r", | or ", surfaces[1])) == SURFACES


def test_every_profile_and_profile_switch_is_described() -> None:
    journey, builders = text(ROOT / "docs" / "journey.md"), text(ROOT / "docs" / "builders.md")
    switches = {name for name, field in Profile.model_fields.items() if field.annotation is bool}
    assert {name for name in switches if f"`{name}`" not in journey} == set()
    for name in PROFILES:
        assert f"`{name}`" in journey
        assert f"`{name}`" in builders


def test_the_tree_of_errors_holds_every_error_class() -> None:
    from argot import errors

    drawn = set(re.findall(r"^(?:[│├└─ ]*)(\w+)(?: {2}|$)", errors.__doc__ or "", re.MULTILINE)) - {""}
    classes = {name for name, one in inspect.getmembers(errors, inspect.isclass) if issubclass(one, Exception)}
    assert classes <= drawn


def test_the_stated_numbers_of_samples_are_correct() -> None:
    samples = ROOT / "samples"
    questions = len(text(samples / "questions.jsonl").splitlines())
    documents = sum(path.is_file() for path in (samples / "documents").rglob("*"))
    assert f"{questions} questions" in text(ROOT / "README.md")
    assert f"There are {questions} questions" in text(samples / "README.md")
    assert f"{documents} documents" in text(samples / "README.md")


def test_commands_name_contexts_of_the_samples() -> None:
    with (ROOT / "samples" / "contexts.csv").open(encoding="utf-8", newline="") as file:
        known = {row["name"] for row in csv.DictReader(file)}
    lines = text(ROOT / "docs" / "administrators.md").splitlines()
    named = [shlex.split(line, comments=True) for line in lines if re.match(r"argot .*--manages ", line)]
    assert named
    assert {words[words.index("--manages") + 1] for words in named} <= known
