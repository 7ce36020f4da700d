"""The work that the app does in threads and processes."""
