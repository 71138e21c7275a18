"""Surfaces: command line, chat window, API. They hold no logic; whatever two of them need is a use case."""
