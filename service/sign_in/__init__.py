"""Signing in with a password or at a provider, and what one has of an account on this side of it."""
