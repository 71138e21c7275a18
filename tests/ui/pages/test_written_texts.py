"""Tests of texts that were written in English and are recognised where people read them."""

import ast
import re
from functools import cache

import httpx
import pytest
from repository import ROOT

from argot import errors
from argot.corpus.read_limits import ReadLimits
from argot.errors import InvalidInput, InvalidSettings, UnreadableDocument
from argot.graph.presentation.model_troubles import CLAUSES, translate_model_error, translate_trouble
from argot.graph.presentation.progress import write_call_step, write_settled_step
from argot.jargon_db.store.conflict_rules import ConflictEntry, find_conflicts_among, find_conflicts_of
from argot.languages.catalogues import read_catalogue, speak
from argot.languages.written_texts import find_template, translate_written
from argot.service.usecases.documents.read_faults import translate_read_fault
from argot.service.usecases.glossary import import_texts
from argot.service.usecases.glossary.warning_texts import MESSAGES, translate_warning
from argot.service.usecases.people.api_keys import key_add
from argot.settings import Settings, load_settings
from argot.tools.llm import completion, faults, model_client, session
from argot.tools.llm.address import parse_address
from argot.tools.llm.limits import BodyTooLarge
from argot.ui.translation.page_errors import load_error_templates, translate_error

FOLDERS = ("jargon_db", "service", "corpus", "ui", "argot", "graph", "tools", "work", "slack", "ratings")
ERROR_KINDS = {
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.ArgotError)
} - {"MissingExtra", "UnreadableDocument", "NoText", "InvalidGlossary"}
"""The errors that are made from a whole message; the others compose theirs from parts."""
FOR_PROGRAMS = {
    "ui/api/mcp_tools.py": "for assistants",
    "ui/api/retriever.py": "for who writes a program with it",
    "ui/api/scim_body.py": "for an identity provider",
    "ui/api/scim_routes.py": "for an identity provider",
    "service/identity/provisioned.py": "for an identity provider",
    "service/sign_in/provisioning.py": "for an identity provider",
    "service/usecases/catalogue.py": "for who calls a use case by its name",
    "service/usecases/questions/conversations.py": "for programs that speak OpenAI's protocol",
    "service/transport/local_socket.py": "between two processes of Argot",
}
"""Modules whose errors no person reads, each with who does."""
ENGLISH_ERRORS = {
    "Invalid parameters for '…': ….…": "said with pydantic's reasons in the language (`validation_texts.py`)",
    "…:\n…": "the problems of a file of servers, as pydantic words them",
    "The language model server ….": "an answer says it in its own words (`graph/presentation/model_troubles.py`)",
    "There is no button '…'.": "only a tampered message has another one",
}
"""Texts of errors that stay in English, each with the reason."""
STATUSES = (300, 401, 404, 413, 418, 429, 500, 501, 503, 700)


@cache
def list_written_patterns() -> list[tuple[int, re.Pattern[str]]]:
    """List the patterns of the texts that modules write, each with the number of characters that it fixes."""
    found = []
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        if path.name in ("page_errors.py", "terminal_language.py", "warning_texts.py", "import_texts.py"):
            continue
        for one in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(one, ast.JoinedStr):
                parts = [part.value if isinstance(part, ast.Constant) else None for part in one.values]
            elif isinstance(one, ast.Constant) and isinstance(one.value, str) and " " in one.value:
                # What is filled in by `replace` or `format`: the labels of jobs.
                parts = re.split(r"(\{\w+\})", one.value)
                parts = [None if at % 2 else text for at, text in enumerate(parts)]
            else:
                continue
            fixed = [str(part) for part in parts if part is not None]
            pattern = "".join(".*" if part is None else re.escape(str(part)) for part in parts)
            found.append((len("".join(fixed)), re.compile(pattern, re.DOTALL)))
    return found


@pytest.mark.parametrize("template", [*load_error_templates(), *MESSAGES, *import_texts.REASONS])
def test_every_text_that_is_recognised_is_written_somewhere(template: str) -> None:
    text = re.sub(r"%\(\w+\)s", "…", template)
    # The reasons of rows may end with a rule that is written apart.
    enough = len(text.replace("…", "")) // (5 if template in import_texts.REASONS else 3)
    # Pages leave the command out.
    texts = (text, f"{text} …")
    assert any(fixed >= enough and any(map(pattern.fullmatch, texts)) for fixed, pattern in list_written_patterns())


