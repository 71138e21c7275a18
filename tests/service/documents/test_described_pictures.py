"""Descriptions of pictures in a knowledge base: derived on request and unasked, found, shown, replaced and removed."""

import base64
import io
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from desk import at_desk
from PIL import Image, ImageDraw

from argot.errors import InvalidSettings, ModelUnavailable
from argot.service.knowledge_base import KnowledgeBase
from argot.service.operations.background_derivation import derive_due
from argot.service.usecases import catalogue
from argot.service.usecases.documents.automatic_derivation import describe_wanted_texts, list_wanted_kinds
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages
from argot.ui.rendering.passage_panel import format_passage

MIA = Principal("mia", frozenset({"managers"}), sees_all=True)
ANN = Principal("ann")
PROMPT = "picture_description"
SAID = "The drawing shows a travelling hoist with a trolley. Its boom reaches 99 m."
KEPT = "The drawing shows a travelling hoist with a trolley."


def draw(side: int = 200) -> bytes:
    picture = Image.new("RGB", (700, 300), "white")
    ImageDraw.Draw(picture).rectangle((30, 50, 400, side), fill="navy")
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def write(side: int = 200, caption: str = "Figure 2: Hoist of the quay") -> bytes:
    address = f"data:image/png;base64,{base64.b64encode(draw(side)).decode()}"
    text = f'<h1>Quay</h1><p>The PUC has lifting gear.</p><p><img src="{address}"></p><p>{caption}</p>'
    return f"{text}<h1>Office</h1><p>{'The office is closed on Sundays. ' * 40}</p>".encode()


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path, scripted_model: Any) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    scripted_model.reply(PROMPT, SAID)
    async with KnowledgeBase.open(home, Settings(home=home, vision_url=scripted_model.url)) as opened:
        yield opened


async def do(kb: KnowledgeBase, who: Principal, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **parameters)


async def put(kb: KnowledgeBase, data: bytes, name: str = "quay.html", **labels: Any) -> str:
    found = await catalogue.uploads.upload(kb, MIA, name=name, data=data, **labels)
    assert found.document is not None
    return found.document.id


async def test_a_picture_is_described_found_and_shown_beside_it(kb: KnowledgeBase, scripted_model: Any) -> None:
    document = await put(kb, write())
    done = await do(kb, MIA, "derive", kinds=["picture"], documents=[document])
    assert (done["made"], done["total"], done["texts"], done["calls"], done["model"]) == (1, 1, 1, 1, "scripted")
    (asked,) = scripted_model.asked(PROMPT)
    (address,) = asked.pictures
    file = await do(kb, MIA, "document_picture", document=document, number=1)
    assert address == f"data:{file['media_type']};base64,{file['base64']}"
    assert "PUC (NAND): Peripheral Under Cell" in asked.user and "PUC (Legal)" in asked.user

    (shown,) = await do(kb, ANN, "document_pictures", document=document)
    assert shown["description"] == KEPT
    found = await do(kb, ANN, "search", query="travelling hoist with a trolley")
    best = found["passages"][0]
    assert "Hoist of the quay" in best["text"] and best["pictures"][0]["description"] == KEPT
    listed = next(one for one in (await do(kb, MIA, "derived_list"))["rows"] if one["kind"] == "picture")
    assert (listed["texts"], listed["outdated"]) == (1, False)
    assert (await do(kb, MIA, "derive", kinds=["picture"], documents=[document]))["total"] == 0


async def test_the_description_is_told_as_a_models(kb: KnowledgeBase) -> None:
    document = await put(kb, write())
    await do(kb, MIA, "derive", kinds=["picture"], documents=[document])
    async with at_desk(build_pages(kb), ANN) as ann:
        page = (await ann.get(f"/library/{document}")).text
    assert f"<em>Described by a model:</em> {KEPT}" in page
    pictures = await catalogue.pictures.document_pictures(kb, ANN, document=document)
    passage = await catalogue.documents.read_passage(kb, ANN, passage_id=pictures[0].passage)
    assert f"*Figure 2, described by a model:* {KEPT[:-1]}" in format_passage(passage, [], pictures)


async def test_a_description_goes_with_its_picture(kb: KnowledgeBase, scripted_model: Any) -> None:
    document = await put(kb, write())
    await do(kb, MIA, "derive", kinds=["picture"])
    scripted_model.reply(PROMPT, "A bridge crane of the quay.")
    await put(kb, write(side=280))
    assert [one["description"] for one in await do(kb, ANN, "document_pictures", document=document)] == [""]
    await do(kb, MIA, "derive", kinds=["picture"])
    (shown,) = await do(kb, ANN, "document_pictures", document=document)
    assert shown["description"] == "A bridge crane of the quay."
    assert (await do(kb, MIA, "derived_remove", kinds=["picture"]))["removed"] == {"picture": 1}
    (shown,) = await do(kb, ANN, "document_pictures", document=document)
    assert shown["description"] == ""


async def test_pictures_are_described_unasked(kb: KnowledgeBase, scripted_model: Any) -> None:
    document = await put(kb, write())
    assert list_wanted_kinds(kb.settings) == ["picture"]
    await derive_due(kb)
    (shown,) = await do(kb, ANN, "document_pictures", document=document)
    assert shown["description"] == KEPT and len(scripted_model.asked()) == 1
    status = await do(kb, MIA, "derivation_status")
    assert status["calls_today"] == 1 and {one["state"] for one in status["documents"]} == {"derived"}


async def test_a_vision_server_that_is_gone_is_no_documents_fault(kb: KnowledgeBase, scripted_model: Any) -> None:
    await put(kb, write())
    scripted_model.fault("refuse")
    with pytest.raises(ModelUnavailable, match="ARGOT_VISION_URL"):
        await derive_due(kb)
    with pytest.raises(ModelUnavailable, match="The vision model server cannot be reached"):
        await do(kb, MIA, "derive", kinds=["picture"])


async def test_without_a_vision_server_the_kind_is_not_offered(
    tiny_home: Path, tmp_path: Path, scripted_model: Any
) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    settings = scripted_model.settings(home=home)
    assert "picture" not in list_wanted_kinds(settings) and "summary" in list_wanted_kinds(settings)
    assert list_wanted_kinds(Settings(home=home)) == []
    rules = Settings(home=home, derive_in_background="always", vision_url=scripted_model.url)
    assert describe_wanted_texts(rules) == "triple,picture by rules"
    async with KnowledgeBase.open(home, settings) as kb:
        with pytest.raises(InvalidSettings, match="ARGOT_VISION_URL"):
            await do(kb, MIA, "derive", kinds=["picture"])
