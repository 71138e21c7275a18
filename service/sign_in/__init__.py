"""Signing in with a password or at a provider, and a person's own account."""
