"""`python -m argot.ui.cli.main` runs the command `argot`, too."""

from argot.ui.cli.main import main

main()
