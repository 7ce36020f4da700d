"""Snapshots of the history: which columns they contain, how texts are treated, and how they are written."""
