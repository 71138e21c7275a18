"""The root folder of this repository, for tests that read its files."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
