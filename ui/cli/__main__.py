"""`python -m argot.ui.cli` is the command `argot`, too."""

from argot.ui.cli.main import main

main()
