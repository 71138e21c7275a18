"""`python -m argot.ui.cli.main` is the command `argot`, too."""

from argot.ui.cli.main import main

main()
