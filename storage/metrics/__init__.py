"""Compute statistics of the recorded prompts: counts by day and by value, latencies and their percentiles."""
