"""The published history: a Datasette plugin, the pages that it adds, and the snapshots that may be shown to others.

Datasette's own connections only read; what its pages need beside the traces is brought up to date by whoever
serves them (``upkeep``), through a connection of its own.
"""
