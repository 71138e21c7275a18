"""Questions in other languages than English, over documents in theirs and in others, without a language model."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings

LOCAL = make_local_principal()
GERMAN = """# Urlaub

Vollzeitkräfte haben 30 Arbeitstage Urlaub im Kalenderjahr. Resturlaub verfällt nach dem 31. März des Folgejahres.

# Kennwörter

Ein Kennwort muss mindestens 14 Zeichen lang sein. Es darf nicht weitergegeben werden.
"""
ENGLISH = """# Leave

Full-time staff have 30 working days of leave in a calendar year. Leave that is left over lapses on 31 March.

# Passwords

A password must have at least 14 characters. It must not be shared with anybody else.
"""


@pytest.fixture
async def kb(tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    async with KnowledgeBase.open(tmp_path / "kb", Settings(home=tmp_path / "kb"), create=True) as opened:
        yield opened


async def do(kb: KnowledgeBase, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, LOCAL, name, **parameters)


async def add(kb: KnowledgeBase, **texts: str) -> None:
    for name, text in texts.items():
        await catalogue.uploads.upload(kb, LOCAL, name=f"{name}.md", data=text.encode())


async def test_a_german_question_is_answered_from_german_documents(kb: KnowledgeBase) -> None:
    await add(kb, urlaub=GERMAN)
    found = await do(kb, "ask", question="Wie viele Arbeitstage Urlaub habe ich im Jahr?")
    assert found["status"] == "answered"
    assert "30 Arbeitstage Urlaub" in found["answer"]
    assert found["notes"] == []


@pytest.mark.parametrize(
    ("question", "refusal", "note"),
    [
        (
            "Wie viele Urlaubstage habe ich im Jahr?",
            "Die Frage ist auf Deutsch, und es gibt nur Dokumente auf Englisch.",
            "Zitiert, wie es geschrieben steht, auf Englisch.",
        ),
        (
            "Combien de jours de congé ai-je par an ?",
            "La question est en français, et il n’y a que des documents en anglais.",
            "Cité tel quel, en anglais.",
        ),
        (
            "¿Cuántos días de vacaciones tengo al año?",
            "La pregunta está en español, y solo hay documentos en inglés.",
            "Citado tal como está escrito, en inglés.",
        ),
    ],
)
async def test_documents_in_other_languages_only_are_not_said_to_lack_the_answer(
    kb: KnowledgeBase, question: str, refusal: str, note: str
) -> None:
    await add(kb, leave=ENGLISH)
    found = await do(kb, "ask", question=question)
    if found["status"] == "abstained":
        assert refusal in found["answer"]
        assert "leave.md" in found["answer"]
    else:
        assert note in found["notes"]
    assert "do not" not in found["answer"]


async def test_documents_may_be_narrowed_to_a_language(kb: KnowledgeBase) -> None:
    await add(kb, urlaub=GERMAN, leave=ENGLISH)
    for language, wanted in (("German", "urlaub.md"), ("english", "leave.md")):
        found = await do(kb, "ask", question="Password Kennwort", fields={"language": [language]})
        assert {one["document"] for one in found["passages"]} == {wanted}


async def test_a_question_in_a_language_without_lists_says_so(kb: KnowledgeBase) -> None:
    await add(kb, leave=ENGLISH)
    found = await do(kb, "ask", question="Hoeveel vakantiedagen krijgt iedere werknemer jaarlijks?")
    assert any("seems to be in Dutch" in note for note in found["notes"])


async def test_a_few_words_are_not_said_to_be_in_english(kb: KnowledgeBase) -> None:
    await add(kb, urlaub=GERMAN)
    found = await do(kb, "ask", question="Wallbox Ladestation?")
    assert found["status"] == "abstained"
    assert "The question is in" not in found["answer"]
