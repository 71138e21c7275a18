"""Argot answers questions about an organisation's documents in the organisation's own language."""

__version__ = "0.3.1"
