"""Build the index of a project's files and keep it up to date; this package does not run in the hook."""
