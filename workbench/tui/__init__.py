"""The workbench's terminal app: a shell of screens over the library, which imports nothing from here."""
