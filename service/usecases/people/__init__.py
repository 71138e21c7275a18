"""Use cases of people: users, API keys and personal data."""
