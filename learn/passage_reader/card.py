"""The cards of the passage reader's two parts: their origin, and credits for the documents that they learnt from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from argot.corpus.embedding.query_adapter import WeightChange, write_adapter
from argot.files import replace_atomically
from argot.learn.passage_reader.adapter_training import AdapterRecipe
from argot.learn.passage_reader.examples import Example
from argot.learn.passage_reader.pair_training import STAGES
from argot.learn.passage_reader.searched_sets import SearchedSet
from argot.learn.passage_reader.written_questions import list_invented_sets
from argot.learn.training_loop import Checkpoint
from argot.tools.retrieval.pair_reader import PAIR_READER_SOURCE
from argot.tools.retrieval.scorer_choice import READER_SOURCE_MODEL

COMMANDS = (
    "python -m argot.learn.passage_reader data --sets SETS --invented --work WORK",
    "python -m argot.learn.passage_reader train --work WORK --out passage_reader.json",
)
CREDITS: Mapping[str, str] = {
    "18f-guides": "18F, guides: public domain, CC0 1.0",
    "civicactions": "CivicActions, CivicActions Guidebook: CC BY 4.0",
    "cloudgov": "cloud.gov, documentation: public domain, CC0 1.0",
    "csc-user-guide": "CSC - IT Center for Science, user guide: CC BY 4.0",
    "fprime": "California Institute of Technology, F Prime documentation: Apache-2.0",
    "govuk-dev": "Crown copyright, GOV.UK developer documentation: MIT",
    "k8scommunity": "The Kubernetes authors, community documentation: Apache-2.0",
    "nhs-service-manual": "NHS England, digital service manual, Crown copyright: Open Government Licence v3.0",
    "openbmc": "OpenBMC contributors, documentation: CC BY 4.0",
    "opentitan": "lowRISC contributors, OpenTitan documentation: Apache-2.0",
    "pagerduty": "PagerDuty, operations guides: Apache-2.0",
    "rubin-dm-guide": "Vera C. Rubin Observatory, Data Management Developer Guide: CC BY 4.0",
    "sourcegraph": "Sourcegraph, Inc., handbook: Apache-2.0",
    "tfa_docs": "Arm Limited and contributors, Trusted Firmware-A documentation: BSD-3-Clause",
    "medquad": "MedQuAD (Ben Abacha and Demner-Fushman), of websites of US health institutes: CC BY 4.0",
    "clapnq": "CLAPnq (IBM), its development set: Apache-2.0",
    "sections": "the headings of the same organisations' documents",
}
"""The owners and licences of the documents and data, by source. The weights contain none of the text."""
INVENTED_CREDIT = "organisations that do not exist, invented for this training: Apache-2.0"
PAIR_COMMANDS = (
    COMMANDS[0],
    "python -m argot.learn.passage_reader pairs --datasets DATASETS --work WORK --out pair_reader.onnx",
)
ADAPTER_COMMANDS = (
    "python -m argot.learn.passage_reader adapter --sets SETS --invented --work WORK --out query_adapter.npz",
)


def write_reader(
    weights: Mapping[str, Any], examples: Sequence[Example], path: Path, figures: Mapping[str, float] | None = None
) -> None:
    """Write weights and card as one file, completely or not at all.

    Args:
        figures: measured on examples that were not learnt from.
    """
    card = {
        "over": f"token vectors of {READER_SOURCE_MODEL} (tools/retrieval/token_vectors.py)",
        "questions": len(examples),
        "passages": sum(len(one.passages) for one in examples),
        "credits": _list_credits(examples),
        "commands": COMMANDS,
        "recipe": weights["recipe"],
        "figures": dict(figures or {}),
    }
    numbers = {name: value for name, value in weights.items() if name != "recipe"}
    with replace_atomically(path) as file:
        file.write(f"{json.dumps({'card': card, 'weights': numbers}, separators=(',', ':'))}\n".encode())


def write_pair_card(
    checkpoint: Checkpoint, examples: Sequence[Example], path: Path, figures: Mapping[str, float] | None = None
) -> None:
    """Write the card of a pair reader beside its graph, completely or not at all.

    Args:
        checkpoint: the last one of its training.
        figures: measured on examples that were not learnt from.
    """
    card = {
        "started_from": PAIR_READER_SOURCE,
        "questions": len(examples),
        "passages": sum(len(one.passages) for one in examples),
        "steps_of_last_stage": checkpoint.step,
        "credits": _list_credits(examples),
        "commands": PAIR_COMMANDS,
        "recipes": [asdict(one) for one in STAGES],
        "figures": dict(figures or {}),
    }
    with replace_atomically(path) as file:
        file.write(f"{json.dumps(card, indent=1)}\n".encode())


def write_adapter_with_card(
    changes: Mapping[str, WeightChange], sets: Sequence[SearchedSet], figures: Mapping[str, Any], path: Path
) -> None:
    """Write a query adapter with its card, completely or not at all.

    Args:
        sets: those that it learnt from.
        figures: measured on questions that were not learnt from.
    """
    card = {
        "fingerprint": sets[0].fingerprint,
        "over": PAIR_READER_SOURCE,
        "questions": sum(len(one.texts) for one in sets),
        "credits": _list_credits(sets),
        "commands": ADAPTER_COMMANDS,
        "recipe": asdict(AdapterRecipe()),
        "figures": dict(figures),
    }
    write_adapter(changes, card, path)


def _list_credits(sources: Iterable[Example | SearchedSet]) -> list[str]:
    credits = {**CREDITS, **dict.fromkeys(list_invented_sets(), INVENTED_CREDIT)}
    names = sorted({one.source for one in sources})
    return list(dict.fromkeys(credits.get(one, one) for one in names))
