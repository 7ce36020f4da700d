"""Store and read the data for tuning the rules: recorded prompts, users' labels for them, replays and experiments."""
