"""Interfaces that the seed specifications require: adaptive retrieval, vectors, the search intent."""
