"""Tuning the embedder on pairs of question and passage."""
