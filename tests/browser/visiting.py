"""A person in front of a page, and everything that the page asked for or complained about meanwhile."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page

HOME = "/-/enricher"
WIDE, NARROW = 1280, 390
HEIGHT = 900
TWIN = re.compile(r"\.(json|csv)$")


@dataclass(slots=True)
class Visit:
    """One window at ``address``; ``requests`` are all addresses it asked for, ``complaints`` its console's errors."""

    page: Page
    address: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Go to a path of the server and wait until all of it is there."""
        self.page.goto(self.address + path, wait_until="load")
        return self.page

    def follow(self, link: Locator) -> str:
        """Click a link and return the path that it led to."""
        with self.page.expect_navigation(wait_until="load"):
            link.click()
        return self.path

    @property
    def path(self) -> str:
        """Where the window is, without the server."""
        return self.page.url.removeprefix(self.address)

    def links(self, to: str) -> set[str]:
        """Return the addresses of the page itself whose path matches the pattern; data twins do not count."""
        hrefs = self.page.locator("main a[href]").evaluate_all("all => all.map(one => one.getAttribute('href'))")
        return {href for href in hrefs if re.search(to, path := href.split("?")[0]) and not TWIN.search(path)}

    def link(self, to: str) -> Locator:
        """Return the first link of the page itself whose path matches the pattern."""
        hrefs = self.links(to)
        if not hrefs:
            raise AssertionError(f"no link to {to} on {self.path}")
        return self.page.locator(", ".join(f"main a[href='{href}']" for href in hrefs)).first


@contextmanager
def visiting(
    browser: Browser,
    address: str,
    *,
    width: int = WIDE,
    is_dark: bool = False,
    runs_scripts: bool = True,
    password: str = "",
) -> Iterator[Visit]:
    """Open a window that knows nothing of any other."""
    context = browser.new_context(
        viewport={"width": width, "height": HEIGHT},
        color_scheme="dark" if is_dark else "light",
        java_script_enabled=runs_scripts,
        is_mobile=width == NARROW,
        device_scale_factor=1,
        http_credentials={"username": "anyone", "password": password} if password else None,
    )
    visit = Visit(context.new_page(), address)
    context.on("request", lambda request: visit.requests.append(request.url))
    context.on("console", lambda said: visit.complaints.append(said.text) if said.type == "error" else None)
    context.on("weberror", lambda thrown: visit.complaints.append(str(thrown.error)))
    try:
        yield visit
    finally:
        context.close()


def kinds_of_pages(visit: Visit) -> dict[str, str]:
    """Return a path for every kind of page, found the way a person finds them: by following links."""
    found = {"home": HOME, "missing trace": f"{HOME}/trace/0123456789abcdef"}
    for kind, place in (("traces", "traces"), ("compare", "compare"), ("instructions", "instructions"),
                        ("coverage", "coverage")):  # fmt: skip
        found[kind] = f"{HOME}/{place}"
    visit.open(found["traces"])
    found["trace"] = visit.follow(visit.link(r"/trace/\w+$"))
    found["session"] = visit.follow(visit.link(r"/session/[\w.-]+$"))
    visit.open(found["compare"])
    found["compare run"] = visit.follow(visit.link(r"/compare/\w+$"))
    visit.open(found["instructions"])
    found["version"] = visit.follow(visit.link(r"/instructions/\w+"))
    found["database"] = (
        visit.open(found["home"]).get_by_role("link", name="Data", exact=True).get_attribute("href") or ""
    )
    found["table"] = f"{found['database']}/traces"
    found["row"] = f"{found['table']}/{found['trace'].rpartition('/')[2]}"
    found["faceted table"] = f"{found['table']}?_facet=task_type&_facet=status"
    found["question"] = f"{found['database']}/how_long_does_it_take_by_day"
    return found
