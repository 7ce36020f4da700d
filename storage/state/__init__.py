"""Small files beside the database: sessions, notices, the key, the stamps of work that runs detached."""
