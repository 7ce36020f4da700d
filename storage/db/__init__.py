"""The database as a whole: open, migrate, maintain, merge with another."""
