"""The work of the app's threads and processes."""
