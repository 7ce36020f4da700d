"""The Instructions screen, split into base classes that open a file, save it, replay it, and show the effect."""
