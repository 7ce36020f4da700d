"""One module per page: ``view(history, request)`` reads the data and renders the template."""
