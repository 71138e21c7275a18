"""Insight into questions and their outcomes, from stored data."""
