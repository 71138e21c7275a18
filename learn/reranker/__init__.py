"""Tuning what puts passages in order: a cross-encoder, or the reader."""
