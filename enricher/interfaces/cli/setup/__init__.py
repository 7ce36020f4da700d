"""Commands that register, check and switch the hook."""
