"""Figures and wording shared by the app and the published pages."""
