"""Conversations: their store, export, retention, feedback, and questions to go on with."""
