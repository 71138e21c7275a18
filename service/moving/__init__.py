"""Carrying a whole knowledge base from one engine to the other: from a folder to PostgreSQL, and back."""
