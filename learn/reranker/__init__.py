"""Tuning of re-rankers: a cross-encoder, or the reader."""
