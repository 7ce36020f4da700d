"""Where the launcher starts us, with nothing on the path but the standard library."""

import sys

sys.path.append(__file__[: -len("/enricher/boot.py")])
from enricher import bundle

bundle.install()
from enricher.hook import main  # noqa: E402 (its modules come from there)

main(sys.argv[1:], started=bundle.STARTED)
