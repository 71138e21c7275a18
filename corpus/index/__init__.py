"""The vector index in Chroma: embedded items, generations, consistency checks, and the outbox of work outside
SQLite.
"""
