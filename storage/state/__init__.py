"""Small files next to the database: sessions, notices, the key, lock files (stamps) of detached work."""
