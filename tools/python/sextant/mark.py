"""The mark of pytest: one test per case of a file.

    @sextant.mark.cases("rope.cases")
    def test_rope(case):
        case.check(my_rope(**case.inputs))
"""

from __future__ import annotations

import os
from typing import Any, Callable


def cases(file: str | os.PathLike[str], *, filter: str = "") -> Callable[[Any], Any]:
    """Runs the test once for each case of the file, whose path is relative to that of the test. The
    argument `case` of the test is a sextant.Case. `filter` keeps the cases whose complete line
    contains it; in it, * stands for any characters and ? for one."""
    import pytest

    return pytest.mark.sextant_cases(os.fspath(file), filter)
