"""Say which workflows of GitHub a push or a pull request starts. Does not run in the hook."""

from __future__ import annotations

import re

MOST_NAMED = 6
"""Maximum workflows that are named for one event."""


def started_by_pushes(workflows: dict[str, str]) -> str:
    """Return what starts which workflow, as "a push to main: ci.yml, deploy.yml; a pushed tag `v*`: release.yml".

    ``workflows`` maps paths to texts. The result is empty if neither a push nor a pull request starts one of them.
    """
    started: dict[str, list[str]] = {}
    for path, text in sorted(workflows.items()):
        for event in _events(text.partition("\njobs:")[0]):
            started.setdefault(event, []).append(path.rpartition("/")[2])
    events: dict[str, list[str]] = {}
    for event, names in started.items():
        shown = names[:MOST_NAMED] + ["…"] * (len(names) > MOST_NAMED)
        events.setdefault(", ".join(shown), []).append(event)
    return "; ".join(f"{' or '.join(which)}: {names}" for names, which in events.items())


def _events(head: str) -> list[str]:
    tags, branches = listed(head, "tags"), listed(head, r"push:\s*\n\s*branches")
    found = [f"a pushed tag `{tags}`"] if tags else []
    if branches:
        found.append(f"a push to {branches}")
    elif not tags and _has_event(head, "push"):
        found.append("any push")
    return found + (["a pull request"] if _has_event(head, "pull_request") else [])


def _has_event(head: str, event: str) -> bool:
    # "on: push", "on: [push, pull_request]", "  push:", "  - push"
    return bool(re.search(rf"^(?:[\"']?on[\"']?:.*\b{event}\b|\s+(?:- )?{event}(?::|\s*$))", head, re.MULTILINE))


def listed(head: str, key: str) -> str:
    """Return the items of the YAML list at ``key``, joined by commas; empty if there is no such list.

    ``head`` is the part of a workflow file above its jobs, and ``key`` is a regular expression.
    """
    # "[v1, v2]" on one line, or a line "- v1" for each.
    found = re.search(rf"^\s*{key}:\s*(?:\[(.+?)\]|((?:\n\s*- .+)+))", head, re.MULTILINE)
    # In YAML, "#" begins a comment only after a space.
    values = re.split(r",|\n", re.sub(r"\s#.*", "", found[1] or found[2]) if found else "")
    return ", ".join(value.strip(" -'\"") for value in values if value.strip(" -'\""))
