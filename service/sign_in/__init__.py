"""Signing in with a password, and what one has of an account on this side of it."""
