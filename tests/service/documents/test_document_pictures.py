"""Pictures of documents in a knowledge base: stored, found by their words, shown to readers alone, and removed."""

import base64
import io
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from api_site import Site, with_readers
from PIL import Image, ImageDraw

from argot.corpus.document_ids import hash_content
from argot.corpus.readers.ocr import is_installed
from argot.errors import NotFound
from argot.results import AskResult
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal
from argot.ui.rendering.chat_markdown import view_result

MIA = Principal("mia", frozenset({"managers"}), sees_all=True)
ANN = Principal("ann")
VERA = Principal("vera", frozenset({"vault"}))
needs_tesseract = pytest.mark.skipif(not is_installed(), reason="tesseract is not installed")


def draw(words: str) -> bytes:
    picture = Image.new("RGB", (700, 300), "white")
    pen = ImageDraw.Draw(picture)
    pen.text((30, 40), words, fill="black", font_size=32)
    pen.rectangle((30, 200, 600, 270), fill="navy")
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def write(words: str = "Gantry crane G4 lifts 37 tonnes", caption: str = "Figure 2: Cranes of the quay") -> bytes:
    address = f"data:image/png;base64,{base64.b64encode(draw(words)).decode()}"
    return f'<h1>Quay</h1><p>The quay has cranes.</p><p><img src="{address}"></p><p>{caption}</p>'.encode()


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        yield opened


async def do(kb: KnowledgeBase, who: Principal, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **parameters)


async def put(kb: KnowledgeBase, data: bytes, name: str = "quay.html", **labels: Any) -> str:
    found = await catalogue.uploads.upload(kb, MIA, name=name, data=data, **labels)
    assert found.document is not None
    return found.document.id


@needs_tesseract
async def test_a_question_is_answered_from_the_words_in_a_picture(kb: KnowledgeBase) -> None:
    document = await put(kb, write())
    found = await do(kb, ANN, "ask", question="How many tonnes does gantry crane G4 lift?")
    assert "37 tonnes" in found["answer"]
    cited = next(one for one in found["passages"] if one["n"] == 1)
    assert cited["pictures"] == [
        {
            "address": f"/api/documents/{document}/pictures/1", "label": "Figure 2",
            "caption": "Figure 2: Cranes of the quay", "alternative": "", "description": "",
        }
    ]  # fmt: skip
    shown = view_result(AskResult.model_validate(found)).content
    assert f"![Figure 2](/api/documents/{document}/pictures/1)" in shown and "Cranes of the quay" in shown


async def test_pictures_are_shown_to_the_readers_of_their_document_alone(kb: KnowledgeBase) -> None:
    document = await put(kb, write(), audience=["vault"])
    (one,) = await do(kb, VERA, "document_pictures", document=document)
    assert (one["place"], one["passage"]) == ("Figure 2", one["passage"])
    file = await do(kb, VERA, "document_picture", document=document, number=1)
    assert hash_content(base64.b64decode(file["base64"])) == one["content_hash"]
    for name, given in (
        ("document_pictures", {"document": document}),
        ("document_picture", {"document": document, "number": 1}),
        ("document_picture", {"document": "quay.html", "number": 1}),
    ):
        with pytest.raises(NotFound):
            await do(kb, ANN, name, **given)
    assert await do(kb, ANN, "passage_pictures", passage_id=one["passage"]) == []
    assert len(await do(kb, VERA, "passage_pictures", passage_id=one["passage"])) == 1
    with pytest.raises(NotFound, match=r"There is no picture 2 in 'quay.html'. It has 1."):
        await do(kb, VERA, "document_picture", document=document, number=2)


@needs_tesseract
async def test_an_answer_names_no_picture_of_a_document_that_was_closed_since(kb: KnowledgeBase) -> None:
    document = await put(kb, write())
    found = await do(kb, ANN, "ask", question="How many tonnes does gantry crane G4 lift?")
    assert "pictures/1" in str(found)
    await do(kb, MIA, "document_label", document=document, audience=["vault"])
    again = await do(kb, ANN, "thread_read", thread=found["thread"])
    assert "pictures/1" not in str(again) and "Cranes" not in str(again)


async def test_the_bytes_of_a_picture_go_with_its_document(kb: KnowledgeBase) -> None:
    blobs = kb.document_store.blobs
    document = await put(kb, write("Old crane"))
    (old,) = await do(kb, MIA, "document_pictures", document=document)
    assert old["content_hash"] in blobs and list(kb.document_store.faults()) == []
    await put(kb, write("New crane"))
    (new,) = await do(kb, MIA, "document_pictures", document=document)
    assert new["content_hash"] in blobs and old["content_hash"] not in blobs
    await do(kb, MIA, "document_reread", document=document)
    assert [one["content_hash"] for one in await do(kb, MIA, "document_pictures", document=document)] == [
        new["content_hash"]
    ]
    await do(kb, MIA, "remove", document=document, forever=True)
    assert new["content_hash"] not in blobs
    assert list(kb.document_store.faults()) == []


async def test_a_picture_of_two_documents_stays_until_both_are_gone(kb: KnowledgeBase) -> None:
    blobs = kb.document_store.blobs
    first, second = await put(kb, write()), await put(kb, write(caption="Figure 9: The same"), "other.html")
    (one,) = await do(kb, MIA, "document_pictures", document=second)
    for document, stays in ((first, True), (second, False)):
        await do(kb, MIA, "remove", document=document, forever=True)
        assert (one["content_hash"] in blobs) is stays


async def test_the_api_sends_a_picture_to_readers_and_never_as_a_page(tiny_home: Path, tmp_path: Path) -> None:
    home = with_readers(tiny_home, tmp_path)
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        document = await put(kb, write(), audience=["vault"])
        site = Site(kb)
        async with site.program("vera") as vera, site.program("ann") as ann:
            (listed,) = (await vera.get(f"/api/documents/{document}/pictures")).json()
            sent = await vera.get(listed["address"])
            assert sent.headers["content-type"] == "image/png" and sent.content.startswith(b"\x89PNG")
            assert sent.headers["x-content-type-options"] == "nosniff"
            assert "sandbox" in sent.headers["content-security-policy"]
            assert (await ann.get(listed["address"])).status_code == 404
            assert (await ann.get(f"/api/documents/{document}/pictures")).status_code == 404
