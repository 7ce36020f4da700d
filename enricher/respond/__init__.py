"""What is said and what is left out: guardrails, approach, items, the text."""
