"""The wing `evaluate`: measurements, and the choice of a search strategy.

Its experiments (`evaluate/experiments/`) can be left out.
"""

from importlib.util import find_spec

from argot.wings import Wing

_EXPERIMENTS = find_spec("argot.evaluate.experiments") is not None

WING = Wing(
    name="evaluate",
    use_cases=("argot.evaluate.usecases.search_strategies",),
    commands=(
        "argot.evaluate.commands.evaluate_commands:register",
        *(("argot.evaluate.experiments.task_commands:register",) if _EXPERIMENTS else ()),
    ),
    pages=("argot.evaluate.pages.strategy_pages:build_strategy_pages",),
    addresses=("argot.evaluate.addresses:ADDRESSES",),
    templates=("argot.evaluate.pages",),
    workbench=(("/workbench/strategy", "Search", "which search finds most, by meaning, by words or both"),),
)
