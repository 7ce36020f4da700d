"""The workbench's app in a terminal: a shell of screens over the library, which imports nothing of this."""
