"""What every other room stands on: private files, SQLite read and written in turns, a lean library."""
