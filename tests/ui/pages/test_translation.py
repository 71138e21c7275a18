"""Tests of the pages' languages: the catalogues are complete, and no text of a translated page is outside them."""

import ast
import importlib.util
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest
import typer.main
from bs4 import BeautifulSoup
from jinja2 import Environment, nodes
from repository import ROOT
from starlette.datastructures import Headers
from translated_texts import (
    Message,
    extract_from_module,
    extract_from_templates,
    list_help_texts,
    list_modules,
    list_templates,
)

from argot.corpus.connectors.source_store import SyncState
from argot.evaluate.pages import evaluation_pages
from argot.graph.presentation import model_troubles
from argot.graph.presentation.wording import write_abstention
from argot.jargon_db.store.conflict_rules import WarningKind
from argot.jargon_db.store.journal import ChangeKind
from argot.jargon_db.store.proposal_rows import ORIGINS
from argot.languages.catalogues import (
    LANGUAGE_NAMES,
    format_local_day,
    format_local_moment,
    format_local_number,
    load_translations,
    page_language,
    quote_name,
    read_catalogue,
    speak_as_asked,
    translate,
    translate_language_name,
)
from argot.learn.pages import learning_data_pages, workbench_pages
from argot.profile import PROFILES as BUILT_IN_PROFILES
from argot.ratings.pages import rating_pages
from argot.results import NO_ANSWER, STOPPED_MESSAGE, WEAK_MATCH
from argot.service.admission_control import Limits
from argot.service.insight.insight_results import OutcomeName
from argot.service.sign_in import page_sign_in, password_sign_in
from argot.service.usecases.documents import read_faults
from argot.service.usecases.documents.automatic_derivation import Progress
from argot.service.usecases.glossary import import_texts, warning_texts
from argot.service.usecases.questions import profiles
from argot.service.usecases.questions.shared_conversations import WITHHELD
from argot.settings import Settings
from argot.types import Context, PageKind, Principal, Sense
from argot.ui.chat.answer_settings import EFFORTS, PROFILES
from argot.ui.chat.brand import TAGLINE
from argot.ui.chat.first_screen import GENERAL_QUESTIONS, SAMPLE_QUESTIONS
from argot.ui.chat.window_texts import (
    CHAINLIT_LANGUAGES,
    CORRECTED_TEXTS,
    INTERFACE_TEXTS,
    SCRIPT_TEXTS,
    translate_window,
)
from argot.ui.cli import help_texts, terminal_language, user_commands
from argot.ui.cli.main import app
from argot.ui.pages import (
    account_pages,
    administration_pages,
    document_list,
    document_source_pages,
    embed_pages,
    insight_pages,
    term_reading_pages,
)
from argot.ui.rendering import insight_charts
from argot.ui.rendering.page_filters import FILE_KINDS
from argot.ui.start_report import STAGES
from argot.ui.translation import finding_texts, page_errors, validation_texts
from argot.ui.translation.page_language import choose_language, make_language_cookie, negotiate_language
from argot.ui.translation.template_texts import UNDERLINE_TEXTS, UPLOAD_NUMBERS, UPLOAD_TEXTS
from argot.ui.web.authorization import Visitor
from argot.ui.web.page_templates import HEADINGS, OTHER_HEADING, render_page, show_refusal
from argot.wings import wings
from argot.work.job_types import JobState

TRANSLATED = ["de", "fr", "es"]
FORMAT_NAMES = {"Markdown", "reStructuredText", "PDF", "Word", "JSON", "XML"}


def list_table_words() -> Iterator[str]:
    """Yield the stored values that tables of the command line show in its language."""
    kinds = (SyncState, JobState, Progress, ChangeKind, profiles.Origin, OutcomeName, WarningKind)
    for value in (one for kind in kinds for one in get_args(kind)):
        yield value.replace("_", " ")
    yield from ORIGINS
    yield from (one.about for one in BUILT_IN_PROFILES.values())
    yield from (name.replace("_", " ") for name in list_changed_fields())
    yield from ("chat", "pages", "command", "service")
    yield from ("first word", "whole answer", "live", "superseded", "no document", "begun")


