"""Store with each version of the rules the files from which it was compiled, so that versions can be compared.

The compiled rules do not contain the text of these files. The hook itself never stores it: the compiler stores the
files that it has read, and the background maintenance stores those of the package.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from enricher.home import root_dir
from enricher.rules import cache
from storage.base.fast_stdlib import keyed_hash
from storage.traces import spool

if TYPE_CHECKING:
    from collections.abc import Iterable

    from enricher.rules.compiling.compiled import Compiled

    Texts = list[tuple[str, str, str]]


def identity_of(texts: Iterable[str]) -> str:
    """Return the hash that identifies the rules compiled from these texts; the paths of the files do not matter."""
    # NUL separates, so that a line moved from one file to the next changes the hash.
    return keyed_hash(b"rules", "\0".join([str(cache.FORMAT), *texts]).encode())


def store(state: str, compiled: Compiled) -> None:
    """Store the files that the compiler read; raises OSError if nothing can be written."""
    spool.put_sources(state, compiled.hash, compiled.texts)


def store_packaged(state: str) -> None:
    """Store the files of the packaged rules unless they are stored already; raises OSError if this fails."""
    header = cache.read_header(cache.shipped_file())
    shipped = None if header and spool.has_sources(state, header["hash"]) else packaged_texts()
    if shipped is not None:
        spool.put_sources(state, *shipped)


def packaged_texts() -> tuple[str, Texts] | None:
    """Return the hash of the packaged rules and the files (layer, path, text) from which they were compiled.

    Return None if a file has changed since, or if the compiled rules cannot be read.
    """
    from enricher.rules.compiling.named_files import Files  # loads pydantic, which takes five times as long as the rest

    header = cache.read_header(cache.shipped_file())
    if not header or "layers" not in header:
        return None
    paths = [os.path.join(root_dir(), name) for name, _stamp in header["sources"]]
    texts = [(layer, path, Files().content(path)) for layer, path in zip(header["layers"], paths, strict=True)]
    identity = identity_of(text for _layer, _path, text in texts)
    return (identity, texts) if identity == header["hash"] else None
