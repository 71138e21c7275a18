"""argot learn: training data and models of one's own."""

from __future__ import annotations

import typer

from argot.ui.cli.learn_data_commands import data

learn = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Learning: training data and models of your own.")
learn.add_typer(data, name="data")


def register(app: typer.Typer) -> None:
    app.add_typer(learn, name="learn")
