"""Data sets, measures, suites and reports that check Argot's claims."""
