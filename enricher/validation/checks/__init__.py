"""Checks of Python code; each module of this package looks for one kind of defect.

Most exceptions in the word lists and patterns come from findings in published packages that a reader called wrong
(docs/validate.md, "How often it is right"); ``python -m tests.validators`` measures the effect of a change.
"""
