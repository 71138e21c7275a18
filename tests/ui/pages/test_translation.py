"""Tests of the pages' languages: the catalogues are complete, and no text of a translated page is outside them."""

import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from bs4 import BeautifulSoup
from jinja2 import Environment, nodes
from jinja2.ext import babel_extract
from repository import ROOT
from starlette.datastructures import Headers

from argot.service.sign_in import password_sign_in
from argot.ui.chat.window_texts import CHAINLIT_LANGUAGES, INTERFACE_TEXTS, SCRIPT_TEXTS, translate_window
from argot.ui.pages import account_pages, page_base
from argot.ui.translation.catalogues import (
    format_local_day,
    format_local_moment,
    format_local_number,
    load_translations,
    read_catalogue,
    translate,
)
from argot.ui.translation.page_language import (
    LANGUAGE_NAMES,
    choose_language,
    make_language_cookie,
    negotiate_language,
    page_language,
)
from argot.ui.web.page_templates import HEADINGS, OTHER_HEADING, render_page, show_refusal

FOLDERS = (ROOT / "ui" / "templates", ROOT / "ui" / "pages" / "templates")
TRANSLATED = ["de", "fr", "es"]
MODULE_TEXTS = {
    *HEADINGS.values(),
    OTHER_HEADING,
    "There is nothing here.",
    password_sign_in.WRONG,
    password_sign_in.UNCONFIRMED,
    account_pages.CHANGED_NOTICE,
    account_pages.DIFFERENT_PASSWORDS,
    page_base.DONE_MESSAGES["link-withdrawn"],
    "What is %(term)s?",
    *filter(None, INTERFACE_TEXTS.values()),
    *SCRIPT_TEXTS,
}
"""Texts of Python modules that the pages translate when they show them."""
STILL_ENGLISH = {
    "accepted.html", "alias.html", "change.html", "choose.html", "conflicts.html", "contexts.html", "dismissed.html",
    "document.html", "document_rows.html", "document_search.html", "documents.html", "documents_base.html",
    "drafts.html", "dustbin.html", "effects.html", "effects_page.html", "effects_together.html",
    "effects_together_page.html", "files.html", "history.html", "home.html", "insight.html", "library_document.html",
    "mining.html", "miss.html", "parts.html", "password.html", "people.html", "person.html", "person_fields.html",
    "preview.html", "proposals.html", "queue.html", "results.html", "review.html", "revision.html", "sense_form.html",
    "side.html", "source_rows.html", "sources.html", "suggest.html", "suggest_form.html", "term.html",
    "text_check.html", "to_do.html", "use.html", "warnings.html", "workbench_base.html", "your_password.html",
}  # fmt: skip
"""The templates with text outside the catalogues, most of them of managers' pages: this list may only shrink."""
NAMES = {"Argot", "UTC", "JSON"}
SHOWN_ATTRIBUTES = ("aria-label", "title", "placeholder", "alt")
HOSTILE = "<script>alert(1)</script> %s %(name)s"


@pytest.fixture(params=TRANSLATED)
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    token = page_language.set(request.param)
    yield request.param
    page_language.reset(token)


def list_templates() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in folder.glob("*.html"))


def extract_messages() -> set[str | tuple[str, str]]:
    """Extract the messages of the templates with Babel; those with a plural as pairs."""
    options = {"trim_blocks": "true", "lstrip_blocks": "true", "newstyle_gettext": "true", "silent": "false"}
    found: set[str | tuple[str, str]] = set(MODULE_TEXTS)
    for path in list_templates():
        with path.open("rb") as file:
            for _, function, message, _ in babel_extract(file, ["_", "gettext", "ngettext"], [], options):
                parts = [one for one in message if one] if isinstance(message, tuple) else [message]
                found.add((parts[0], parts[1]) if function == "ngettext" else parts[0])
    return found


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


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_catalogue_translates_every_message_and_no_other(language: str) -> None:
    catalogue = read_catalogue(language)
    translated = {one.id: one.string for one in catalogue if one.id}
    assert extract_messages() == set(translated)
    assert not [one.id for one in catalogue if one.id and one.fuzzy] and not catalogue.obsolete
    for source, target in translated.items():
        sources, targets = ([one] if isinstance(one, str) else list(one) for one in (source, target))
        assert all(targets), source
        assert all(list_marks(one) == list_marks(sources[-1]) for one in targets), source


def test_every_text_of_a_translated_template_is_in_the_catalogues() -> None:
    outside = {path.name: texts for path in list_templates() if (texts := list_outside_texts(path.read_text("utf-8")))}
    assert {name: texts for name, texts in outside.items() if name not in STILL_ENGLISH} == {}
    assert sorted(STILL_ENGLISH - set(outside)) == [], "these are translated now: take them from the list"


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
    who: Any = SimpleNamespace(display_name=HOSTILE, csrf="x", role="asker")
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


def test_the_script_of_the_window_uses_the_texts_that_are_translated_for_it() -> None:
    script = (ROOT / "ui" / "assets" / "argot.js").read_text("utf-8")
    assert set(re.findall(r"(?:label\('[^']+', |say\()'([^']+)'", script)) == set(SCRIPT_TEXTS)


@pytest.mark.parametrize("language", LANGUAGE_NAMES)
def test_the_window_has_chainlits_texts_with_argots_in_their_place(language: str) -> None:
    found = importlib.util.find_spec("chainlit")
    assert found and found.origin
    read = (Path(found.origin).parent / "translations" / CHAINLIT_LANGUAGES[language]).read_text("utf-8")
    words = translate_window(json.loads(read), language)
    help_words = {"en": "Help", "de": "Hilfe", "fr": "Aide", "es": "Ayuda"}
    assert words["navigation"]["header"]["readme"] == help_words[language]
    assert words["chat"]["messages"]["status"]["using"] == ""
    assert words["argot"]["language"] == language and set(words["argot"]["texts"]) == set(SCRIPT_TEXTS)


def test_english_needs_no_catalogue_and_an_unknown_text_stays() -> None:
    assert translate("") == "" and translate("100 % of it") == "100 % of it"
    assert set(LANGUAGE_NAMES) == {"en", *TRANSLATED}
    assert load_translations("de").gettext("100 % of it") == "100 % of it"
