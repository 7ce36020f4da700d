"""Choose the content of the enrichment (guardrails, approach, items) and write its text."""
