"""The commands of `argot evaluate`."""
