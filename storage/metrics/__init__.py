"""Figures over the traces: roll-ups, percentiles, latencies, facets."""
