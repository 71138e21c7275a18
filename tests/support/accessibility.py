"""Runs axe-core, the checker of the WCAG rules, in an open page."""

import time
from importlib import resources
from typing import Any

AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
RUN = """async ([rules, without]) => {
  const found = await axe.run({exclude: without}, {runOnly: rules, resultTypes: ["violations"]});
  return found.violations.flatMap(({id, impact, nodes}) =>
    nodes.map((node) => `${impact} ${id}: ${node.target.join(" ")} ${node.html.slice(0, 160)}`));
}"""


def find_violations(tab: Any, *, without: tuple[str, ...] = ()) -> list[str]:
    """Return the violations of the WCAG rules up to 2.2 AA in the open page: impact, rule, element.

    Args:
        without: selectors of elements that are not checked.
    """
    tab.evaluate(AXE + "; undefined")
    return list(tab.evaluate(RUN, [RULES, [[one] for one in without]]))


def find_lasting_violations(tab: Any, seconds: float = 30) -> list[str]:
    """Return the violations that a page still has when its script has had time to name what was drawn before.

    The window's script mends Chainlit's elements 150 ms after they are drawn, and later on a busy machine.
    """
    end = time.monotonic() + seconds
    while (found := find_violations(tab)) and time.monotonic() < end:
        tab.wait_for_timeout(500)
    return found
