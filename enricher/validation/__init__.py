"""Check code against the rules of ``instructions/prompt_rules.yaml``; never on the path of a prompt."""
