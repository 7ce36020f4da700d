"""Snapshots of the history: which columns go in, what becomes of texts, how it is written, what is told before."""
