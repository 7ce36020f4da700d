"""What happens behind the answer: trace, events, upkeep."""
