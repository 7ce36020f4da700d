"""Count how often each rule fires on recorded prompts, and find the prompts that no rule matches."""
