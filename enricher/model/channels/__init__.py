"""What the model-backed channels of seed 004 answer: summarization, code_analysis, similarity."""
