"""Conversations: their store, their export and that of feedback, and questions to go on with."""
