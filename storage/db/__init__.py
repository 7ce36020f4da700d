"""The database as a whole: opened, migrated, maintained, merged with another."""
