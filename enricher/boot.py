"""Start the hook. The launcher runs this file with only the standard library on the import path."""

import gc
import sys

gc.disable()  # the process ends before its garbage would matter; a collection in between costs the prompt time
sys.path.append(__file__[: -len("/enricher/boot.py")])
from enricher import bundle  # noqa: E402 (found on the path that was just added)

received = b""
if bundle.has_late_results():
    from enricher.hook.early import first_piece

    received = first_piece()
bundle.install()
from enricher.hook.process import main  # noqa: E402 (the bundle provides its modules)

main(sys.argv[1:], started=bundle.STARTED, received=received)
