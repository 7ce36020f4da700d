"""Snapshots of the history: which columns they have, how texts are treated, and how they are written."""
