from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny_llama import tiny_llama

from argot.errors import InvalidInput
from argot.learn.generator.answering import compute_answer_losses, write_replies
from argot.learn.generator.examples import ExampleMaker, add_citations
from argot.learn.generator.generator_recipe import GeneratorRecipe, build_generator_recipe, refuse_large
from argot.learn.generator.tokens import ChatTokens, collect_examples
from argot.learn.training_pairs import PoolPassage, TrainingPair
from argot.prompts.loader import NOT_IN_PASSAGES, prompt
from argot.tools.llm.passage_fences import number_passages
from argot.tools.llm.writer import build_answer_messages

POOL = [
    PoolPassage("p0", "Pumps are bought in lots of ten.", "pumps.md"),
    PoolPassage("p1", "The pump runs at 40 bar. It is stopped at 50 bar.", "pumps.md"),
    PoolPassage("p2", "Pumps are painted grey.", "pumps.md"),
    PoolPassage("p3", "At what pressure the valve opens is said on its plate.", "valves.md"),
    PoolPassage("p4", "Lunch is at noon.", "canteen.md"),
    PoolPassage("p5", "The pressure of the boiler is checked each week.", "boilers.md"),
]
PAIR = TrainingPair(
    "a1", "At what pressure does the pump run?", "p1", POOL[1].text, "pumps.md", "standard", "train",
    "It runs at 40 bar. It stops at 50 bar.",
)  # fmt: skip
RECIPE = GeneratorRecipe(unanswerable=0.0)


def example(recipe: GeneratorRecipe = RECIPE, pair: TrainingPair = PAIR, seed: int = 7):
    return next(ExampleMaker(recipe, POOL, seed).make_versions(pair))


def test_an_example_holds_the_right_passage_its_neighbours_and_the_nearest() -> None:
    user = example().messages[1][1]
    for text in (POOL[0].text, POOL[1].text, POOL[2].text, POOL[3].text, POOL[5].text):
        assert text in user
    assert POOL[4].text not in user and user.count("<passage n=") == 5
    without_neighbours = example(replace(RECIPE, neighbours=0, passages=3)).messages[1][1]
    assert POOL[3].text in without_neighbours and POOL[5].text in without_neighbours
    assert POOL[4].text in example(pair=replace(PAIR, negatives=("p4",))).messages[1][1]


def test_the_contexts_are_those_that_a_search_finds() -> None:
    found = {PAIR.id: ["p4", "p1", "p2"]}

    def others(by: str) -> set[str]:
        recipe = build_generator_recipe({"unanswerable": 0.0, "passages": 4, "contexts_by": by})
        user = next(ExampleMaker(recipe, POOL, 7, found).make_versions(PAIR)).messages[1][1]
        return {one.id for one in POOL if one.text in user} - {"p1"}

    assert others("semantic") == {"p4", "p2"}
    # The right passage, which words find first, is never among the others.
    assert others("keyword") == {"p5", "p3", "p2"}
    # p4 and p2 are in both lists, p5 is the next of the words' list.
    assert others("hybrid") == {"p4", "p2", "p5"}
    assert others("neighbours") == {"p0", "p2", "p5"}


def test_an_example_has_the_same_prompt_as_the_service() -> None:
    recipe = replace(RECIPE, passages=1)
    passages = number_passages([(PAIR.passage, PAIR.document)])
    assert example(recipe).messages == build_answer_messages(PAIR.question, passages)
    given = {"passages": '<passage n="1" source="pumps.md">\n' + PAIR.passage + "\n</passage>"}
    assert example(recipe).messages == prompt("cited_answer").messages(**given, question=PAIR.question)


def test_passages_are_shuffled_and_the_answer_cites_the_right_one() -> None:
    places = set()
    for seed in range(12):
        one = example(seed=seed)
        place = one.messages[1][1].split(PAIR.passage)[0].count("<passage n=")
        assert one.answer == f"It runs at 40 bar [{place}]. It stops at 50 bar [{place}]."
        assert one == example(seed=seed)
        places.add(place)
    assert len(places) > 2


def test_some_training_examples_lack_the_right_passage_but_no_test_example() -> None:
    recipe = replace(RECIPE, unanswerable=0.9)
    learnt = [example(recipe, replace(PAIR, id=str(number))) for number in range(10)]
    without = [one for one in learnt if PAIR.passage not in one.messages[1][1]]
    assert len(without) > 5 and {one.answer for one in without} == {NOT_IN_PASSAGES}
    measured = [example(recipe, replace(PAIR, id=str(number), part="test")) for number in range(10)]
    assert all(PAIR.passage in one.messages[1][1] for one in measured)


