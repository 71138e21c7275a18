"""glossary.db: its schema and connections, and the parts of the glossary that read and write it."""
