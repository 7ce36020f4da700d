#!/bin/sh
# Compares two forms of a prompt template with a simulated model on this machine. Uses none of your files.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
if [ -z "${PYTHON_OF_ENRICHER:-}" ]; then
    make -s -C "$root" .venv/.installed >&2
fi
exec "${PYTHON_OF_ENRICHER:-$root/.venv/bin/python}" "$root/examples/ab/demo.py" "$@"
