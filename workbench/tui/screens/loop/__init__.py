"""Screens that lead from a wrong result to a fix: its reasons, edits that correct it, and a check of golden cases."""
