"""Widgets that show lists and tables of any length."""
