#!/bin/sh
# Shows what a model adds, with a simulated one on this machine. Uses no network beyond it, and none of your files.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
if [ -z "${PYTHON_OF_ENRICHER:-}" ]; then
    make -s -C "$root" .venv/.installed >&2
fi
exec "${PYTHON_OF_ENRICHER:-$root/.venv/bin/python}" "$root/examples/model/demo.py"
