"""Additions to Datasette's own pages: descriptions of tables, canned queries, rendered cells, facets, and search."""
