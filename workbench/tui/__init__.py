"""The workbench's terminal app, built with Textual; no other part of the workbench imports anything from here."""
