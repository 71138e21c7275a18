"""Conversations: their store, their export and that of feedback, and suggested next questions."""
