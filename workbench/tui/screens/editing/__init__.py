"""The Instructions screen, with which the user edits an instructions file and sees the effect on recorded prompts.

The screen's base classes open a file, save it and replay the prompts; its own class shows the effect.
"""
