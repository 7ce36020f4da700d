"""What tuning reads and keeps: the corpus to replay, labelled prompts, replays, experiments."""
