"""Terms in texts, without a database: how they are normalised, found, and recognised when they are misspelt."""
