"""Check classes and their signals, and compile them into the table with which prompts are classified."""
