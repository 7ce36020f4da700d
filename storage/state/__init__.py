"""Read and write small files next to the database: session state, messages to the user, the secret key, lock files."""
