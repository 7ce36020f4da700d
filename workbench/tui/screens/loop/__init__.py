"""Screens that lead from a wrong prompt to a fix: why it came out so, edits that correct it, and the gate."""
