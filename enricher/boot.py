"""Where the launcher starts us, with nothing on the path but the standard library."""

import gc
import sys

gc.disable()  # the process ends before its garbage would matter
sys.path.append(__file__[: -len("/enricher/boot.py")])
from enricher import bundle  # noqa: E402 (found there)

bundle.install()
from enricher.hook.process import main  # noqa: E402 (its modules come from there)

main(sys.argv[1:], started=bundle.STARTED)
