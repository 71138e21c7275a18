"""Tuning a language model on an organisation's own questions and answers."""
