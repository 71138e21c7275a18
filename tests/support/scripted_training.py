"""`argot.learn.run_process` with a training that follows its recipe and needs no model.

`does`: "fail", "die", "wait" (until it is stopped), or nothing; `steps`: their number.
"""

import os
import sys
import time
import types
from typing import Any

from argot.learn import run_process
from argot.learn.training_loop import TrainingStopped


def train(run: Any, report: Any) -> None:
    wanted = run.request.recipe
    report.doing("training")
    if wanted.get("does") == "fail":
        raise OSError(28, "there is no room")
    if wanted.get("does") == "die":
        os.kill(os.getpid(), 9)
    step, steps = 0, wanted.get("steps", 3)
    while step < steps or wanted.get("does") == "wait":
        step += 1
        report.step(step, max(step, steps), {"loss": 1 / step})
        if report.stop_asked():
            raise TrainingStopped
        if wanted.get("does") == "wait":
            time.sleep(0.05)
    run.model.mkdir(exist_ok=True)
    run.keep_card({"steps": steps})


run_process._import_module = lambda kind: types.SimpleNamespace(train=train)
if __name__ == "__main__":
    sys.exit(run_process.main())