def list_changed_fields() -> set[str]:
    """List the fields whose change the history of the glossary names."""
    names = {one.name for kind in (Sense, Context) for one in fields(kind)}
    return names - {"id", "version"}


MODULE_TEXTS = {
    *HEADINGS.values(),
    OTHER_HEADING,
    "There is nothing here.",
    password_sign_in.WRONG,
    password_sign_in.UNCONFIRMED,
    page_sign_in.INVALID,
    page_sign_in.UNKNOWN,
    page_sign_in.SUSPENDED,
    page_sign_in.LAPSED,
    page_sign_in.OTHER_PERSON,
    page_sign_in.OLD_CODE,
    *embed_pages.SCRIPT_TEXTS,
    account_pages.CHANGED_NOTICE,
    account_pages.DIFFERENT_PASSWORDS,
    *rating_pages.DONE_MESSAGES.values(),
    *document_source_pages.KINDS.values(),
    *document_source_pages.INTERVALS.values(),
    *document_list.PROGRESS.values(),
    *insight_pages.SURFACES.values(),
    *insight_pages.PERIODS.values(),
    *insight_charts.TITLES.values(),
    *insight_charts.HIGHEST.values(),
    *administration_pages.SOURCES,
    *administration_pages.ANSWERERS,
    *page_errors.load_error_templates(),
    *page_errors.SYSTEM_REASONS,
    *page_errors.WORDS,
    *validation_texts.TEXTS,
    *finding_texts.FINDINGS,
    *finding_texts.WHOLE_LINES,
    *STAGES,
    *terminal_language.USAGE_LINES,
    *help_texts.TYPER_TEXTS,
    *user_commands.SIGN_INS,
    *list_help_texts(typer.main.get_command(app)),
    *terminal_language.USAGE_PROBLEMS,
    *(text for wing in wings() for _, name, about in wing.workbench for text in (name, about) if text),
    *learning_data_pages.KINDS.values(),
    *workbench_pages.SAYS.values(),
    *warning_texts.MESSAGES,
    *(*import_texts.HEADS, import_texts.MORE_REASONS),
    *import_texts.PLACES,
    *import_texts.REASONS,
    *model_troubles.CLAUSES,
    *model_troubles.SUBJECTS,
    *read_faults.REASONS,
    *read_faults.REMEDIES,
    read_faults.NOT_ADDED,
    *("asker", "manager", "admin"),
    "What is %(term)s?",
    *filter(None, INTERFACE_TEXTS.values()),
    *SCRIPT_TEXTS,
    *UNDERLINE_TEXTS,
    *UPLOAD_TEXTS,
    *UPLOAD_NUMBERS,
    *PROFILES,
    *EFFORTS,
    *term_reading_pages.INITIAL_NAMES.values(),
    *(one for one in evaluation_pages.SHARES if "@" not in one),
    *document_list.ORDERS.values(),
    *document_list.STATES.values(),
    *(words for words, _ in document_list.AGES.values()),
    *(one for one in [*FILE_KINDS.values(), "picture"] if one not in FORMAT_NAMES),
    *get_args(PageKind),
    *list_table_words(),
    *("approved", "draft", "retired"),
    *("added", "updated", "unchanged", "duplicate", "failed", "skipped", "notice", "renamed", "removed"),
    NO_ANSWER,
    STOPPED_MESSAGE,
    WEAK_MATCH,
    WITHHELD,
    *(
        one
        for limits in (Limits(1, 1, 1, 1), Limits.of_attachments(Settings()))
        for one in (limits.crowded, limits.busy)
    ),
    *(name for wing in wings() for _, name, *_ in (*wing.links, *wing.account_links)),
    *GENERAL_QUESTIONS,
}
"""Texts of Python modules that the pages translate when they show them."""
WINDOW_RENDERING = ("answer_path", "chat_buttons", "chat_markdown", "passage_panel", "suggestion_links")
WINDOW_MODULES = [
    *sorted((ROOT / "ui" / "chat").glob("*.py")),
    *sorted((ROOT / "graph" / "presentation").glob("*.py")),
    *(ROOT / "ui" / "rendering" / f"{name}.py" for name in WINDOW_RENDERING),
]
NOT_SHOWN = {
    TAGLINE,
    *SAMPLE_QUESTIONS,
    *(text for texts in CORRECTED_TEXTS.values() for text in texts.values()),
    "The chat window",
    "There is one process.",
    "a question could not be answered",
}
"""Texts of these modules that nobody sees, or only in a log, or that belong to documents or one language."""
PAGE_MODULES = [
    *(path for wing in ("ui", "learn", "evaluate", "ratings") for path in sorted((ROOT / wing / "pages").glob("*.py"))),
    *(ROOT / "ui" / "web" / f"{name}.py" for name in ("error_pages", "form_recovery", "kept_forms", "page_templates")),
]
PAGE_TEXT = re.compile(r"[^\W\d_]{2,},? +[^\W\d_]{2,}|^[A-Z][a-z]+(?: |$)")
"""How a text for people looks: several words, or one with a capital."""
OUTSIDE_PAGES = {
    "There is no decision '…'. Decisions: ….": "only a tampered form has another one",
    "under Secrets ": "in a message of the command line, for its option",
    "under Options ": "in a message of the command line, for its option",
    "typed text.md": "the name of a file",
    "interval under": "classes of a picture",
    "public, max-age=…": "a header of HTTP",
}
"""Texts of these modules that stay in English, each with the reason."""
NAMES = {"Argot", "UTC", "JSON"}
SHOWN_ATTRIBUTES = ("aria-label", "title", "placeholder", "alt")
HOSTILE = "<script>alert(1)</script> %s %(name)s"


