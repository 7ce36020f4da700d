"""The project's files as an index that answers a prompt in milliseconds: built off the hook's path, read on it."""
