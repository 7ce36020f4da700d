"""Diagnose an installation and name the remedies."""