@pytest.fixture(params=TRANSLATED)
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    token = page_language.set(request.param)
    yield request.param
    page_language.reset(token)


def extract_messages() -> set[Message]:
    """Extract the messages of the templates and modules; those with a plural as pairs."""
    in_modules = (extract_from_module(path.read_text("utf-8")) for path in list_modules())
    return extract_from_templates().union(MODULE_TEXTS, *in_modules)


def list_marks(text: str) -> list[str]:
    """List the placeholders and tags of a message."""
    return sorted(re.findall(r"%\(\w+\)s|<[^>]+>", text))


def list_outside_texts(source: str) -> list[str]:
    """List the texts of a template that people see and that are not in a catalogue."""
    plain = re.sub(r"\{#.*?#\}|\{%-?\s*trans\b.*?endtrans\s*-?%\}", "", source, flags=re.DOTALL)
    page = BeautifulSoup(re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", plain, flags=re.DOTALL), "html.parser")
    for hidden in page.find_all(["code", "style", "script"]):
        hidden.decompose()
    texts = [*page.stripped_strings, *(str(tag.get(name, "")) for tag in page.find_all() for name in SHOWN_ATTRIBUTES)]
    tree = Environment(extensions=["jinja2.ext.i18n"]).parse(source)
    texts += [text for output in tree.find_all(nodes.Output) for one in output.nodes for text in list_constants(one)]
    return [one for one in texts if set(re.findall(r"[^\W\d_]{2,}", one)) - NAMES]


def list_constants(shown: nodes.Node) -> Iterator[str]:
    """List the constant texts that an expression may show: by itself, or as a branch of a condition."""
    if isinstance(shown, nodes.Const) and isinstance(shown.value, str) and " " in shown.value.strip():
        yield shown.value
    elif isinstance(shown, nodes.CondExpr):
        for branch in (shown.expr1, shown.expr2):
            if isinstance(branch, nodes.Const) and not str(branch.value).startswith(("/", "?")):
                yield str(branch.value)


def list_sentences(source: str) -> list[str]:
    """List the texts of a module that look like words for people: several words, and no docstring."""
    tree = ast.parse(source)
    told = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    parts = {id(one) for joined in ast.walk(tree) if isinstance(joined, ast.JoinedStr) for one in joined.values}
    texts = [
        one.value
        for one in ast.walk(tree)
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in told | parts
    ]
    for joined in ast.walk(tree):
        if isinstance(joined, ast.JoinedStr):
            texts.append("".join(str(one.value) for one in joined.values if isinstance(one, ast.Constant)))
    # Not HTML: the head of Chainlit's page.
    return [text for text in texts if re.search(r"[^\W\d_]{2,} +[^\W\d_]{2,}", text) and not text.startswith("<")]


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_catalogue_translates_every_message_and_no_other(language: str) -> None:
    catalogue = read_catalogue(language)
    translated = {one.id: one.string for one in catalogue if one.id}
    assert extract_messages() == set(translated)
    assert not [one.id for one in catalogue if one.id and one.fuzzy] and not catalogue.obsolete
    for source, target in translated.items():
        sources, targets = ([one] if isinstance(one, str) else list(one) for one in (source, target))
        assert all(targets), source
        # The singular of a language may leave out the number where the English one does.
        assert list_marks(targets[0]) in map(list_marks, sources), source
        assert all(list_marks(one) == list_marks(sources[-1]) for one in targets[1:]), source


def test_every_text_of_a_template_is_in_the_catalogues() -> None:
    outside = {path.name: texts for path in list_templates() if (texts := list_outside_texts(path.read_text("utf-8")))}
    assert outside == {}


def test_a_text_outside_the_catalogues_is_found() -> None:
    assert list_outside_texts('{{ _("Name") }} {% trans %}of {{ name }}{% endtrans %} Argot <code>add</code>') == []
    assert list_outside_texts("<p>Some words</p>") == ["Some words"]
    assert list_outside_texts('<a aria-label="Next page">{{ "Old" if gone else _("New") }}</a>') == ["Next page", "Old"]


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"), ("de", "de"), ("de-AT,en;q=0.5", "de"), ("fr-CH, fr;q=0.9, en;q=0.8", "fr"), ("es-419,es", "es"),
        ("it,es;q=0.3,de;q=0.7", "de"), ("de;q=0,fr;q=0.1", "fr"), ("ja,*;q=0.5", "en"), ("en-GB,de;q=0.9", "en"),
        ("de;q=x, ../../etc, fr", "fr"), ("," * 5000, "en"),
    ],
)  # fmt: skip
def test_the_language_is_the_first_that_the_browser_asks_for(accepted: str, language: str) -> None:
    assert negotiate_language(accepted) == language


