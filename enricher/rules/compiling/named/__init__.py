"""Read the files that an instructions file names: fitted lists, thresholds, prompts, guardrail catalogues."""
