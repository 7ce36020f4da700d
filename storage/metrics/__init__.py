"""Compute statistics of the recorded prompts: their number by day and by facet, and the hook's latencies."""
