from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest

from argot.errors import InvalidInput
from argot.learn.recipes import TuningRecipe, build_recipe, make_option


@dataclass(frozen=True, slots=True)
class Soup(TuningRecipe):
    salt: float = make_option(0.5, "grams", least=0, most=5)
    spoons: int = make_option(2, "how many", least=1)
    hot: bool = make_option(True, "or cold")
    kind: Literal["clear", "thick"] = make_option("clear", "of which kind")
    herbs: tuple[str, ...] = make_option((), "what is strewn on it")


def test_given_values_replace_the_defaults() -> None:
    assert build_recipe(Soup, {}) == Soup()
    thick = Soup(1.0, kind="thick", herbs=("dill",))
    assert build_recipe(Soup, {"salt": 1, "herbs": ["dill"], "kind": "thick"}) == thick


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"pepper": 1}, "nothing named 'pepper'. It has: herbs, hot, kind, salt, spoons"),
        ({"spoons": 1.5}, "'spoons' is 1.5. It is a whole number"),
        ({"spoons": True}, "'spoons' is True. It is a whole number"),
        ({"spoons": 0}, "'spoons' is 0. It is at least 1"),
        ({"salt": 6}, "'salt' is 6. It is from 0 to 5"),
        ({"salt": float("nan")}, "'salt' is nan. It is a number"),
        ({"hot": "yes"}, "'hot' is 'yes'. It is true or false"),
        ({"kind": "sweet"}, "'kind' is 'sweet'. It is one of: clear, thick"),
        ({"herbs": "dill"}, "'herbs' is 'dill'. It is a list of texts"),
    ],
)
def test_the_error_for_an_invalid_value_names_the_field(given: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        build_recipe(Soup, given)
    assert said in str(refused.value)
