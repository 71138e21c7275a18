"""The gain by tuning SmolLM2-135M by LoRA on a task small enough for it: the list of a question's jargon
(Golden-Retriever 3.2), asked for word for word as the service does (prompts/identify_jargon.md).

    nice -n 5 python bench/jargon_lists.py --work jargon_work
    nice -n 5 python bench/jargon_lists.py --work jargon_work --measure-only
    nice -n 5 python bench/jargon_lists.py --work jargon_work --served http://127.0.0.1:8011/v1

Training questions are made from templates with glossary terms and invented ones, and from sentences of the sample
documents. None contains a term of the 100 labelled sample questions (samples/question_terms.jsonl) that the model is
measured on. Settings are chosen on the half `choosing`; the result is that of `reporting`. A second call continues
where the first was stopped. The model: ARGOT_CACHE/model-server/smollm2-135m-instruct-0.1.2 (`make
model-server-setup`), or --base.

With --served the adapter is loaded into a running vLLM (`LORA=32 make model-server`), and the service's own client asks
both models there.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import difflib
import json
import random
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from argot.evaluate.experiments.question_term_suite import HALVES, LabelledQuestion, load_question_terms
from argot.learn.run_folder import RunFolder, RunRequest
from argot.learn.training_pairs import Part, TrainingPair, make_pair_id
from argot.measures import bootstrap_interval
from argot.tools.llm.grounding import find_strange_words
from argot.tools.text.sentences import split_sentences

SAMPLES = Path(__file__).parent.parent / "samples"
PROMPT = "identify_jargon"
BEGUN = '{"terms":'
"""The beginning of every reply under the prompt's schema, which a server enforces."""
SERVED = "jargon-lists"
"""The adapter's name on the server."""
LIKE = 0.8
"""Spellings of at least this similarity count as one term, misspelt."""

ONE_TERM = """
What is the limit for {t}?|What does {t} mean?|How long does {t} take?|who signs off {t}|Where do I find the {t} form?
When is {t} due this quarter?|Is {t} allowed on the new line?|How many {t} may run at the same time?|{t} limits at night
max {t} per shift|Can you explain {t} to me?|Why did {t} fail last week?|Does the {t} have to be approved twice?
How much {t} is left at the end of life?|{t}: how often is it checked?|Which tool do we use for {t}?
Has {t} changed since May?|What happens if {t} is skipped?
whats the {t} target for the big drive|At which step does {t} start?
Please tell me the owner of {t}.|For {t}, which temperature counts?|how do i ask for {t}|min {t} at 85 degrees
After {t} the parts are stored for a week.|Who do I call when {t} goes wrong on a Sunday?|Is there a fee for {t}
Share of blocks used by {t}|What share of the budget goes to {t}?|At most how many {t} fit into one box?
On the {t}, which light is red when it stops?|When did we last test {t}?|What's the smallest {t} a customer may order?
"""
TWO_TERMS = """
Does {t} come before or after {u}?|How does {t} affect {u}?|{t} vs {u}|Can {t} and {u} run on the same machine?
Which {t} is used when {u} is high?|Who decides about {t} if the {u} is closed?|What's the {t} of the {u}?
How many {t} does one {u} need?|is {t}/{u} checked on Mondays|In {u}, what is the limit of {t} for a new part?
"""
NO_TERM = """
How long do we keep the old papers?|Who opens the gate in the morning?|Which side of the room is the warmest?
How many boxes fit on one shelf?|Where can I park my bike?|What do I do when the light turns red?
When does the office close on Friday?|Is it allowed to eat at the desk?|Who pays for a taxi at night?
How high may the boxes be stacked?|What is the smallest size of the label?|May visitors take pictures in the hall?
How often is the floor cleaned?|Which door leads to the loading dock?|Do I have to sign the paper twice?
How many days of holiday are left after a move?|Who may see what I earn?|Where do broken chairs go?
"""
SYLLABLES = ["ba", "ke", "lo", "mi", "nu", "ra", "so", "te", "vi", "wo", "zu", "dra", "fle", "gri", "ska", "tro"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="a folder for the training")
    parser.add_argument("--base", default="smollm2-135m-instruct-0.1.2")
    parser.add_argument("--questions", type=int, default=1200)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--measure-only", action="store_true", help="train nothing, measure what the folder holds")
    parser.add_argument("--served", default="", help="the address of a vLLM that loads adapters: train nothing")
    given = parser.parse_args()
    questions = load_labelled_questions()
    folders = sorted(given.work.glob("r[0-9]*"))
    run = RunFolder(folders[-1]) if folders else _train_run(given, make_training_pairs(questions, given.questions))
    if not given.measure_only and not given.served and run.state.status != "done":
        _train(run)
    report = (
        asyncio.run(_measure_served(given.served, run, questions)) if given.served else _measure_run(run, questions)
    )
    kept = given.work / ("report-served.json" if given.served else "report.json")
    kept.write_text(json.dumps(report, indent=1) + "\n", "utf-8")


