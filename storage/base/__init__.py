"""Base for all other rooms: private files, reading SQLite, writing in turns, and the few library functions needed."""
