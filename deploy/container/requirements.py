"""Prints what Argot and these of its extras stand on, so that they are installed before its source is copied.

requirements.py chat,slack,sso,postgresql
"""

import sys
import tomllib
from pathlib import Path


def requirements(project: dict, extras: list[str]) -> list[str]:
    """One line a package, and what builds Argot itself.

    Raises:
        SystemExit: there is no such extra.
    """
    optional = project["project"]["optional-dependencies"]
    if unknown := sorted(set(extras) - set(optional)):
        raise SystemExit(f"There is no extra {', '.join(unknown)}. EXTRAS may name {', '.join(sorted(optional))}.")
    chosen = [one for extra in extras for one in optional[extra]]
    return [*project["build-system"]["requires"], *project["project"]["dependencies"], *chosen]


if __name__ == "__main__":
    project = tomllib.loads((Path(__file__).parent / "pyproject.toml").read_text("utf-8"))
    print("\n".join(requirements(project, [extra.strip() for extra in sys.argv[1].split(",") if extra.strip()])))