# -- data -------------------------------------------------------------------------------------------------------------


def load_labelled_questions() -> list[LabelledQuestion]:
    """Return the labelled questions about the samples, without those of public sets, which need their files."""
    rows = map(json.loads, (SAMPLES / "questions.jsonl").read_text("utf-8").splitlines())
    texts = {row["id"]: row["question"] for row in rows}
    labels = (SAMPLES / "question_terms.jsonl").read_text("utf-8")
    found, _ = load_question_terms(labels, texts, Path("/nonexistent"))
    return found


def list_terms(question: LabelledQuestion) -> list[str]:
    return list(dict.fromkeys(question.text[start:end] for start, end in sorted(question.terms)))


def make_training_pairs(measured: Sequence[LabelledQuestion], count: int) -> list[TrainingPair]:
    """Return training questions with their lists, without any term or question that is measured."""
    chance = random.Random(7)
    held_out = {term.casefold() for one in measured for term in list_terms(one)}
    known = [*dict.fromkeys(_list_glossary_spellings(held_out))]
    banned = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(held_out, key=len, reverse=True)))})(?!\w)", re.I)
    sentences = dict(_draw_from_documents(known))
    empty = [text for text, terms in sentences.items() if not terms]
    # Most sentences have no term, most questions do.
    asked = {text: terms for text, terms in sentences.items() if terms}
    asked |= {text: [] for text in chance.sample(empty, min(len(empty), count // 20))}
    while len(asked) < count:
        text, terms = _draw_from_template(known, chance)
        asked.setdefault(text, terms)
    measured_texts = {one.text.casefold() for one in measured}
    pairs = [
        _make_pair(number, text, terms)
        for number, (text, terms) in enumerate(asked.items())
        if not banned.search(text) and text.casefold() not in measured_texts
    ]
    print(f"{len(pairs)} training questions, {len(known)} glossary spellings; {len(held_out)} terms held out")
    return pairs


def _list_glossary_spellings(held_out: set[str]) -> Iterator[str]:
    """Yield the spellings of the senses none of whose spellings is measured, or similar to one that is."""
    with (SAMPLES / "glossary.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            spellings = [row["term"], row["expansion"], *filter(None, row["aliases"].split("|"))]
            if not any(_is_like(one.casefold(), other) for one in spellings for other in held_out):
                yield from spellings


def _is_like(one: str, other: str) -> bool:
    return one == other or (len(one) > 5 and difflib.SequenceMatcher(None, one, other).ratio() >= LIKE)


def _draw_from_documents(known: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield sentences of the documents whose only jargon is in the glossary."""
    # Case matters where all of a term is in capitals: "PE" is one, "pe" is none.
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(known, key=len, reverse=True)))})(?!\w)")
    for path in sorted(SAMPLES.rglob("documents/**/*")):
        if path.suffix not in (".md", ".txt", ".rst"):
            continue
        text = path.read_text("utf-8")
        for start, end in split_sentences(text):
            sentence = " ".join(text[start:end].split())
            spans = [match.span() for match in pattern.finditer(sentence)]
            inside = all(any(a <= w.start and w.end <= b for a, b in spans) for w in find_strange_words(sentence))
            if inside and 4 <= len(sentence.split()) <= 22 and re.fullmatch(r"[A-Z][^|#*`=<>_]*[.?!]", sentence):
                yield sentence, list(dict.fromkeys(sentence[a:b] for a, b in spans))


def _draw_from_template(known: Sequence[str], chance: random.Random) -> tuple[str, list[str]]:
    kind = chance.random()
    if kind < 0.06:
        return chance.choice(_list_templates(NO_TERM)), []
    one, other = (chance.choice(known) if chance.random() < 0.35 else _invent_term(chance) for _ in range(2))
    if kind < 0.3 and one != other:
        text = chance.choice(_list_templates(TWO_TERMS))
        terms = [one, other] if text.index("{t}") < text.index("{u}") else [other, one]
        return text.replace("{t}", one).replace("{u}", other), terms
    return chance.choice(_list_templates(ONE_TERM)).replace("{t}", one), [one]


def _list_templates(templates: str) -> list[str]:
    return [one.strip() for line in templates.strip().splitlines() for one in line.split("|")]


def _invent_term(chance: random.Random) -> str:
    """Invent a term: mostly an abbreviation in capitals, sometimes in mixed or small letters, or a word or two."""
    letters = "".join(chance.choice("ABCDEFGHIKLMNOPRSTUVWXZ") for _ in range(chance.choice((2, 3, 3, 3, 4, 4, 5))))
    kind = chance.random()
    if kind < 0.6:
        return letters
    if kind < 0.7:
        return "t" + letters
    if kind < 0.78:
        return letters[:2] + letters[2:].lower() + chance.choice("XQKZ")
    if kind < 0.84:
        return letters.lower() if len(letters) > 3 else letters
    word = "".join(chance.choice(SYLLABLES) for _ in range(3))
    return word if kind < 0.92 else f"{word} {chance.choice(('gate', 'lot', 'table', 'window', 'plan', 'ring'))}"


def _make_pair(number: int, text: str, terms: Sequence[str]) -> TrainingPair:
    part: Part = "validation" if number % 50 == 0 else "test" if number % 50 == 1 else "train"
    answer = json.dumps({"terms": list(terms)}, ensure_ascii=False)
    return TrainingPair(make_pair_id(text, text), text, f"question {number}", text, "", "jargon list", part, answer)


# -- training and measuring -------------------------------------------------------------------------------------------


def _train_run(given: argparse.Namespace, pairs: Sequence[TrainingPair]) -> RunFolder:
    recipe = {
        "examples": "answers",
        "prompt": PROMPT,
        "steps": given.steps,
        "batch": given.batch,
        "accumulate": 1,
        "rate": given.rate,
        "every": 4,
        "measured": 0,
        "threads": 1,
    }
    request = RunRequest("generator", "jargon lists", given.base, "templates and samples", recipe=recipe)
    return RunFolder.create(given.work, request, pairs, [])


def _train(run: RunFolder) -> None:
    from argot.learn.run_process import run_training

    state = run_training(run)
    print(f"training {run.id}: {state.status} {state.error}")
    if state.status != "done":
        raise SystemExit(1)


def _measure_run(run: RunFolder, questions: Sequence[LabelledQuestion]) -> dict[str, object]:
    import torch
    from peft import PeftModel

    from argot.learn.generator.answering import write_replies
    from argot.learn.generator.base_models import find_base_model, load_model, load_tokenizer
    from argot.learn.generator.tokens import ChatTokens
    from argot.prompts.loader import prompt

    torch.set_num_threads(1)
    base = find_base_model(run.request.base, run.path.parent)
    tokenizer = load_tokenizer(base)
    tokens = ChatTokens(tokenizer)
    begun = tuple(tokenizer(BEGUN, add_special_tokens=False)["input_ids"])
    asked = [(*tokens.tokenize_prompt(prompt(PROMPT).messages(question=one.text)), *begun) for one in questions]
    model = load_model(base, torch.bfloat16, torch.device("cpu"))
    # Nothing after the bracket that ends the list matters.
    ends = tokens.ends(model) | {token for word, token in tokenizer.get_vocab().items() if "]" in word}
    found: dict[str, list[list[str]]] = {}
    for way in ("before", "after"):
        began = time.monotonic()
        if way == "after":
            model = PeftModel.from_pretrained(model, run.model).eval()
        written = write_replies(model, asked, 48, ends)
        found[way] = [read_terms(tokens.text_of(one)) for one in written]
        print(f"{way}: {len(questions)} questions in {time.monotonic() - began:.0f} s", flush=True)
    card = run.card
    halves = _report_figures(questions, found)
    print({name: card.get(name) for name in ("steps", "seconds", "peak_megabytes", "figures", "examples")})
    _show(questions, found)
    return {"halves": halves, "card": card, "said": found}


async def _measure_served(address: str, run: RunFolder, questions: Sequence[LabelledQuestion]) -> dict[str, object]:
    """Load the adapter into the running server, and ask both models by the service's own client."""
    from argot.settings import Settings
    from argot.tools.llm.model_server import ModelServer

    patient = Settings(model_url=address, model_connect_seconds=60, model_first_token_seconds=600, model_seconds=1800)
    first = ModelServer.from_settings(patient)
    assert first is not None
    base = (await first.served_model()).model
    began = time.monotonic()
    body = {"lora_name": SERVED, "lora_path": str(run.model.resolve())}
    await first.connection().order(f"{first.address.api}/load_lora_adapter", body)
    print(f"{SERVED} beside {base}: loaded in {time.monotonic() - began:.2f} s")
    await first.aclose()
    found: dict[str, list[list[str]]] = {}
    for way, name in (("before", base), ("after", SERVED)):
        server = ModelServer.from_settings(patient.replace(model=name))
        assert server is not None
        began = time.monotonic()
        found[way] = [
            list(dict.fromkeys((await server.session([]).json(PROMPT, question=one.text))["terms"]))
            for one in questions
        ]
        print(f"{name}: {len(questions)} questions in {time.monotonic() - began:.0f} s", flush=True)
        await server.aclose()
    halves = _report_figures(questions, found)
    other = sum(one != another for one, another in zip(found["before"], found["after"], strict=True))
    print(f"{other} of {len(questions)} lists are others than without the adapter")
    kept = run.path.parent / "report.json"
    if kept.is_file():
        said = json.loads(kept.read_text("utf-8"))["said"]
        same = {way: sum(map(list.__eq__, lists, said[way])) for way, lists in found.items()}
        print(f"the same as by transformers and peft: {same}")
    return {"halves": halves, "said": found}


def _report_figures(questions: Sequence[LabelledQuestion], found: dict[str, list[list[str]]]) -> dict[str, object]:
    halves = {half: _compute_figures(questions, found, half) for half in HALVES}
    for half, rows in halves.items():
        for name, row in rows.items():
            print(f"{half:9} {name:5} {row}")
    return dict(halves)


def read_terms(reply: str) -> list[str]:
    """Return the strings of the list that a reply continues; an unfinished list counts up to where it stops."""
    inside = reply.partition("[")[2].partition("]")[0]
    return list(dict.fromkeys(re.findall(r'"([^"]{1,60})(?:"|$)', inside)))


def _compute_figures(
    questions: Sequence[LabelledQuestion], found: dict[str, list[list[str]]], half: str
) -> dict[str, dict[str, object]]:
    places = [place for place, one in enumerate(questions) if one.half == half]
    exact, f1 = ({way: [] for way in found} for _ in range(2))
    for way, lists in found.items():
        for place in places:
            said, wanted = ({one.casefold() for one in some} for some in (lists[place], list_terms(questions[place])))
            exact[way].append(float(said == wanted))
            f1[way].append(2 * len(said & wanted) / (len(said) + len(wanted)) if said or wanted else 1.0)
    return {name: _compare_runs(values["before"], values["after"]) for name, values in (("exact", exact), ("F1", f1))}


def _compare_runs(before: Sequence[float], after: Sequence[float]) -> dict[str, object]:
    differences = [new - old for old, new in zip(before, after, strict=True)]
    interval = [round(one, 3) for one in bootstrap_interval(differences)]
    means = {"before": round(fmean(before), 3), "after": round(fmean(after), 3)}
    return {**means, "difference": round(fmean(differences), 3), "interval": interval, "questions": len(before)}


def _show(questions: Sequence[LabelledQuestion], found: dict[str, list[list[str]]]) -> None:
    """Print some of the choosing half, to see what goes wrong; the other half is only for reporting."""
    chosen = [place for place, one in enumerate(questions) if one.half == HALVES[0]][:12]
    for place in chosen:
        one = questions[place]
        print(f"  {one.text} | {list_terms(one)} | {found['before'][place]} | {found['after'][place]}")


if __name__ == "__main__":
    main()
