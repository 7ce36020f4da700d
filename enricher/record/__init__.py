"""The work after the answer was written: trace, events, upkeep."""
