"""What Datasette's own pages show of the history: described tables, named questions, cells, facets, search."""
