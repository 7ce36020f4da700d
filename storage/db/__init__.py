"""The database as a whole: open it, migrate it, maintain it, merge another one into it."""