def test_citations_are_added_where_the_prompt_shows_them() -> None:
    assert add_citations("It is 5 V [9]. Two are kept", 2) == "It is 5 V [2]. Two are kept [2]"
    assert add_citations("1. Open it.\n2. Close it.", 1) == "1. Open it [1].\n2. Close it [1]."
    assert add_citations("Do this:\n1. Open it.\n2. Close it.", 1) == "Do this [1]:\n1. Open it.\n2. Close it."


def test_an_example_may_hold_the_question_alone_or_in_a_prompt() -> None:
    assert example(GeneratorRecipe(examples="answers")).messages == [("user", PAIR.question)]
    asked = example(GeneratorRecipe(examples="answers", prompt="identify_jargon")).messages
    assert asked == prompt("identify_jargon").messages(question=PAIR.question)
    with pytest.raises(InvalidInput, match=r"no prompt 'nonsense' that takes a question alone. There are: .*identify"):
        ExampleMaker(GeneratorRecipe(examples="answers", prompt="nonsense"), POOL, 7)


def test_invalid_generator_recipes_are_refused() -> None:
    assert build_generator_recipe({"method": "full", "rank": 8}).learning_rate == 2e-5
    with pytest.raises(InvalidInput, match="nothing named 'ranks'"):
        build_generator_recipe({"ranks": 8})
    with pytest.raises(InvalidInput, match=r"'prompt' belongs to examples 'answers'"):
        build_generator_recipe({"prompt": "identify_jargon"})
    with pytest.raises(InvalidInput, match=r"7,000 million weights.*about 104 GB.*method 'lora'.*force"):
        refuse_large(7_000_000_000, build_generator_recipe({"method": "full"}))
    refuse_large(7_000_000_000, build_generator_recipe({"method": "full", "force": True}))
    refuse_large(7_000_000_000, build_generator_recipe({}))


# -- examples as a model reads them -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = [prompt("cited_answer").system, *(one.text for one in POOL)]
    return tiny_llama(tmp_path_factory.mktemp("tiny"), texts)


@pytest.fixture(scope="module")
def tokens(model_folder: Path) -> ChatTokens:
    from transformers import AutoTokenizer

    return ChatTokens(AutoTokenizer.from_pretrained(model_folder))


def test_passages_are_dropped_to_fit_the_length_but_answers_are_never_cut(tokens: ChatTokens) -> None:
    maker = ExampleMaker(RECIPE, POOL, 7)
    (whole,) = collect_examples([PAIR], maker, tokens, 5000).examples
    assert tokens.text_of(whole.answer) == whole.example.answer
    (shorter,) = collect_examples([PAIR], maker, tokens, len(whole.ids) - 1).examples
    assert shorter.example.messages[1][1].count("<passage n=") == 4 and PAIR.passage in shorter.example.messages[1][1]
    assert tokens.text_of(shorter.answer) == shorter.example.answer
    left = collect_examples([PAIR, replace(PAIR, answer=" ")], maker, tokens, 100)
    assert (len(left.examples), left.no_answer, left.too_long) == (0, 1, 1)


def test_sharing_the_common_prefix_of_prompts_does_not_change_the_output(
    model_folder: Path, tokens: ChatTokens
) -> None:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32).eval()
    pairs = [replace(PAIR, id=str(n), question=f"{n} {PAIR.question}", answer="So. " * (n + 1)) for n in range(3)]
    batch = collect_examples(pairs, ExampleMaker(RECIPE, POOL, 7), tokens, 5000).examples
    together = compute_answer_losses(model, batch)
    for one, loss in zip(batch, together, strict=True):
        asked, ids = len(one.asked), torch.tensor([one.ids])
        labels = ids.clone()
        labels[0, :asked] = -100
        assert torch.allclose(model(input_ids=ids, labels=labels).loss, loss, atol=1e-4)
    prompts = [one.asked for one in batch]
    for asked, written in zip(prompts, write_replies(model, prompts, 12, {2}), strict=True):
        alone = model.generate(torch.tensor([asked]), max_new_tokens=12, do_sample=False)[0, len(asked) :].tolist()
        assert written == [one for one in alone if one != 2]


def test_a_model_without_a_chat_template_is_refused(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder = tiny_llama(tmp_path, template=None)
    with pytest.raises(InvalidInput, match="no chat template"):
        ChatTokens(AutoTokenizer.from_pretrained(folder))
