"""Glossary files: CSV, JSON and SKOS, read and written, and what taking one in would change."""
