"""Choose what to add to a prompt (guardrails, an approach, facts, or a plan), and write it as a text."""
