"""All experiments by name."""

from __future__ import annotations

from argot.errors import InvalidInput
from argot.evaluate.experiments import accurate_rag, golden_retriever, kapqa, raidd, trustworthy
from argot.evaluate.experiments.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    one.name: one for paper in (golden_retriever, kapqa, raidd, trustworthy, accurate_rag) for one in paper.EXPERIMENTS
}


def find_experiment(name: str) -> Experiment:
    """Return the experiment of this name.

    Raises:
        InvalidInput: there is no experiment of this name; the message lists all names.
    """
    if name not in EXPERIMENTS:
        raise InvalidInput(f"There is no experiment '{name}'. Experiments: {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]
