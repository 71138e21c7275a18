"""The wing `evaluate`: measuring, and the choice of a search strategy.

Two parts can be left out: the experiments (`evaluate/experiments/`), and the choice of a strategy on a set of pairs,
which needs the wing `learn`.
"""

from importlib.util import find_spec

from argot.wings import Wing

_PAIRS, _EXPERIMENTS = (find_spec(f"argot.{name}") is not None for name in ("learn", "evaluate.experiments"))

WING = Wing(
    name="evaluate",
    use_cases=("argot.evaluate.usecases.search_strategies",) if _PAIRS else (),
    commands=(
        "argot.evaluate.commands.evaluate_commands:register",
        *(("argot.evaluate.experiments.task_commands:register",) if _EXPERIMENTS else ()),
    ),
    pages=("argot.evaluate.pages.strategy_pages:build_strategy_pages",) if _PAIRS else (),
    addresses=("argot.evaluate.addresses:ADDRESSES",) if _PAIRS else (),
    templates=("argot.evaluate.pages",),
)
