"""Format the contents of screens (traces, sessions, coverage, latencies and changed results) as table rows and text."""
