"""Tests of the first screen of an empty base: it tells managers what to do, and askers whom to ask."""

from pathlib import Path
from typing import Any

import pytest

from argot.languages.catalogues import speak
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.uploads import upload
from argot.service.usecases.glossary.contexts import context_add
from argot.settings import Settings
from argot.tools.reading.chitchat import identify_small_talk
from argot.tools.reading.library_questions import is_library_question
from argot.types import Principal
from argot.ui.chat import document_scope, first_screen
from argot.ui.chat.document_scope import Choice, parse_choice
from argot.ui.chat.first_screen import FirstScreen

ADMIN = Principal("ada", sees_all=True)
ANN = Principal("ann")


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []

    class Message:
        def __init__(self, content: str, author: str) -> None:
            self.content = content

        async def send(self) -> None:
            texts.append(self.content)

    monkeypatch.setattr(first_screen.cl, "Message", Message)
    return texts


async def hinted(kb: KnowledgeBase, who: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
    async def principal(_: Any) -> Principal:
        return who

    monkeypatch.setattr(first_screen, "get_current_principal", principal)
    await FirstScreen(kb).show_hint()


async def test_an_empty_base_shows_what_to_do(tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    async with KnowledgeBase.open(tmp_path / "kb", Settings(threads=1), create=True) as kb:
        await hinted(kb, ADMIN, monkeypatch)
        await hinted(kb, ANN, monkeypatch)
        await context_add(kb, ADMIN, name="Legal", contact="leo <b>@example.org</b>")
        await hinted(kb, ANN, monkeypatch)
        assert "[Sources](/documents/sources)" in said[0]
        assert "Please ask your administrator" in said[1]
        assert "leo" in said[2] and "\\<b" in said[2]
        await upload(kb, ADMIN, name="a.md", data=b"# A\n\nText.\n", audience=["crew"])
        await hinted(kb, ADMIN, monkeypatch)
        assert len(said) == 3
        await hinted(kb, ANN, monkeypatch)
        assert len(said) == 4


@pytest.mark.parametrize(
    ("language", "begun"),
    [
        ("en", ["What documents do you have?", "What can you do?"]),
        ("de", ["Welche Dokumente haben Sie?", "Was können Sie?"]),
        ("fr", ["Quels documents avez-vous ?", "Que pouvez-vous faire ?"]),
        ("es", ["¿Qué documentos tiene?", "¿Qué puede hacer?"]),
    ],
)
async def test_the_first_screen_offers_questions_that_every_base_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, begun: list[str]
) -> None:
    async def principal(_: Any) -> Principal:
        return ADMIN

    monkeypatch.setattr(first_screen, "get_current_principal", principal)
    async with KnowledgeBase.open(tmp_path / "kb", Settings(threads=1), create=True) as kb:
        with speak(language):
            assert await FirstScreen(kb).list_starters(None, None) == []
            await upload(kb, ADMIN, name="a.md", data=b"# A\n\nText.\n")
            assert [one.message for one in await FirstScreen(kb).list_starters(None, None)] == begun
    assert is_library_question(begun[0]) and identify_small_talk(begun[1]) == "about"


async def test_a_title_in_the_notice_of_one_document_is_escaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    class Settled:
        scope: tuple[str, ...] = ()

        async def ask_only(self, documents: tuple[str, ...], thread: str) -> None:
            self.scope = documents

    class Window:
        class emitter:
            @staticmethod
            async def send_window_message(data: dict[str, str]) -> None:
                assert data == {"about": document.id}

        class session:
            thread_id = "t"

    class Message:
        def __init__(self, content: str, **_: object) -> None:
            said.append(content)

        async def send(self) -> None: ...

    async def principal(_: Any) -> Principal:
        return ADMIN

    async with KnowledgeBase.open(tmp_path / "kb", Settings(threads=1), create=True) as kb:
        title = "[press](https://evil.example) <img src=x>"
        report = await upload(kb, ADMIN, name="a.md", data=f"# {title}\n\nText.\n".encode())
        assert report.document is not None
        document = report.document
        monkeypatch.setattr(document_scope, "get_current_principal", principal)
        monkeypatch.setattr(document_scope, "context", Window)
        monkeypatch.setattr(document_scope.cl, "Message", Message)
        scope = document_scope.DocumentScope(kb, Settled())  # type: ignore[arg-type]
        await scope.enter(document.id)
        await scope.enter(document.id)
        assert len(said) == 1
        assert "](https" not in said[0] and "<img" not in said[0].replace("\\<img", "")


@pytest.mark.parametrize(
    ("address", "chosen"),
    [
        ("/library/d0123456789abcdef?choose=1", Choice("d0123456789abcdef", "", True)),
        ("/library?tag=a%26b%3Cimg%3E&choose=0", Choice("", "a&b<img>", False)),
        ("/library?tag=&choose=1", None),
        ("/library/d0123456789abcdef", None),
        ("/library/../people?choose=1", None),
        (7, None),
    ],
)
def test_only_choices_of_documents_and_tags_are_read(address: object, chosen: Choice | None) -> None:
    assert parse_choice(address) == chosen
