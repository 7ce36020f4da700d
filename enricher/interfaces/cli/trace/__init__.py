"""Commands that show and delete what was logged."""
