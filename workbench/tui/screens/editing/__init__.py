"""The Instructions screen, split into base classes: open a file, save it, replay prompts with it, show the effect."""
