"""Work after the answer: trace, events, upkeep."""
