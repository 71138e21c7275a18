"""The commands of `argot learn`."""
