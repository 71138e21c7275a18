"""The store of the wing `evaluate`."""
