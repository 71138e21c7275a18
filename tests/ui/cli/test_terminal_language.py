"""The language of the terminal: what everybody's commands print, and their errors."""

import ast
import errno
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from repository import ROOT
from terminal import set_terminal

from argot.languages.catalogues import page_language, speak, translate
from argot.ui.cli import main as cli
from argot.ui.cli.command_base import print_table
from argot.ui.cli.main import main
from argot.ui.cli.terminal_language import choose_terminal_language, translate_usage_line


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "de"),
        ({"LANG": "de_DE.UTF-8", "LC_MESSAGES": "fr_FR"}, "fr"),
        ({"LC_ALL": "C.UTF-8", "LANG": "de_DE.UTF-8", "LANGUAGE": "de"}, "en"),
        ({"LANG": "en_US.UTF-8", "LANGUAGE": "es:de"}, "es"),
        ({"LANG": "it_IT.UTF-8"}, "en"),
    ],
)
def test_the_language_is_read_as_gettext_reads_it(environment: dict[str, str], language: str) -> None:
    assert choose_terminal_language(environment) == language


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ask", "x"), "ist keine Wissensbasis. Legen Sie eine an mit: argot init"),
        (("add", ""), "Es wurde ein leerer Pfad angegeben."),
        (("add", "a.md", "https://example.org"), "Geben Sie entweder Pfade oder Webadressen an"),
        (("glossary", "import", "gone.csv"), "gone.csv kann nicht gelesen werden: Datei oder Ordner nicht gefunden."),
    ],
)
def test_a_terminal_in_german_gets_german_errors(
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    set_terminal(monkeypatch, ARGOT_HOME=str(tmp_path / "kb"))
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    assert ended.value.code == 1 and said in capsys.readouterr().err
    assert page_language.get() == "en"


def test_what_is_told_beside_an_addition_is_in_the_language_of_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_terminal(monkeypatch, ARGOT_HOME=str(tmp_path / "kb"))
    sent = tmp_path / "sent"
    (sent / "below").mkdir(parents=True)
    (sent / "pump.md").write_text("# Die Pumpe\n\nDie Pumpe ist alt, und der Motor wird im Herbst ersetzt.\n", "utf-8")
    (sent / "pump.xyz").write_text("x", "utf-8")
    (sent / "link").symlink_to(sent / "below")
    with pytest.raises(SystemExit) as ended:
        main(["add", str(sent)])
    told = capsys.readouterr().err
    assert ended.value.code in (0, None)
    assert "übersprungen: pump.xyz: unbekannte Art von Datei (.xyz)" in told
    assert re.search(r"übersprungen: link: ein Link auf einen Ordner[,;] \w+", told) and "a link" not in told
    assert "Es gibt Texte auf Deutsch." in told, told


@pytest.mark.parametrize(("is_terminal", "shown"), [(True, "Entwurf"), (False, "draft")])
def test_the_words_of_a_table_are_german_on_a_terminal_and_english_in_a_pipe(
    is_terminal: bool, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal)
    with speak("de"):
        print_table(["name", "status"], lambda: [["draft", translate("draft")]])
    assert capsys.readouterr().out.split()[-2:] == ["draft", shown]


@pytest.mark.parametrize(
    ("arguments", "english", "german"),
    [
        (("ask",), "Error: Missing argument 'question'.", "Fehler: Das Argument 'question' fehlt."),
        (("asks",), "No such command 'asks'. Did you mean 'ask'?", "keinen Befehl 'asks'. Meinten Sie 'ask'?"),
        (("ask", "--profil", "x"), "No such option: --profil (Possible", "keine Option --profil (möglich sind: "),
        (("add", "--tag"), "Option '--tag' requires an argument.", "Die Option '--tag' braucht einen Wert."),
        (("serve", "--port", "x"), "Invalid value for '--port': Input", "Es muss eine ganze Zahl sein"),
        (("derive",), "Invalid value: give one of --kind", "Ungültiger Wert: geben Sie entweder --kind KIND, --status"),
        (
            ("derive", "--kind", "x"),
            "'--kind': Unknown kind 'x'. Kinds: ",
            "Wert für '--kind': Unbekannte Art „x“. Arten: ",
        ),
        (("source", "add", "/a", "--with", "b"), "'b' is not written as KEY=VALUE", "„b“ ist nicht als KEY=VALUE"),
        (("ask", "a", "b"), "Got unexpected extra argument(s) (b)", "Fehler: Zu viele Argumente: b"),
        (("ask", "--json=3", "x"), "'--json' does not take a value.", "Die Option '--json' nimmt keinen Wert."),
    ],
)
def test_a_wrong_command_line_is_explained_in_the_language_of_the_terminal(
    arguments: tuple[str, ...],
    english: str,
    german: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = []
    for locale, said, usage in (("C", english, "Usage: argot"), ("de_DE.UTF-8", german, "Aufruf: argot")):
        set_terminal(monkeypatch, locale)
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        shown = capsys.readouterr().err
        assert (ended.value.code, said in shown) == (2, True), shown
        told.append(usage in shown)
    assert told[0] == told[1]


def test_what_the_system_says_is_in_the_language_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "/kb")

    monkeypatch.setattr(cli, "_build_command", refuse)
    set_terminal(monkeypatch)
    with pytest.raises(SystemExit):
        main(["list"])
    assert "Das System hat abgelehnt: /kb: Zugriff verweigert. " in capsys.readouterr().err


def test_a_reason_with_a_colon_does_not_change_where_the_name_of_an_option_ends() -> None:
    with speak("fr"):
        said = translate_usage_line("Error: Invalid value for '--kind': Type inconnu « x ». Types : a, b.")
    assert said == "Erreur : Valeur non valable pour '--kind' : Type inconnu « x ». Types : a, b."


def test_success_ends_alike_in_every_language(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = []
    for locale in ("C", "de_DE.UTF-8"):
        monkeypatch.setenv("LC_ALL", locale)
        with pytest.raises(SystemExit) as ended:
            main(["--version"])
        assert ended.value.code in (0, None)
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] != ""


@pytest.mark.parametrize(
    ("locale", "said"),
    [
        ("C", ["Usage: argot add", "Add documents.", "Arguments:", "[required]", "Show this message", "Examples:"]),
        (
            "de_DE.UTF-8",
            ["Aufruf: argot add", "Dokumente hinzufügen.", "Argumente:", "[erforderlich]", "Diese Hilfe", "Beispiele:"],
        ),
        (
            "fr_FR.UTF-8",
            ["Utilisation : argot add", "Ajouter des", "Options:", "[requis]", "Afficher cette aide", "Exemples :"],
        ),
        ("es_ES.UTF-8", ["Uso: argot add", "Añadir documentos.", "Opciones:", "[obligatorio]", "Mostrar", "Ejemplos:"]),
    ],
)
def test_help_is_in_the_language_of_the_terminal(
    locale: str, said: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_terminal(monkeypatch, locale, COLUMNS="100")
    with pytest.raises(SystemExit) as ended:
        main(["add", "--help"])
    shown = capsys.readouterr().out
    assert ended.value.code in (0, None) and [one for one in said if one not in shown] == [], shown
    assert "argot add hr/ --audience hr" in shown and "--follow-links" in shown


@pytest.mark.parametrize(("locale", "said"), [("C", "Ask a question."), ("de_DE.UTF-8", "Eine Frage stellen.")])
def test_the_list_of_commands_is_in_the_language_of_the_terminal(
    locale: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_terminal(monkeypatch, locale)
    with pytest.raises(SystemExit):
        main(["--help"])
    assert f"  ask        {said}" in capsys.readouterr().out


def test_what_typer_adds_to_the_help_of_an_option_is_translated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_terminal(monkeypatch, COLUMNS="160")
    with pytest.raises(SystemExit):
        main(["terms", "check", "--help"])
    shown = capsys.readouterr().out
    assert "[Vorgabe: warning]" in shown and "[default" not in shown


BAD_ROWS = "term,context,expansion\nABC,Lager,\n,Lager,x\n*,*,y\n"


@pytest.mark.parametrize(
    ("locale", "said"),
    [
        (
            "C",
            ["row 2: 'ABC' has neither an expansion", "row 3: it names no term", "nothing was imported, for"],
        ),
        ("de_DE.UTF-8", ["Zeile 2: 'ABC' hat weder", "Zeile 3: sie nennt keinen Begriff", "Nichts wurde importiert."]),
        ("fr_FR.UTF-8", ["ligne 2: 'ABC' n’a ni forme", "ligne 3: elle ne nomme aucun terme", "rien n’a été importé."]),
        ("es_ES.UTF-8", ["fila 2: 'ABC' no tiene ni forma", "fila 3: no nombra ningún", "no se ha importado nada."]),
    ],
)
def test_rows_of_a_list_are_refused_in_the_language_of_the_terminal(
    locale: str,
    said: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    good = BAD_ROWS.replace("*,*,y", "QS,Lager,Qualität")
    for name, text in {"bad.csv": BAD_ROWS, "partly.csv": good}.items():
        Path(name).write_text(text, "utf-8")
    set_terminal(monkeypatch, locale, ARGOT_HOME=str(tmp_path / "kb"))
    shown = ""
    for name in ("bad.csv", "partly.csv"):
        with pytest.raises(SystemExit):
            main(["glossary", "import", name])
        shown += capsys.readouterr().err
    assert [one for one in said if one not in shown] == [], shown


COMMAND_FOLDERS = ("ui/cli", "learn/commands", "ratings", "slack", "evaluate/commands", "evaluate/experiments")
PRINTERS = {"say", "say_aside", "say_faintly", "_fail", "prompt"}
NOT_TRANSLATED = {
    "argot …": "the version",
    "argot: …": "the name of the command before an error",
    "@@ line …": "a patch",
}
"""Texts that commands print as they are, each with the reason."""


def list_printed_texts(source: str) -> Iterator[str]:
    """Yield the texts with words that a module's commands print, but do not translate. "…" stands for a value."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) in PRINTERS:
            for text in list_plain_texts(call.args[0] if call.args else call):
                if re.search(r"[^\W\d_]{2,}", re.sub(r"^ *argot [a-z]+ .*", "", text)):
                    yield text


def list_plain_texts(shown: ast.expr) -> Iterator[str]:
    """Yield the texts of an expression, without those that a call in it translates or takes as keys."""
    match shown:
        case ast.JoinedStr(values=values):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in values)
        case ast.Constant(value=str() as text):
            yield text
        case ast.IfExp(body=one, orelse=other):
            yield from list_plain_texts(one)
            yield from list_plain_texts(other)
        case ast.BinOp(left=one, right=other):
            yield from list_plain_texts(one)
            yield from list_plain_texts(other)
        case ast.BoolOp(values=parts):
            for part in parts:
                yield from list_plain_texts(part)


def test_every_line_that_a_command_prints_is_translated() -> None:
    paths = sorted(path for folder in COMMAND_FOLDERS for path in (ROOT / folder).glob("*.py"))
    texts = {path.name: set(list_printed_texts(path.read_text("utf-8"))) for path in paths}
    outside = {name: left for name, some in texts.items() if (left := some - NOT_TRANSLATED.keys())}
    assert outside == {}


def test_a_line_outside_the_catalogues_is_found() -> None:
    source = (
        'say(f"Removed {name}")\nsay(translate("Kept %(name)s", name=name) if name else "No such")\nsay(f"{a}: {b}")'
    )
    assert sorted(list_printed_texts(source)) == ["No such", "Removed …"]
