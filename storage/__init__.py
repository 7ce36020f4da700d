"""The ground floor: one SQLite database, a spool beside it, and a log. Knows no hook, host or screen."""
