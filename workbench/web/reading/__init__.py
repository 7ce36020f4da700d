"""Query the recorded prompts, and what is known about them, for the web pages."""
