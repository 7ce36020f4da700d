"""``python -m tests.conformance``."""

from tests.conformance.report import main

main()
