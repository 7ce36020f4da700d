"""Commands that show and change what projects remember."""
