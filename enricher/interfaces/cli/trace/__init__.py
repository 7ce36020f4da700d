"""Commands that show and delete traces."""
