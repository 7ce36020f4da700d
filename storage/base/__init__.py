"""Base of all other storage packages: private files, fast SQLite reads, paced writes, light library functions."""
