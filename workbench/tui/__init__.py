"""The workbench's terminal app: screens that use the rest of the workbench, which imports nothing from here."""