def list_error_texts(source: str) -> list[tuple[str, re.Pattern[str]]]:
    """List the texts of the errors that a module makes, "…" for each value, and the pattern of what they may say."""
    tree = ast.parse(source)
    named = {
        target.id: one.value
        for one in tree.body
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    found = []
    for call in (one for one in ast.walk(tree) if isinstance(one, ast.Call) and one.args):
        if not isinstance(call.func, ast.Name) or call.func.id not in ERROR_KINDS:
            continue
        said = call.args[0]
        said = named.get(said.id, said) if isinstance(said, ast.Name) else said
        parts = said.values if isinstance(said, ast.JoinedStr) else [said]
        texts = [part.value if isinstance(part, ast.Constant) else None for part in parts]
        if any(text is not None and re.search(r"[^\W\d_]{2,}", str(text)) for text in texts):
            pattern = "".join(".+" if text is None else re.escape(str(text)) for text in texts)
            shown = "".join("…" if text is None else str(text) for text in texts)
            found.append((shown, re.compile(pattern, re.DOTALL)))
    return found


def test_every_error_that_people_meet_is_recognised() -> None:
    templates = [*load_error_templates(), *(f"{head}\n%(reasons)s" for head in import_texts.HEADS)]
    # A text without values is also found as it is.
    whole = [one.id for one in read_catalogue("de") if isinstance(one.id, str) and "%(" not in one.id]
    known = [re.sub(r"%\(\w+\)s", "…", one) for one in (*templates, *whole)]
    outside = {}
    for path in (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))):
        if (name := str(path.relative_to(ROOT))) in FOR_PROGRAMS:
            continue
        texts = list_error_texts(path.read_text("utf-8"))
        if left := {shown for shown, pattern in texts if not any(map(pattern.fullmatch, known))}:
            outside[name] = left - ENGLISH_ERRORS.keys()
    assert {name: left for name, left in outside.items() if left} == {}


def test_an_error_outside_the_catalogues_is_found() -> None:
    source = """
GONE = "It is gone."
raise NotFound(f"There is no file {name}. {remedy}")
raise Conflict(GONE)
raise InvalidInput(translate("Nothing."))
raise ValueError("Not for people.")
raise InvalidInput(f"{first}: {second}")
"""
    found = list_error_texts(source)
    assert [shown for shown, _ in found] == ["There is no file …. …", "It is gone."]
    assert found[0][1].fullmatch("There is no file x. Give another.") and not found[1][1].fullmatch("It is.")


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_every_recognised_error_is_said_with_its_values_in_the_language(language: str) -> None:
    for template in load_error_templates():
        names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", template)))
        text = template % {name: f"<{number}>" for number, name in enumerate(names)} if names else template
        with speak(language):
            said = translate_error(InvalidInput(text))
        assert said != text and all(f"<{number}>" in said for number in range(len(names))), template


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "bob may not do 'user_add': it requires the role 'admin', or the person at this machine.",
            "bob darf „user_add“ nicht ausführen. Nötig ist: die Rolle „admin“, oder die Person an diesem Rechner.",
        ),
        ("Job 3 is done already.", "Der Auftrag 3 ist schon zu Ende (Zustand: fertig)."),
        ("bob is suspended. An administrator can undo it: argot user restore bob", "bob ist gesperrt."),
        (
            "/x/corpus.db cannot be used: database is locked. Wait for the program that has it open, or end that one,"
            " and try again.",
            "Warten Sie auf das Programm, das ihn geöffnet hat, oder beenden Sie es.",
        ),
        ("There is no file argot list.", "Es gibt keine Datei argot list."),
        ("a.json: not JSON (Permission denied).", "a.json: kein JSON (Zugriff verweigert)."),
        ("'user' is the person at this machine. Choose another user name.", "„user“ ist die Person an diesem Rechner."),
    ],
)
def test_texts_within_an_error_are_translated_and_names_are_not(text: str, said: str) -> None:
    assert translate_error(InvalidInput(text)) == text
    with speak("de"):
        assert said in translate_error(InvalidInput(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Setting 'port' (the port to serve on) cannot be 'a': Input should be a valid integer, unable to parse "
            "string as an integer.",
            "Die Einstellung „port“ kann nicht 'a' sein: Es muss eine ganze Zahl sein.",
        ),
        (
            "Invalid parameters for 'key_add': days (0): Input should be greater than or equal to 1; user is empty.",
            "Ungültige Angaben für „key_add“: days (0): Es muss mindestens 1 sein; user ist leer.",
        ),
        (
            "Invalid parameters for 'converse': pictures has 12 entries, and may have 10.",
            "Ungültige Angaben für „converse“: pictures hat 12 Einträge und darf 10 haben.",
        ),
        (
            "Invalid parameters for 'insight': sinse: Extra inputs are not permitted. Its parameters: since, until.",
            "Ungültige Angaben für „insight“: sinse: Diese Angabe gibt es nicht. Mögliche Angaben: since, until.",
        ),
        (
            "rerank cannot be 'x': write on or off.",
            "rerank kann nicht 'x' sein: Schreiben Sie on oder off.",
        ),
    ],
)
def test_pydantics_reasons_are_said_in_the_language(text: str, said: str) -> None:
    with speak("de"):
        assert translate_error(InvalidInput(text)) == said


