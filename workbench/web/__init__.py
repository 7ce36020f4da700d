"""The published history: a Datasette plugin, its pages, and snapshots to show to others.

Datasette's own connections only read; the sums, indexes and coverage that its pages need are updated by the process
that serves them (``upkeep``), through a connection of its own.
"""
