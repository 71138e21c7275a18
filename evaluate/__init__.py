"""Data sets, measures, suites and reports: what Argot claims, measured."""
