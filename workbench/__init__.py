"""Find out what a change of the rules would do to recorded prompts, measure accuracy, and tune the rules."""
