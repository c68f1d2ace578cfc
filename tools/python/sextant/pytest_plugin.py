"""The plugin of pytest: sextant.mark.cases, --sextant-expect, and failures without traceback."""

from __future__ import annotations

import pathlib
import re
from dataclasses import dataclass, field
from typing import Any, Iterator

import pytest

from . import _calls, expectations
from ._library import InputError
from ._results import NOTHING
from .adapter import Unsupported
from .case import Case

_TOLERANCE = "sextant_tolerance"
_LINE = "sextant_line"  # the attribute of a test that has its case


@dataclass
class _Known:
    """The file of expectations, its entries, and the numbers of those that decided a test."""

    path: str
    entries: list[dict[str, Any]]
    used: set[int] = field(default_factory=set)


_KNOWN = pytest.StashKey[_Known]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("sextant").addoption(
        "--sextant-expect", metavar="FILE", default=None,
        help="the known results of cases, in TOML: exactly these tests may fail")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "sextant_cases(file, filter): use sextant.mark.cases")
    path = config.getoption("--sextant-expect")
    try:
        config.stash[_KNOWN] = _Known(path, expectations.read(path) if path else [])
    except InputError as error:
        raise pytest.UsageError(f"sextant: {error}") from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    cases = []
    for mark in metafunc.definition.iter_markers("sextant_cases"):
        file, text = mark.args
        path = metafunc.definition.path.parent / file
        try:
            read = _calls.read_cases(path)
        except InputError as error:
            raise pytest.Collector.CollectError(f"sextant: {error}") from None
        kept = [entry for entry in read if _is_kept(entry["case"], text)]
        if not kept:
            raise pytest.Collector.CollectError(
                f"sextant: {path} has no case, or none for the filter {text!r}")
        cases += [pytest.param(entry["case"], id=" ".join(entry["line"].split())) for entry in kept]
    if cases:
        metafunc.parametrize("case", cases, indirect=True)


def _is_kept(line: str, text: str) -> bool:
    """As `sextant check --filter`."""
    words = {"*": ".*", "?": "."}
    pattern = "".join(words.get(c, re.escape(c)) for c in text)
    return bool(re.search(pattern, line))


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Case:
    """The case of a test that is marked with sextant.mark.cases."""
    if not hasattr(request, "param"):
        pytest.fail("sextant: the argument `case` needs the mark sextant.mark.cases", pytrace=False)
    drawn = Case(request.param)
    setattr(request.node, _LINE, drawn.line)
    return drawn


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
    outcome: Any = yield
    report = outcome.get_result()
    error = call.excinfo.value if call.excinfo else None
    report.user_properties += [(_TOLERANCE, grade) for grade in _calls.new_grades]
    _calls.new_grades.clear()
    if call.when != "call" or hasattr(report, "wasxfail"):
        return
    if isinstance(error, Unsupported):
        _skip(item, report, str(error))
    elif isinstance(error, (_calls.DoesNotConform, _calls.NotVerified, InputError)):
        if not item.config.getoption("fulltrace"):
            report.longrepr = _place(item, call) + str(error)
    if hasattr(item, _LINE) and (error is None or isinstance(error, Exception)):
        _compare(item, error, report)


def _skip(item: pytest.Item, report: pytest.TestReport, why: str) -> None:
    report.outcome = "skipped"
    report.longrepr = (str(item.path), item.location[1] or 0, f"Skipped: {why}")


def _place(item: pytest.Item, call: pytest.CallInfo[Any]) -> str:
    """The line of the test that failed, also if it calls a helper there: "test_rope.py:12: "."""
    lines = [entry.lineno + 1 for entry in call.excinfo.traceback  # type: ignore[union-attr]
             if pathlib.Path(str(entry.path)) == item.path]
    return f"{item.location[0]}:{lines[0]}: " if lines else ""


def _compare(item: Any, error: Exception | None, report: pytest.TestReport) -> None:
    """Changes the report of a test according to the expectation of its case."""
    verdict = item.funcargs["case"].verdict
    if error is None and verdict is None:
        report.outcome, report.longrepr = "failed", "the test did not call case.check"
        return
    if error is None and verdict.status_code == NOTHING:
        _skip(item, report, "nothing to judge: no output has an element")
    found = _outcome_of(error, verdict)
    known = item.config.stash[_KNOWN]
    if not known.entries:
        return
    judged = verdict if found in ("fails", "unlikely") else None
    try:
        number, why = expectations.compare(known.path, getattr(item, _LINE), found, judged)
    except InputError as wrong:  # a name that the operation does not have
        report.outcome, report.longrepr = "failed", f"sextant: {wrong}"
        return
    if number is None:
        return
    known.used.add(number)
    entry = known.entries[number]
    if why:
        before = f"{report.longrepr}\n" if report.outcome == "failed" else ""
        report.longrepr = f"{before}{entry['where']}: {why} ({entry['reason']})"
        report.outcome = "failed"
    elif entry["outcome"] != "conforms":
        report.outcome, report.wasxfail = "skipped", entry["reason"]  # type: ignore[attr-defined]


def _outcome_of(error: Exception | None, verdict: Any) -> str:
    if error is None and verdict.status == "unverified":  # check accepts such rows
        return "conforms"
    if error is None or isinstance(error, _calls.DoesNotConform):
        return verdict.document["outcome"]
    if isinstance(error, _calls.NotVerified):
        return "unverified"
    return "unsupported" if isinstance(error, Unsupported) else "could_not_run"


def pytest_sessionfinish(session: pytest.Session) -> None:
    expired = any(entry["expired"] for entry in session.config.stash[_KNOWN].entries)
    if expired and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    reports = [report for of_kind in terminalreporter.stats.values() for report in of_kind]
    grades = dict(grade for report in reports  # each once, also if several workers had it
                  for name, grade in getattr(report, "user_properties", ()) if name == _TOLERANCE)
    for text in grades.values():
        terminalreporter.write_line(f"sextant: the tolerance of assert_close: {text}")
    known = config.stash[_KNOWN]
    in_workers = config.getoption("numprocesses", None)  # only they know which entries they used
    for number, entry in enumerate(known.entries):
        if entry["expired"]:
            why = f"expired after {entry['until']}"
        elif in_workers or number in known.used:
            continue
        else:
            why = "decides no test of this run"
        terminalreporter.write_line(f"sextant: {entry['where']} {why}: {entry['cases']}")
