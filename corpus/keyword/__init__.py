"""The keyword index in SQLite: its words, its queries."""
