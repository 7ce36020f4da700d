"""Check code against the rules of ``instructions/prompt_rules.yaml``, after an agent's turn or on request only."""
