"""Data for tuning the rules: the corpus to replay, labelled prompts, replays, experiments."""
