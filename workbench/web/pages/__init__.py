"""One module a page: ``view(history, request)`` reads what it needs and renders its template."""
