"""assert_computes: the function runs in another process, which has neither seeds nor expected values."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
from typing import Any, Callable, Mapping, Union

from . import _library
from ._calls import NotVerified, _integer, _number, _text, read_cases
from ._library import InputError

_USAGE, _NOTHING, _UNVERIFIED = 2, 4, 5  # statuses of `sextant check`


class NotComputed(AssertionError):
    """An answer is wrong, or there is none. The message is the report, `document` that of `sextant check
    --json` (tools/report/JSON.md of the project)."""

    def __init__(self, message: str, document: dict[str, Any] | None) -> None:
        super().__init__(message)
        self.document = document


Implementation = Union[Callable[..., Any], str]


def assert_computes(function: Union[Implementation, Mapping[str, Implementation]],
                    cases: str | os.PathLike[str] | list[str], *, recipe: str = "native",
                    torch: bool = False, strict: bool = False, supported_only: bool = False,
                    seed: int | None = None, timeout: float = 60) -> dict[str, Any]:
    """`sextant check --adversarial`: asks the function each case with inputs drawn now, and questions around
    it that are wrong for whoever knows answers instead of computing them. Returns the document of the report.

    function   called as by `sextant.serve`, in another process, which imports it: a function of a
               module, or "module:name"; or such ones by operation
    cases      a .cases file, a name of the cases that come with Sextant ("rope"), or case lines
    recipe     how it computes (reference/RECIPES.md of the project)
    torch      the function gets torch tensors of the dtypes of the case
    strict     errors that independent roundings do not explain fail too
    supported_only  cases that it declines are accepted, if some is judged
    seed       asks what the report of that seed says again; None: a random one
    timeout    seconds for a question
    Raises NotComputed; NotVerified if no answer was wrong, but some case was declined or could not be
    verified; InputError if the call is wrong."""
    __tracebackhide__ = True  # of pytest: it shows the line of the caller
    given = [_case(one) for one in (cases if isinstance(cases, (list, tuple)) else [cases])]
    functions = function if isinstance(function, Mapping) else dict.fromkeys(_operations(given), function)
    words = {"targets": {name: _target(name, one) for name, one in functions.items()},
             "torch": bool(torch), "recipe": recipe}
    chosen = "" if seed is None else f"={_integer('seed', seed, 0, 2**64 - 1)}"
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        command = [_library.beside("sextant"), "check", *(_text("a case", one).decode() for one in given),
                   f"--adversarial{chosen}", "--subject", "exec:" + _command(words), "--json", str(report),
                   "--recipe", _text("the recipe", recipe).decode(),
                   "--timeout", repr(_number("timeout", timeout)),
                   *["--strict"] * bool(strict), *["--supported-only"] * bool(supported_only)]
        paths = {os.path.abspath(path): None for path in sys.path}  # in this order, each once
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
        document = json.loads(report.read_text()) if report.exists() and report.stat().st_size else None
    text = (done.stdout + done.stderr).strip()
    if done.returncode == 0 and document is not None:
        return document
    if done.returncode == _USAGE or document is None:
        raise InputError(text)
    if done.returncode in (_NOTHING, _UNVERIFIED):
        raise NotVerified(text, None)
    raise NotComputed(text, document)


def _case(given: Any) -> str:
    if not isinstance(given, (str, os.PathLike)) or str(given).startswith("-") or not str(given).strip():
        raise InputError(f"a case is {given!r}, expected a .cases file, a name or a case line")
    return os.fspath(given)


def _operations(cases: list[str]) -> set[str]:
    """Of the cases of files, of names such as "real/rope", and of lines."""
    found = set()
    for one in cases:
        if os.path.isfile(one):
            found |= {entry["case"].split()[0] for entry in read_cases(one)}
        else:
            found.add(one.split()[0].rpartition("/")[2] if one.split() else one)
    return found


def _target(operation: str, function: Any) -> list[str]:
    """The module of the function, or its file, and its name there."""
    if isinstance(function, str) and ":" in function:
        return function.rsplit(":", 1)
    module, called = getattr(function, "__module__", None), getattr(function, "__qualname__", "<")
    if not callable(function) or "<" in called or not module or inspect.ismethod(function):
        raise InputError(f"the function of {operation} is {function!r}, expected one that another process can "
                         'import: of a module, not within another function and no lambda; or "module:name"')
    try:
        if module != "__main__" and importlib.util.find_spec(module) is not None:
            return [module, called]
    except (ImportError, ValueError):
        pass
    return [os.path.abspath(inspect.getsourcefile(function) or ""), called]


def _command(words: dict[str, Any]) -> str:
    return " ".join(map(shlex.quote, ["exec", sys.executable, "-m", "sextant._asked", json.dumps(words)]))
