"""The widgets that the app defines itself, besides those of Textual."""
