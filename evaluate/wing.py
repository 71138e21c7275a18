"""The wing `evaluate`: measurements, and the choice of a search strategy.

Its experiments (`evaluate/experiments/`) can be left out.
"""

from importlib.util import find_spec

from argot.wings import Wing

_EXPERIMENTS = find_spec("argot.evaluate.experiments") is not None

WING = Wing(
    name="evaluate",
    use_cases=(
        "argot.evaluate.usecases.awaited_evaluations",
        "argot.evaluate.usecases.search_strategies",
        "argot.evaluate.usecases.set_evaluations",
    ),
    commands=(
        "argot.evaluate.commands.evaluate_commands:register",
        *(("argot.evaluate.experiments.task_commands:register",) if _EXPERIMENTS else ()),
    ),
    pages=(
        "argot.evaluate.pages.evaluation_pages:build_evaluation_pages",
        "argot.evaluate.pages.strategy_pages:build_strategy_pages",
    ),
    addresses=("argot.evaluate.addresses:ADDRESSES",),
    templates=("argot.evaluate.pages",),
    workbench=(
        ("/workbench/evaluate", "Evaluate", "how well passages are found and questions answered, on a set of pairs"),
        ("/workbench/strategy", "Search", "which search finds most, by meaning, by words or both"),
    ),
    migrations={"evaluations": "argot.evaluate.store.evaluation_store:MIGRATIONS"},
    text_keepers=("argot.evaluate.text_keeper:KEEPER",),
)
