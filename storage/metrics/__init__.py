"""Statistics of the traces: roll-ups, percentiles, latencies, facets."""
