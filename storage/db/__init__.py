"""Open the SQLite database, migrate and maintain it, and merge another one into it."""
