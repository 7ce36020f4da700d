"""Queries of the pages on the history."""
