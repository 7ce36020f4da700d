"""Contents of the screens as rows and text: a trace, a session, coverage, latencies, differences between results."""
