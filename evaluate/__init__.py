"""Data sets, measures, suites and reports for Argot's claims."""
