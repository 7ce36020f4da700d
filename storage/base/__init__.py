"""Functions that all other storage packages use, for private files, fast SQLite reads and short write transactions."""