def test_the_chosen_language_comes_before_the_browsers() -> None:
    assert choose_language(Headers({"cookie": "x=1; argot-language=fr", "accept-language": "de"})) == "fr"
    assert choose_language(Headers({"cookie": "argot-language=../de", "accept-language": "es"})) == "es"
    assert make_language_cookie("", secure=False).endswith("argot-language=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0")
    assert make_language_cookie("de", secure=True).endswith("; Secure")


def test_values_in_translations_are_escaped(language: str) -> None:
    who = Visitor("ann", HOSTILE, Principal("ann"), csrf="x", auth_method="password")
    page = bytes(show_refusal(404, HOSTILE, who).body).decode()
    assert f'<html lang="{language}">' in page and "<script>" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt; %s %(name)s") == 2
    assert translate("Not found") in page and "Not found" not in page
    shown = bytes(render_page("kept_form.html", who=who, action="/x", fields=[], shown=[]).body).decode()
    assert f"<bdi>{'&lt;script&gt;alert(1)&lt;/script&gt; %s %(name)s'}</bdi>" in shown


def test_dates_and_numbers_follow_the_language() -> None:
    assert (format_local_moment("2027-01-31T12:00:59"), format_local_number(12000)) == ("2027-01-31 12:00", "12,000")
    token = page_language.set("de")
    assert format_local_moment("2027-01-31T12:00:59") == "31.01.2027 12:00" and format_local_number(12000) == "12.000"
    assert [format_local_day(one) for one in ("2027-01-31", "soon", None)] == ["31.01.2027", "soon", ""]
    page_language.reset(token)


