"""Figures and phrases shared by the app and the published pages."""
