"""Label prompts, store golden cases, and decide whether a change to the instructions may be merged (the gate)."""
