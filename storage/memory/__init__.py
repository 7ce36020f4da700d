"""What projects remember, and how the few memories that a text is about are found."""
