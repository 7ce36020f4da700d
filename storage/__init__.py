"""Store all data of Prompt Enricher: one SQLite database, a folder of files that wait for import into it, and a log.

This is the lowest layer: it imports nothing of the hook, the agent clients or the screens.
"""
