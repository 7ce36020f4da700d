"""Lists and tables of any length."""
