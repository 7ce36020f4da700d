"""Whether agents followed the plans that they were given (seed 003, rows Y19 to Y21 and Y29).

``actions`` reads from the clients' transcripts what the agent did after a prompt; ``measure`` compares it with the
workflow that was chosen for the prompt. Prompts without a plan are counted, too: they show what agents do unasked.
"""