@pytest.mark.parametrize(
    ("scripts", "texts"), [(("argot.js", "mentions.js"), SCRIPT_TEXTS), (("underline.js",), UNDERLINE_TEXTS)]
)
def test_the_scripts_of_the_window_use_the_texts_that_are_translated_for_them(
    scripts: tuple[str, ...], texts: tuple[str, ...]
) -> None:
    source = "".join((ROOT / "ui" / "assets" / name).read_text("utf-8") for name in scripts)
    assert set(re.findall(r"(?:label\('[^']+', |reword\('[^']+', |say\()'([^']+)'", source)) == set(texts)


def test_the_script_of_the_documents_page_uses_the_texts_that_are_translated_for_it() -> None:
    source = (ROOT / "ui" / "pages" / "static" / "uploads.js").read_text("utf-8")
    assert set(re.findall(r"\bsay\('([^']+)'", source)) == {*UPLOAD_TEXTS, *(many for _, many in UPLOAD_NUMBERS)}
    # Any other text would be English in every language: words in quotation marks, or beside a value.
    outside = re.sub(r"\bsay\('[^']+'|^\s*//.*$", "", source, flags=re.MULTILINE)
    found = re.findall(r"'[A-Z]\w+ [^']+'|`[^`]*(?:\w{2,} \$\{|\} \w{2,})[^`]*`", outside)
    assert found == ["`row ${file.kind}`"]  # classes of an element


def test_no_text_of_the_window_stands_outside_the_catalogues() -> None:
    known = {text for one in extract_messages() for text in ([one] if isinstance(one, str) else one)}
    outside = {
        path.name: texts
        for path in WINDOW_MODULES
        if (texts := [one for one in list_sentences(path.read_text("utf-8")) if one not in known | NOT_SHOWN])
    }
    assert outside == {}


def list_page_texts(source: str) -> list[str]:
    """List the texts of a page's module that people may see: several words, or one with a capital. Left out are
    docstrings, keys, and the names of fields in errors that only a tampered form gives (`find_choice`). "…" stands for
    a value.
    """
    tree = ast.parse(source)
    left_out = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    for one in ast.walk(tree):
        if isinstance(one, ast.Dict):
            left_out.update(map(id, one.keys))
        elif isinstance(one, ast.Call) and getattr(one.func, "id", "") == "find_choice":
            left_out.update(map(id, one.args[2:]))
    found = []
    for one in ast.walk(tree):
        if isinstance(one, ast.JoinedStr):
            left_out.update(map(id, one.values))
            found.append("".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in one.values))
    found += [
        one.value
        for one in ast.walk(tree)
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in left_out
    ]
    return [text for text in found if PAGE_TEXT.search(text) and not text.startswith("<") and "; filename" not in text]


def test_no_text_of_a_page_module_stands_outside_the_catalogues() -> None:
    known = {text for one in extract_messages() for text in ([one] if isinstance(one, str) else one)}
    recognised = {re.sub(r"%\(\w+\)s", "…", text) for text in page_errors.load_error_templates()}
    texts = {path.name: list_page_texts(path.read_text("utf-8")) for path in PAGE_MODULES}
    outside = {
        name: left for name, some in texts.items() if (left := set(some) - known - recognised - OUTSIDE_PAGES.keys())
    }
    assert outside == {}
    assert OUTSIDE_PAGES.keys() <= {text for some in texts.values() for text in some}


