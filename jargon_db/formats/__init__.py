"""Glossary files: CSV, JSON and SKOS, read and written, and previews of what an import would change."""
