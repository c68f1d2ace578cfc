"""Files of expected results (tools/report/README.md), for pytest. libsextant reads them."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _library
from ._results import Verdict


def read(path: str) -> list[dict[str, Any]]:
    """The entries of a file: where, cases, outcome, reason, link, until, expired. Raises InputError that
    names the file and the line."""
    return _expect(path, None, None, None)["entries"]


def compare(path: str, case: str, outcome: str, verdict: Verdict | None) -> tuple[int | None, str]:
    """The number of the entry that decides the case, None if none does, and how the result differs from
    it; empty if it is as expected. `verdict` is that of the outcome, if there is one."""
    found = _expect(path, case, outcome, verdict)
    return found["entry"], found["contradiction"]


def _expect(path: str, case: str | None, outcome: str | None, verdict: Verdict | None) -> dict[str, Any]:
    texts = [os.fsencode(path), case and case.encode(), outcome and outcome.encode()]
    handle = _library.call("expect", (*texts, verdict and verdict.handle))
    try:
        return json.loads(_library.library.sextant_json(handle))
    finally:
        _library.library.sextant_free(handle)