def test_a_text_outside_the_catalogues_is_found_in_a_page_module() -> None:
    source = '''"""A docstring."""
show(error=f"Give {name} again.", title="Terms", headers={"Cache-Control": "no-store"}, kind="some-kind")
find_choice(KINDS, kind, "the kind")'''
    assert list_page_texts(source) == ["Give … again.", "Terms"]


def test_a_sentence_outside_the_catalogues_is_found() -> None:
    source = '''"""A docstring."""\nsay(f"Read {name} again.", "one two", "argot-x")\nraise KeyError("Not the key")'''
    assert sorted(list_sentences(source)) == ["Not the key", "Read  again.", "one two"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Wie hoch ist die Grenze?", "Keine Textstelle kommt nahe genug, um das zu beantworten."),
        ("Quelle est la limite ?", "Aucun passage n’est assez proche pour y répondre."),
        ("¿Cuál es el límite?", "Ningún pasaje se acerca lo suficiente para responder a esto."),
        ("What is the limit?", "No passage comes close enough to answer this."),
        ("PLP", "Ningún pasaje se acerca lo suficiente para responder a esto."),
    ],
)
def test_an_answer_is_in_the_language_of_its_question_and_else_of_the_window(question: str, answer: str) -> None:
    token = page_language.set("es")
    with speak_as_asked(question):
        assert write_abstention([]).startswith(answer)
    assert page_language.get() == "es" and translate_language_name("German") == "alemán"
    page_language.reset(token)


def list_informal_texts(words: dict[str, Any]) -> list[str]:
    """List the texts of the window that address people informally, or call a conversation a thread."""
    texts = [text for one in words.values() for text in (list_informal_texts(one) if isinstance(one, dict) else [one])]
    informal = r"\b(?:[Dd](?:ich|ir|eine?[nrms]?)|Gebe|Suche konv\w+|tus?|Ingresa|Arrastra|toi|Thread|fil)\b"
    return [text for text in texts if re.search(informal, text)]


@pytest.mark.parametrize("language", LANGUAGE_NAMES)
def test_the_window_has_chainlits_texts_with_argots_in_their_place(language: str) -> None:
    found = importlib.util.find_spec("chainlit")
    assert found and found.origin
    read = (Path(found.origin).parent / "translations" / CHAINLIT_LANGUAGES[language]).read_text("utf-8")
    words = translate_window(json.loads(read), language)
    help_words = {"en": "Help", "de": "Hilfe", "fr": "Aide", "es": "Ayuda"}
    assert words["navigation"]["header"]["readme"] == help_words[language]
    assert words["chat"]["messages"]["status"]["using"] == ""
    dialogs = words["threadHistory"]["thread"]["actions"]
    shown = (words["threadHistory"]["sidebar"], dialogs["delete"], dialogs["rename"], words["chat"]["fileUpload"])
    assert language == "en" or [one for part in shown for one in list_informal_texts(part)] == []
    assert words["argot"]["language"] == language and set(words["argot"]["texts"]) == {*SCRIPT_TEXTS, *UNDERLINE_TEXTS}


@pytest.mark.parametrize(
    ("language", "quotation", "shown"),
    [
        ("en", "“Is it PUC?” means", "““Is it PUC?” means”"),
        ("de", "„Ist es PUC?“ heißt", "„‚Ist es PUC?‘ heißt“"),
        ("fr", "« PUC » veut dire", "« “ PUC ” veut dire »"),
        ("es", "«PUC» significa", "«“PUC” significa»"),
    ],
)
def test_a_quotation_within_a_quotation_has_other_marks(language: str, quotation: str, shown: str) -> None:
    token = page_language.set(language)
    assert quote_name(quotation) == shown
    page_language.reset(token)


def test_english_needs_no_catalogue_and_an_unknown_text_stays() -> None:
    assert translate("") == "" and translate("100 % of it") == "100 % of it"
    assert set(LANGUAGE_NAMES) == {"en", *TRANSLATED}
    assert load_translations("de").gettext("100 % of it") == "100 % of it"
