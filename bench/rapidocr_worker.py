"""RapidOCR in a process of its own, for `bench/ocr.py --rapidocr PYTHON`; it needs nothing of Argot's.

Reads names of picture files, one a line, and writes for each a line of JSON: a table in tesseract's form (one row a
word), the seconds of processor time that it took, and the process's peak memory so far. Pieces of text at the same
height are one line.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from PIL import Image
from rapidocr import RapidOCR

COLUMNS = ("level", "block_num", "par_num", "line_num", "left", "top", "width", "height", "conf", "text")
Word = tuple[float, float, float, float, float, str]


def main() -> None:
    logging.disable(logging.INFO)
    # Its classifier turns some lines of upright pages upside down; Argot turns whole pages.
    engine = RapidOCR(params={"Global.use_cls": False, "EngineConfig.onnxruntime.intra_op_num_threads": 1})
    for name in sys.stdin:
        started = time.process_time()
        # It takes colour pictures only.
        found = engine(np.asarray(Image.open(name.strip()).convert("RGB")), return_word_box=True)
        seconds = time.process_time() - started
        lines = join_rows(list(list_pieces(found)))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({"table": write_table(lines), "seconds": seconds, "memory": memory}), flush=True)


def list_pieces(found: Any) -> Iterator[list[Word]]:
    """Yield the words of each piece of text: left, top, right, bottom, confidence, text."""
    for piece in found.word_results or ():
        words = [
            (*np.min(box, axis=0).tolist(), *np.max(box, axis=0).tolist(), 100 * score, text)
            for text, score, box in piece
            if box is not None and text.strip()
        ]
        if words:
            yield words


def join_rows(pieces: list[list[Word]]) -> list[list[Word]]:
    """Join the pieces whose middles are at one height, from left to right."""
    rows: list[list[Word]] = []
    for piece in sorted(pieces, key=lambda words: words[0][1]):
        _, top, _, bottom, _, _ = piece[0]
        row = next((row for row in rows if row[0][1] <= (top + bottom) / 2 <= row[0][3]), None)
        if row is None:
            rows.append(piece)
        else:
            row += piece
    return [sorted(row) for row in rows]


def write_table(lines: list[list[Word]]) -> str:
    rows = [
        (5, 1, 1, number, round(left), round(top), round(right - left), round(bottom - top), confidence, text)
        for number, words in enumerate(lines, start=1)
        for left, top, right, bottom, confidence, text in words
    ]
    return "\n".join("\t".join(map(str, row)) for row in (COLUMNS, *rows))


if __name__ == "__main__":
    main()
