"""Screens that lead from a wrong prompt to a fix: the reasons for its result, edits that correct it, and the gate."""
