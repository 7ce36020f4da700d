"""Screens that lead from a wrong result to a fix: they explain it, propose edits, and check the golden cases."""
