from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest

from argot.errors import InvalidInput
from argot.learn.recipes import option, options_of, recipe_from, values_of_texts


@dataclass(frozen=True, slots=True)
class Soup:
    salt: float = option(0.5, "grams", least=0, most=5)
    spoons: int = option(2, "how many", least=1)
    hot: bool = option(True, "or cold")
    kind: Literal["clear", "thick"] = option("clear", "of which kind")
    herbs: tuple[str, ...] = option((), "what is strewn on it")


def test_what_is_given_takes_the_place_of_defaults() -> None:
    assert recipe_from(Soup, {}) == Soup()
    assert recipe_from(Soup, {"salt": 1, "herbs": ["dill"], "kind": "thick"}) == Soup(
        1.0, kind="thick", herbs=("dill",)
    )
    texts = {"salt": "0.1", "spoons": " 3", "hot": "no", "herbs": "dill, chives", "kind": "thick"}
    assert recipe_from(Soup, values_of_texts(Soup, texts)) == Soup(0.1, 3, False, "thick", ("dill", "chives"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"pepper": 1}, "'pepper' is unknown (there are: salt, spoons, hot, kind, herbs)"),
        ({"spoons": 1.5}, "'spoons' must be a whole number, not 1.5"),
        ({"spoons": True}, "'spoons' must be a whole number, not True"),
        ({"spoons": 0}, "'spoons' must be at least 1, not 0"),
        ({"salt": 6}, "'salt' must be at most 5, not 6.0"),
        ({"salt": float("nan")}, "'salt' must be a number, not nan"),
        ({"hot": "yes"}, "'hot' must be true or false, not 'yes'"),
        ({"kind": "sweet"}, "'kind' must be clear or thick, not 'sweet'"),
        ({"herbs": "dill"}, "'herbs' must be a list of words, not 'dill'"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(given: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        recipe_from(Soup, given)
    assert said in str(refused.value)


def test_all_faults_are_told_at_once_and_texts_of_the_wrong_type_stay_texts() -> None:
    with pytest.raises(InvalidInput, match="'salt' must be a number, not 'much'; 'pepper' is unknown"):
        recipe_from(Soup, values_of_texts(Soup, {"salt": "much", "pepper": "1"}))


def test_options_tell_what_they_take() -> None:
    kind = {one.name: one for one in options_of(Soup)}["kind"]
    assert (kind.takes, kind.default, kind.says, kind.choices) == (
        "clear or thick",
        "clear",
        "of which kind",
        ("clear", "thick"),
    )
