"""Our additions to Datasette's own pages: described tables, canned queries, cells, facets, search."""
