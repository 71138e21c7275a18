"""The command `argot`."""
