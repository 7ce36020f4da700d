"""What screens show, as rows and text: a trace, a session, coverage, latencies, differences."""
