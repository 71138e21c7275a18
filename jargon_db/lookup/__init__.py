"""Terms in texts, without a database: their normalisation, recognition, and misspellings."""
