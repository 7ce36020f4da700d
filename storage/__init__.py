"""The bottom layer: one SQLite database, a spool directory and a log. Imports nothing about hooks, hosts or screens."""
