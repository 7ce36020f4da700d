"""Build the pages: each module here has a ``view(history, request)`` that reads the data and renders a template.

``ROUTES`` maps addresses to these views. An address with ``.json`` or ``.csv`` appended returns the data of the page.
"""

from __future__ import annotations

from workbench.web.page import shown
from workbench.web.pages import compare, coverage, home, instructions, session, trace, traces

ROUTES = [
    (r"^/-/enricher(?:/|\.(?P<format>json))?$", shown(home.view)),
    (r"^/-/enricher/traces$", shown(traces.view)),
    (r"^/-/enricher/traces\.(?P<format>json|csv)$", shown(traces.rows)),
    (r"^/-/enricher/trace/(?P<id>[^/.]*)(?:\.(?P<format>json))?$", shown(trace.view)),
    (r"^/-/enricher/label/(?P<id>[^/.]*)$", shown(trace.label)),
    (r"^/-/enricher/session/(?P<session>[^/.]*)(?:\.(?P<format>json|csv))?$", shown(session.view)),
    (r"^/-/enricher/compare(?:\.(?P<format>json))?$", shown(compare.view)),
    (r"^/-/enricher/compare/(?P<run>[^/.]+)(?:\.(?P<format>json|csv))?$", shown(compare.run)),
    (r"^/-/enricher/coverage(?:\.(?P<format>json|csv))?$", shown(coverage.view)),
    (r"^/-/enricher/instructions(?:\.(?P<format>json))?$", shown(instructions.view)),
    (r"^/-/enricher/instructions/(?P<version>[^/.]+)(?:\.(?P<format>json))?$", shown(instructions.version)),
]
