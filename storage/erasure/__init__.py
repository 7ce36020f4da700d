"""Permanent deletion wherever the product has written: rows, copies, snapshots, other files."""
