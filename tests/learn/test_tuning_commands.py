"""Test of `argot learn tuning` end to end: killed while a model makes questions, and gone on with."""

import subprocess
from pathlib import Path
from typing import Any

from learnable_words import ASKED, WRITTEN, word_embedder, word_folder
from serving import COMMAND, argot, environment, run

RECIPE = ("epochs=6", "rate=0.005", "kept=0", "negatives=0", "threads=1", "frozen_words=no")


def ask_about(request: Any) -> dict[str, Any]:
    """Reply as a model does: questions in the askers' words and some of the passage's, with answers from it."""
    words = [word for word in request.user.replace(".", " ").split() if word in WRITTEN]
    asked = [ASKED[WRITTEN.index(word)] for word in words]
    return {
        "pairs": [
            {"question": f"{words[n]} {words[n + 1]} {asked[n + 2]} {asked[n + 3]}?", "answer": " ".join(words)}
            for n in range(3)
        ]
    }


def test_one_start_goes_from_documents_to_figures_also_after_a_kill(tmp_path: Path, scripted_model: Any) -> None:
    home, base = tmp_path / "kb", word_embedder(tmp_path / "tiny")
    argot("add", word_folder(tmp_path / "notes"), "--home", home)
    sets = [part for one in RECIPE for part in ("--set", f"embedder.{one}")]
    wanted = ["learn", "tuning", "start", "ours", "--base", f"embedder={base}", "--kind", "standard", *sets]
    scripted_model.reply("qa_standard", ask_about)
    scripted_model.fault("slow", prompt="qa_standard", seconds=0.2)
    settings = {"ARGOT_MODEL_URL": scripted_model.url, "ARGOT_MODEL": "scripted"}
    command = [*COMMAND, *map(str, wanted), "--home", str(home)]
    with subprocess.Popen(command, env=environment(**settings), stderr=subprocess.DEVNULL) as process:
        assert scripted_model.wait_until(lambda: len(scripted_model.asked("qa_standard")) > 12)
        process.kill()
    scripted_model.heal()
    done = run("learn", "tuning", "resume", "t0001", "--home", home, **settings)
    assert done.returncode == 0, done.stderr
    # No passage was asked about twice, but for those that were on their way.
    assert 60 <= len(scripted_model.asked("qa_standard")) < 70
    assert "t0001: done" in done.stdout and "embedder\tdone\tr0001\tmap@10 +0." in done.stdout
    assert "measures better. Put it into force: argot learn adopt r0001" in done.stdout
