"""From a wrong prompt to a proven fix: why it came out so, edits that make it right, and the gate."""
