"""Run recorded prompts again under other rules, and say what comes out differently."""
