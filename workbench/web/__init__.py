"""Show the recorded prompts (the history) in a browser: a Datasette plugin, its pages, and snapshots for other people.

Datasette only reads the database. The sums, word index and rule coverage (how often each rule fires) that the pages
need are updated by ``server/upkeep.py``, in the same server but through a connection of its own.
"""
