"""Write the files with which a plain ``datasette serve`` shows a snapshot like ``enricher publish``."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import yaml

from storage.base import private
from workbench.web.native.description import described
from workbench.web.server.serving import DATABASE, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

METADATA, CONFIGURATION, SETTINGS_FILE = "metadata.yaml", "datasette.yaml", "settings.json"
MARK = "# Written by enricher publish --write-config; written anew by the same command."


class _Readable(yaml.SafeDumper):
    """YAML dumper that writes multi-line texts, such as queries, as block literals."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    clean = "\n".join(line.rstrip() for line in text.splitlines()) if "\n" in text else text
    return dumper.represent_scalar("tag:yaml.org,2002:str", clean, style="|" if "\n" in clean else None)


_Readable.add_representer(str, _text)


def write(folder: str, *, plugin: dict[str, object], base_url: str) -> list[str]:
    """Write the files into a folder and return their paths; raises OSError, FileExistsError for a file not ours."""
    private.make_directory(os.path.abspath(folder))
    found = _contents(plugin, base_url)
    for name in found:
        _refuse_others(os.path.join(folder, name))
    for name, text in found.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    return [os.path.join(folder, name) for name in found]


def _contents(plugin: dict[str, object], base_url: str) -> dict[str, str]:
    """Return each file's text by name; Datasette 1.0 reads settings, queries and plugins from ``datasette.yaml``."""
    told = described(DATABASE, plugin=plugin)
    settings = {**SETTINGS, "base_url": base_url}
    if "config" in told:
        return {METADATA: _yaml(told["metadata"]), CONFIGURATION: _yaml({"settings": settings, **told["config"]})}
    return {METADATA: _yaml(told["metadata"]), SETTINGS_FILE: json.dumps(settings, indent=2) + "\n"}


def _yaml(value: Mapping[str, Any]) -> str:
    plain = json.loads(json.dumps(value))
    return f"{MARK}\n" + yaml.dump(plain, Dumper=_Readable, sort_keys=False, allow_unicode=True, width=110)


def _refuse_others(path: str) -> None:
    try:
        with open(path, encoding="utf-8") as file:
            first = file.readline().strip()
    except FileNotFoundError:
        return
    if first != MARK and os.path.basename(path) != SETTINGS_FILE:
        raise FileExistsError(f"{path} is there and was not written by this command; it stays as it is")
