"""python -m sextant, and the command `sextant` of a wheel: the program, in place of this process."""

import os
import sys

from ._library import beside


def main() -> None:
    os.environ.setdefault("SEXTANT_PYTHON", sys.executable)  # writes pages
    program = beside("sextant")
    if program == "sextant":  # PATH may have this very command
        sys.exit("sextant: this package has no program")
    os.execv(program, ["sextant", *sys.argv[1:]])


if __name__ == "__main__":
    main()
