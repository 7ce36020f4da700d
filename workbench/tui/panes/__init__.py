"""Format what the screens show as table rows and text: traces, sessions, coverage, latencies, changed results."""
