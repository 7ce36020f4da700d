"""Which page answers which address; ``.json`` and ``.csv`` behind one give the same as data."""

from __future__ import annotations

from workbench.publication.page import shown
from workbench.publication.pages import home

ROUTES = [
    (r"^/-/enricher/?$", shown(home.view)),
]
