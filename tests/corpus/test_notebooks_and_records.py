"""Notebooks report what is cut and keep raw cells; records with empty fields are complete."""

import base64
import json

import pytest

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.corpus.readers.svg_pictures import draw_svg


def notebook(*cells: dict[str, object]) -> bytes:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def test_long_notebook_output_is_cut_with_a_warning() -> None:
    log = {"output_type": "stream", "text": [f"line {number}\n" for number in range(1_000)]}
    short = {"output_type": "stream", "text": "done"}
    cell = {"cell_type": "code", "source": "run()", "outputs": [log, short, log]}

    read = read_document(notebook(cell), "run.ipynb", ReadLimits())

    assert read.warnings == ("2 ends of long printouts were not read",)
    assert "line 999" not in read.markdown


DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 320"><rect width="300" height="300" fill="navy"/>'
    '<rect x="310" width="90" height="9"/><rect x="410" width="90" height="9"/>'
    '<text x="400" y="90">Valve V9</text></svg>'
)


@pytest.mark.parametrize(
    "shown",
    [
        {"image/png": base64.b64encode(draw_svg(DRAWING.encode()) or b"").decode()}, {"image/svg+xml": [DRAWING]},
        {"text/html": f"<style>rect {{ stroke: red }}</style>{DRAWING}"},
        {"png": base64.encodebytes(draw_svg(DRAWING.encode()) or b"").decode()},
    ],
)  # fmt: skip
def test_a_picture_in_the_output_of_a_notebook_is_kept(shown: dict[str, object]) -> None:
    output = {"output_type": "display_data", "data": {"text/plain": "<Figure size 640x480 with 1 Axes>", **shown}}
    cell = {"cell_type": "code", "source": "draw()", "outputs": [output]}
    read = read_document(notebook(cell), "a.ipynb", ReadLimits(ocr_languages=""))
    assert [(one.width, one.height) for one in read.pictures] == [(1200, 600)]
    assert "draw()" in read.markdown and "Figure size" not in read.markdown
    assert not any("word" in one for one in read.warnings)


def test_an_output_whose_picture_cannot_be_read_keeps_its_text() -> None:
    output = {"output_type": "display_data", "data": {"text/plain": "33 kW", "image/png": "bm9uZQ=="}}
    cell = {"cell_type": "code", "source": "draw()", "outputs": [output]}
    assert "33 kW" in read_document(notebook(cell), "a.ipynb", ReadLimits(ocr_languages="")).markdown


def test_a_raw_notebook_cell_is_read() -> None:
    read = read_document(notebook({"cell_type": "raw", "source": "The pump limit is 33 kW."}), "a.ipynb", ReadLimits())

    assert read.markdown.strip() == "The pump limit is 33 kW."
    assert read.warnings == ()


def test_fields_without_a_value_give_no_warning() -> None:
    record = {"name": "Seal", "colour": None, "makers": [], "notes": "", "sizes": [None, ""], "rest": {}, "limit": 7}

    read = read_document(json.dumps(record).encode(), "seal.json", ReadLimits())

    assert "limit: 7" in read.markdown
    assert read.warnings == ()
