"""Answers from passages: quoting, writing without a model, support and citations."""
