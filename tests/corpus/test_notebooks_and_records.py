"""Notebooks report what is cut and keep raw cells; records with empty fields are complete."""

import json

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document


def notebook(*cells: dict[str, object]) -> bytes:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def test_long_notebook_output_is_cut_with_a_warning() -> None:
    log = {"output_type": "stream", "text": [f"line {number}\n" for number in range(1_000)]}
    short = {"output_type": "stream", "text": "done"}
    cell = {"cell_type": "code", "source": "run()", "outputs": [log, short, log]}

    read = read_document(notebook(cell), "run.ipynb", ReadLimits())

    assert read.warnings == ("2 ends of long printouts were not read",)
    assert "line 999" not in read.markdown


def test_a_raw_notebook_cell_is_read() -> None:
    read = read_document(notebook({"cell_type": "raw", "source": "The pump limit is 33 kW."}), "a.ipynb", ReadLimits())

    assert read.markdown.strip() == "The pump limit is 33 kW."
    assert read.warnings == ()


def test_fields_without_a_value_give_no_warning() -> None:
    record = {"name": "Seal", "colour": None, "makers": [], "notes": "", "sizes": [None, ""], "rest": {}, "limit": 7}

    read = read_document(json.dumps(record).encode(), "seal.json", ReadLimits())

    assert "limit: 7" in read.markdown
    assert read.warnings == ()