def test_settings_and_parameters_are_refused_by_reasons_that_are_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOT_PORT", "70000")
    monkeypatch.setenv("ARGOT_RERANKER", "")
    monkeypatch.setenv("ARGOT_MODEL_SECONDS", "nan")
    refused = []
    for give in (load_settings, lambda: key_add.check_parameters({"user": "", "days": 0, "dais": 1})):
        with pytest.raises((InvalidInput, InvalidSettings)) as error:
            give()
        refused.append(str(error.value))
    with speak("es"):
        for text in refused:
            said = translate_error(InvalidInput(text))
            assert len(said.splitlines()) == len(text.splitlines())
            assert not re.search(r"Input|Setting|should|permitted|Invalid|empty", said), said


def test_why_an_import_was_refused_is_said_line_by_line() -> None:
    text = (
        "a.csv: nothing was imported; an import in part leaves these out:\n  row 2: ann does not manage a context 'X';"
        " leave its terms out, or ask who does\n  ... and 3 more"
    )
    with speak("de"):
        lines = translate_error(InvalidInput(text)).splitlines()
    assert lines[0] == "a.csv: Nichts wurde importiert; ein Import in Teilen lässt Folgendes weg:"
    assert lines[1].startswith("  Zeile 2: ann verwaltet keinen Kontext 'X'") and lines[2] == "  ... und 3 weitere"


def make_clauses() -> list[str]:
    """Make clauses of all kinds about a model server, as a call of it does."""
    settings, address = Settings(), parse_address("http://10.0.0.1:8011/v1")
    faults_met: list[Exception] = [
        *(faults.StatusError(status) for status in STATUSES),
        faults.ServerFailed("no"),
        BodyTooLarge(),
        UnicodeError(),
        RecursionError(),
        httpx.ConnectError("no"),
        httpx.ReadTimeout("no"),
        httpx.ProxyError("no"),
        httpx.ReadError("no"),
        faults.WrongAnswer(model_client.COMPRESSION_CLAUSE),
        faults.WrongAnswer(session.LOOPED_CLAUSE),
        faults.WrongAnswer(faults.describe_unserved("m", ["a", "b"])),
        *map(faults.WrongAnswer, completion.EMPTY_REPLY_CLAUSES.values()),
    ]
    return [faults.build_fault(error, settings, address).clause for error in faults_met]


@pytest.mark.parametrize("clause", make_clauses())
def test_what_a_model_server_did_wrong_is_said_in_the_language_of_the_answer(clause: str) -> None:
    template, _ = find_template(clause, CLAUSES)
    assert template and translate_trouble(clause) == clause
    for language in ("de", "fr", "es"):
        with speak(language):
            said = translate_trouble(clause)
            assert said != clause and "%(" not in said
            assert all(value in said for value in re.findall(r"\d{3}|ARGOT_\w+|10\.0\.0\.1", clause))


def test_an_unknown_clause_is_quoted_and_an_error_keeps_its_subject() -> None:
    with speak("de"):
        assert translate_trouble("melted") == "hat nicht geholfen (melted)"
        said = translate_model_error("The vision model server did not answer in time.")
        assert said == "Der Server des Bildmodells hat nicht rechtzeitig geantwortet."
        assert translate_model_error("Something else.") == "Something else."


def test_values_of_a_recognised_text_are_no_templates() -> None:
    with speak("de"):
        assert (
            translate_written("There is no folder %(folder)s %s.", load_error_templates())
            == "Es gibt keinen Ordner %(folder)s %s."
        )
        assert translate_error(InvalidInput("No such text at all.")) == "No such text at all."


