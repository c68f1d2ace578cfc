"""Asks the program under test: `sextant check` of a deviation's cases, with the subject here."""

import json
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

from cases import CASES
from operations import operation_of

SUBJECT = Path(__file__).resolve().parent / "subject.py"
LIMIT = 300  # seconds for the cases of one deviation, on a busy machine


def check(program, operation, names, subject):
    """Case name -> {"status", "causes", "message"}; "timeout" or "crash" if there is no report."""
    lines = [CASES[operation][name] for name in names]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [program, "check", *lines, "--subject",
                   f"exec:{sys.executable} {SUBJECT} '{subject}'", "--json", report, "--open-rows"]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return dict.fromkeys(names, {"status": "timeout", "causes": []})
        if not report.exists():
            failed = {"status": "crash", "causes": [], "message": run.stderr[-500:]}
            return dict.fromkeys(names, failed)
        return dict(zip(names, json.loads(report.read_text())["cases"], strict=True))


@lru_cache(maxsize=None)
def catalog(program, operation):
    """The names of the operation's listed defects: `audit-suite` names all, whatever the case."""
    line = next(iter(CASES[operation].values()))
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "audit.json")
        subprocess.run([program, "audit-suite", line, "--json", report], capture_output=True)
        return {defect["name"] for defect in json.loads(report.read_text())["defects"]
                if defect["operation"] == operation_of(operation) and not defect["is_coverage_goal"]}
