"""The Instructions screen in layers: the open file, saving it, replaying its edit, and what the user sees of it."""