def test_every_warning_about_a_sense_is_recognised() -> None:
    def entry(number: int, term: str, context: str, expansion: str, *aliases: str, by: str = "") -> ConflictEntry:
        keys = [(alias, alias.lower()) for alias in aliases]
        owner = "ann" if number % 2 else ""
        return ConflictEntry(number, term, term.lower(), context, context.lower(), expansion, owner, by or None, keys)

    entries = [
        entry(1, "PLP", "A", "power loss", by="2027-01-01"), entry(2, "PLP", "A", "power loss", by="2027-01-01"),
        entry(3, "PLP", "A", "page lock"), entry(4, "PLP", "B", "page lock", "PUC"),
        entry(5, "PUC", "A", "pull up"), entry(6, "PSU", "A", "psu", "XY"), entry(7, "PSV", "A", "supply", "XY"),
    ]  # fmt: skip
    found = find_conflicts_among(entries, "2027-06-01")
    for one in (entry(8, "WINDOW", "A", "pane", "window"), entry(9, "Window", "A", "pane", "window")):
        found += find_conflicts_of(one, entries)
    found += find_conflicts_of(entry(10, "QZX", "A", "q", "qzx"), entries)
    assert len({one.kind for one in found}) == 8
    with speak("fr"):
        assert not [one.message for one in found if translate_warning(one.message) == one.message]


def test_why_a_file_was_not_read_is_said_in_the_language_of_the_page() -> None:
    limits = ReadLimits(lane="attachments")
    found = []
    for check, amount in ((limits.check_size, 0), (limits.check_size, 10**12), (limits.check_chars, 10**9)):
        with pytest.raises(UnreadableDocument) as refused:
            check(amount, "a.md")
        found.append(refused.value)
    found += [limits.build_time_error("a.md"), limits.build_memory_error("a.md")]
    with speak("es"):
        for error in found:
            detail = error.reason + (f". {error.remedy}" if error.remedy else "")
            assert not set(re.findall(r"\w+", translate_read_fault(detail))) & {"the", "to", "large", "empty", "Split"}
        assert translate_read_fault("stained by coffee. Wash it.") == "stained by coffee. Wash it."


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "a.pdf was not added: damaged or cut off: not a complete PDF."),
        ("de", "a.pdf wurde nicht hinzugefügt: beschädigt oder abgeschnitten: kein vollständiges PDF."),
        ("fr", "a.pdf n’a pas été ajouté : endommagé ou tronqué : ce n’est pas un PDF complet."),
        ("es", "a.pdf no se ha añadido: dañado o cortado: no es un PDF completo."),
    ],
)
def test_a_file_that_was_not_added_is_named_with_its_reason(language: str, said: str) -> None:
    with speak(language):
        assert translate_error(InvalidInput("a.pdf was not added: damaged or cut off: not a complete PDF.")) == said


def test_the_steps_of_a_thorough_answer_are_in_the_language_of_the_question() -> None:
    question = "Wie hoch ist die Grenze und wer legt sie fest?"
    assert write_call_step("Wer?", "tickets", "find", of=question) == "Wer? · tickets wird nach find gefragt"
    assert write_settled_step("Wer?", 2, of=question) == "Wer? · 2 Textstellen"
    assert write_settled_step("Wer?", 0, of=question) == "Wer? · nicht gefunden"
    assert write_settled_step("Who?", 1, of="What is the limit, and who sets it?") == "Who? · 1 passage"


def test_a_long_text_with_signs_of_a_template_is_read_in_one_pass() -> None:
    templates = ("'%(a)s' means '%(b)s' in '%(c)s' already.", "%(a)s: %(b)s. %(c)s.")
    assert find_template("'x' means 'y' in 'z' " * 20_000, templates) == ("", {})
    assert find_template(f"'{'x' * 100_000}' means 'y' in 'z' already.", templates)[1]["b"] == "y"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a: b. c.", {"a": "a", "b": "b", "c": "c"}),
        ("a: b: c. d. e.", {"a": "a: b", "b": "c. d", "c": "e"}),
        ("a: b. .", None),
        (": b. c.", None),
        ("a: b.", None),
    ],
)
def test_the_values_of_a_template_have_a_character_each(text: str, values: dict[str, str] | None) -> None:
    assert find_template(text, ["%(a)s: %(b)s. %(c)s."])[1] == (values or {})
