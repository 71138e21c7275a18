"""The wait of people beside hostile requests: questions of a megabyte, and bombs for JSON and regular expressions.

    python bench/hostile.py                # under three minutes on two cores
    python bench/hostile.py --seconds 10   # a quick trial

One `argot serve` over the sample knowledge base, with its default limits and without a language model, so that the
whole waiting time is Argot's own. Some people ask a question every few seconds: alone, then beside programs that send
only hostile requests, then alone again. The hostile programs have keys of their own and run in another process.

First they send requests that are too large, or that are no question at all. Number 25 of the scorecard is met if all of
these are refused with 4xx within a second, and the people's 95th percentile is at most twice what it is alone. Then
they send bombs of the maximum length of a question. These are valid questions: they are answered until the sender's
limit refuses them. Their effect on the people is shown, too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from load_applications import ARGOT, prepare_base, start_application

MB = 1_000_000
LONGEST = 4000
"""Maximum characters of a question, the default of the setting `max_question_chars`."""
MOST_SECONDS = 1.0
MOST_RATIO = 2.0
UNITS = (
    " ", "\t", "\n", "a", "1", "A-B ", "(a) ", "((", "a.b", "1. ", "a_", "PUC/", "PUC, ", "GC and ", "what is ", "x:",
    "http://a@", "| ", "[1](", "<a ", "`", "“", "\u0301", "\u202e", "\U0001f642",
)  # fmt: skip
"""Texts whose long repetitions make regular expressions backtrack."""


@dataclass(frozen=True)
class Bomb:
    """A hostile request. `refused`: it is no valid question, so a 4xx is expected."""

    kind: str
    path: str
    body: bytes
    refused: bool = True


@dataclass(frozen=True)
class Reply:
    kind: str
    refused: bool
    status: int
    seconds: float


def list_bombs() -> list[Bomb]:
    """Return every kind of bomb: those to be refused, in turn, and those that are valid questions."""

    def ask(text: str) -> bytes:
        return json.dumps({"question": text}).encode()

    def make_chat(*texts: str) -> bytes:
        said = [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(texts)]
        return json.dumps({"model": "argot", "messages": said}).encode()

    large = [
        Bomb("question of 1 MB", "/api/ask", ask("x " * (MB // 2))),
        Bomb("question of 1 MB, as OpenAI's API", "/v1/chat/completions", make_chat("What is WAF? " * (MB // 13))),
        Bomb("search of 1 MB", "/api/search", json.dumps({"query": "?" * MB}).encode()),
        Bomb("choice of 1 MB", "/api/answer", json.dumps({"thread": "t", "choice": "1" * MB}).encode()),
        Bomb("body of 2 MB", "/api/ask", ask("x" * 2 * MB)),
        Bomb("nested JSON", "/api/ask", b"[" * MB),
        Bomb("nested JSON", "/v1/chat/completions", b'{"a":' * 150_000),
        Bomb("JSON number of 1 MB", "/api/search", b'{"query": "x", "limit": ' + b"9" * MB + b"}"),
    ]
    long = [
        Bomb("pattern bomb of 200 kB", "/api/ask", ask("Is PUC " + unit * (200_000 // len(unit)))) for unit in UNITS
    ]
    past = [
        Bomb(
            "history of 900 kB", "/v1/chat/completions", make_chat("What is PUC?", unit * (900_000 // len(unit)), "?!")
        )
        for unit in UNITS
        if unit.isascii()
    ]
    short = [
        Bomb("pattern bomb a question long", "/api/ask", ask(("Is PUC " + unit * LONGEST)[: LONGEST - 1] + "?"), False)
        for unit in UNITS
    ]
    parts = [islice(cycle(part), len(UNITS)) for part in (large, long, past)]
    return [*(bomb for row in zip(*parts, strict=True) for bomb in row), *short]


# -- asking -----------------------------------------------------------------------------------------------------------


def repeat(do: Callable[[int], Any], until: float, every: float, offset: float) -> list[Any]:
    """Call a function at a fixed interval until a time, and return the results. Missed calls are not made up for."""
    found = []
    due = time.time() + offset
    number = 0
    while due < until:
        time.sleep(max(0.0, due - time.time()))
        found.append(do(number))
        number += 1
        due = max(due + every, time.time())
    return found


def run_together(workers: Iterable[Callable[[], list[Any]]]) -> list[Any]:
    """Run all workers at the same time, and return their results."""
    found: list[Any] = []
    threads = [threading.Thread(target=lambda worker=worker: found.extend(worker())) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def ask_as_people(url: str, keys: Sequence[str], questions: Sequence[str], every: float, seconds: float) -> list[Reply]:
    """Ask as people with these keys, and return the replies. The first questions are spread over the interval."""
    until = time.time() + seconds

    def ask_as_person(place: int) -> list[Reply]:
        import httpx

        with httpx.Client(base_url=url, headers=make_header(keys[place]), timeout=60, trust_env=False) as client:

            def ask(number: int) -> Reply:
                question = questions[(place * 7 + number) % len(questions)]
                return send_request(
                    client, "/api/ask", json.dumps({"question": question}).encode(), "people", refused=False
                )

            return repeat(ask, until, every, every * place / len(keys))

    return run_together([lambda place=place: ask_as_person(place) for place in range(len(keys))])  # type: ignore[misc]


def run_attackers(plan: dict[str, Any]) -> list[Reply]:
    """Run the hostile programs, and return the replies. Each begins at another place of the list."""
    import httpx

    found, keys = [bomb for bomb in list_bombs() if bomb.refused == plan["refused"]], plan["keys"]

    def run_attacker(place: int) -> list[Reply]:
        with httpx.Client(
            base_url=plan["url"], headers=make_header(keys[place]), timeout=60, trust_env=False
        ) as client:
            start = place * len(found) // len(keys)

            def send_bomb(number: int) -> Reply:
                bomb = found[(start + number) % len(found)]
                return send_request(client, bomb.path, bomb.body, bomb.kind, refused=bomb.refused)

            return repeat(send_bomb, plan["until"], plan["every"], plan["every"] * place / len(keys))

    return run_together([lambda place=place: run_attacker(place) for place in range(len(keys))])  # type: ignore[misc]


def send_request(client: Any, path: str, body: bytes, kind: str, *, refused: bool) -> Reply:
    """Send one request and return how long it took; status 0 if there was no answer."""
    import httpx

    began = time.perf_counter()
    try:
        status = client.post(path, content=body, headers={"Content-Type": "application/json"}).status_code
    except httpx.HTTPError:
        status = 0
    return Reply(kind, refused, status, time.perf_counter() - began)


def make_header(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# -- the run ----------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30, help="for each of the four parts")
    parser.add_argument("--people", type=int, default=12)
    parser.add_argument("--every", type=float, default=4, help="seconds between two questions of a person")
    parser.add_argument("--attackers", type=int, default=6)
    parser.add_argument("--attack-every", type=float, default=1.0, help="seconds between two requests of each")
    parser.add_argument("--out", type=Path, help="write the tables here, too")
    parser.add_argument("--attack", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.attack:
        replies = run_attackers(json.loads(arguments.attack.read_text("utf-8")))
        print(json.dumps([vars(one) for one in replies]))
        return
    with tempfile.TemporaryDirectory(prefix="argot-hostile-") as scratch:
        text, held = report(measure_replies(arguments, Path(scratch)))
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n", encoding="utf-8")
    sys.exit(not held)


@dataclass
class MeasuredReplies:
    """The replies to people (alone, beside refused bombs, beside bombs that are questions) and to hostile programs."""

    alone: list[Reply]
    refused: list[Reply]
    questions: list[Reply]
    hostile: list[Reply]


def measure_replies(arguments: argparse.Namespace, scratch: Path) -> MeasuredReplies:
    say("building the sample knowledge base")
    home, seconds = scratch / "kb", arguments.seconds
    found = prepare_base(home, arguments.people + arguments.attackers)
    keys, questions = found["keys"], found["questions"]
    done = MeasuredReplies([], [], [], [])
    command = [*ARGOT, "serve", "--home", str(home), "--port", "0"]
    with start_application("argot", command, home, {"ARGOT_MODEL_URL": ""}) as service:
        url = service.url

        def ask_people() -> list[Reply]:
            return ask_as_people(url, keys[: arguments.people], questions, arguments.every, seconds)

        def attack_people(*, refused: bool) -> list[Reply]:
            plan = scratch / "attack.json"
            told = {"url": url, "keys": keys[arguments.people :], "every": arguments.attack_every}
            told |= {"refused": refused, "until": time.time() + seconds}
            plan.write_text(json.dumps(told), encoding="utf-8")
            attack = [sys.executable, __file__, "--attack", str(plan)]
            with subprocess.Popen(attack, stdout=subprocess.PIPE, text=True) as attacking:
                beside_them = ask_people()
                done.hostile += [Reply(**one) for one in json.loads(attacking.communicate()[0])]
            return beside_them

        ask_as_people(url, keys[: arguments.people], questions, 2.0, 4.0)  # loads caches
        say(f"{arguments.people} people alone")
        done.alone = ask_people()
        say(f"beside {arguments.attackers} programs that send what is refused")
        done.refused = attack_people(refused=True)
        say("beside as many that send bombs as long as a question may be")
        done.questions = attack_people(refused=False)
        time.sleep(2)
        say("alone again")
        done.alone += ask_people()
    return done


# -- the figures ------------------------------------------------------------------------------------------------------


def report(done: MeasuredReplies) -> tuple[str, bool]:
    """Return the tables in Markdown, and true if number 25 of the scorecard is met."""
    p95 = compute_figures(done.alone)[1]
    lines = ["| people | asked | failed | p50 ms | p95 ms | p95 to alone |", "|---|--:|--:|--:|--:|--:|"]
    parts = {"alone": done.alone, "beside what is refused": done.refused, "beside question-long bombs": done.questions}
    ratios = {}
    for name, replies in parts.items():
        failed = sum(one.status != 200 for one in replies)
        half, most = compute_figures(replies)
        ratios[name] = most / p95 if p95 else 0.0
        lines.append(f"| {name} | {len(replies)} | {failed} | {half:.0f} | {most:.0f} | {ratios[name]:.2f} |")
    lines += ["", "| hostile | sent | answered with | p50 ms | worst ms |", "|---|--:|---|--:|--:|"]
    for kind in dict.fromkeys(one.kind for one in done.hostile):
        replies = [one for one in done.hostile if one.kind == kind]
        statuses = ", ".join(f"{status}: {n}" for status, n in sorted(Counter(one.status for one in replies).items()))
        worst = max(one.seconds for one in replies) * 1000
        lines.append(f"| {kind} | {len(replies)} | {statuses} | {compute_figures(replies)[0]:.0f} | {worst:.0f} |")
    refused = [one for one in done.hostile if one.refused]
    late = sum(not (400 <= one.status < 500 and one.seconds <= MOST_SECONDS) for one in refused)
    faults = sum(one.status == 0 or one.status >= 500 for one in done.hostile)
    failed = sum(one.status != 200 for replies in parts.values() for one in replies)
    ratio = ratios["beside what is refused"]
    held = bool(refused) and not late and not faults and not failed and ratio <= MOST_RATIO
    lines += [
        "",
        f"Of {len(refused)} that must be refused, not with 4xx within {MOST_SECONDS:g} s: {late}. Faults: {faults}."
        f" The others' p95: {ratio:.2f} times (at most {MOST_RATIO:g}). {'Held.' if held else 'Not held.'}",
    ]
    return "\n".join(lines), held


def compute_figures(replies: Sequence[Reply]) -> tuple[float, float]:
    """Return median and 95th percentile in milliseconds."""
    seconds = [one.seconds * 1000 for one in replies]
    return compute_percentile(seconds, 50), compute_percentile(seconds, 95)


def compute_percentile(values: Sequence[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] if ordered else 0.0


if __name__ == "__main__":
    main()
