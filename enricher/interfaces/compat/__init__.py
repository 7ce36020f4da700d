"""Interfaces that the seed specifications name: adaptive retrieval, vectors, the search intent."""
