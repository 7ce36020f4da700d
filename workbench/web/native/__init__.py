"""Improve Datasette's own pages: describe tables, define queries, render cells, and speed up facets and search."""
