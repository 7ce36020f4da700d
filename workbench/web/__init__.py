"""The published history: a Datasette plugin, its pages, and snapshots to show to others.

Datasette's own connections only read. The sums, indexes and coverage that its pages need are updated by the process
that serves them (``server/upkeep.py``), through its own connection.
"""
