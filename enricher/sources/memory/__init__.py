"""Import memories from files, git histories and a team's notes, and update them in the background after prompts."""
