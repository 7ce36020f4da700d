"""Where the launcher starts us, with nothing on the path but the standard library."""

import sys

sys.path.append(__file__[: -len("/enricher/boot.py")])
from enricher.hook import main

main(sys.argv[1:])
