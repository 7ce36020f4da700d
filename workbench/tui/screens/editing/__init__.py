"""The Instructions screen, with which the user edits an instructions file and sees the effect on recorded prompts.

The class of the screen is split: its base classes open a file, save it and replay the prompts; it shows the effect.
"""
