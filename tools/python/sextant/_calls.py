"""The functions of the package: judge, assert_conforms, prove, draw, cases."""

from __future__ import annotations

import ctypes
import json
import operator
import os
import warnings
from typing import TYPE_CHECKING, Any, Mapping

from . import _library
from ._library import InputError
from ._results import Golden, ToleranceGrade, Verdict, array
from ._tensors import view

if TYPE_CHECKING:
    import numpy

_MOST_THREADS = 1024
_GRADED_ELEMENTS = 1 << 16  # of a tolerance, as in `sextant tolerance`


class _Judged(AssertionError):
    """An assertion about a verdict; its message is the report."""

    def __init__(self, message: str, verdict: Verdict) -> None:
        super().__init__(message)
        self.verdict = verdict


class DoesNotConform(_Judged):
    """Some element has a larger error than its recipe permits: `verdict` has the errors."""


class NotVerified(_Judged):
    """No element of a required output could have failed, whatever it is."""


class PartlyJudged(UserWarning):
    """A budget left out a part of the elements."""


def judge(question: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], *,
          recipe: str = "native", strict: bool = False, threads: int = 0,
          keep: str | os.PathLike[str] | None = None, budget_elements: int | None = None,
          seed: int = 0) -> Verdict:
    """The verdict on `outputs` for `inputs`: dictionaries of tensors by their names in the signature.

    recipe   how the implementation computes (reference/RECIPES.md of the project)
    strict   errors that independent roundings do not explain fail too
    threads  0: all cores, or one in a worker of pytest-xdist
    keep     the folder for the tensors of a failure; default: the environment variable SEXTANT_KEEP
    budget_elements  judges about this many elements at most, chosen at random with `seed`, and warns
             (PartlyJudged) if it left out others
    Raises InputError if the call is wrong."""
    return _judge(question, inputs, outputs, _options(recipe, strict, threads, keep, budget_elements, seed))


def assert_conforms(question: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], *,
                    recipe: str = "native", strict: bool = False, threads: int = 0,
                    keep: str | os.PathLike[str] | None = None, budget_elements: int | None = None,
                    seed: int = 0, min_judged: float | None = None) -> Verdict:
    """Judges like `judge`. Raises DoesNotConform, with the report as its message, if an output does
    not conform; NotVerified if no element of a required output could have failed, or if fewer than
    `min_judged` of its elements (0 to 1) could have. Returns the verdict."""
    __tracebackhide__ = True  # of pytest: it shows the line of the caller
    if min_judged is not None and not 0 <= min_judged <= 1:
        raise InputError(f"min_judged is {min_judged!r}, expected a share of 0 to 1")
    verdict = _judge(question, inputs, outputs,
                     _options(recipe, strict, threads, keep, budget_elements, seed))
    if verdict.fails:
        raise DoesNotConform(verdict.text, verdict)
    if verdict.status_code != 0 and not verdict.document["open_rows_acceptable"]:
        raise NotVerified(verdict.text, verdict)
    for tensor in verdict.document["tensors"]:
        compared = tensor["elements"] - tensor["left_out"]
        share = tensor["judged"] / compared if compared else 1
        if min_judged is not None and share < min_judged:
            raise NotVerified(f"only {share:.3g} of the elements of {tensor['name']} could have failed, "
                              f"expected at least {min_judged:.3g}\n{verdict.text}", verdict)
    return verdict


def _judge(question: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any],
           options: _library.Options) -> Verdict:
    """Called by a public function; the warning names the line that calls that function."""
    verdict = Verdict(_ask("judge", question, {"inputs": inputs, "outputs": outputs}, options))
    left_out = sum(tensor["left_out"] for tensor in verdict.document["tensors"])
    if left_out > 0 and not verdict.fails:
        warnings.warn(f"the budget left out {left_out} elements of {verdict.document['case']}",
                      PartlyJudged, stacklevel=3)
    return verdict


def prove(question: str, inputs: Mapping[str, Any], *, recipe: str = "native",
          threads: int = 0) -> Golden:
    """The exact outputs for `inputs`, with the errors that the recipe permits."""
    return Golden(_ask("prove", question, {"inputs": inputs}, _options(recipe, False, threads)))


def tolerance(question: str, inputs: Mapping[str, Any], *, atol: float = 0, rtol: float = 0,
              recipe: str = "native", threads: int = 0, budget_elements: int | None = _GRADED_ELEMENTS,
              seed: int = 0) -> ToleranceGrade:
    """Grades the tolerance of a test, |answer - expected| <= atol + rtol |expected|: which right answers
    of the recipe it may reject, which known bugs of the operation it lets pass, and the smallest one
    that rejects no right answer. Large tensors are graded by a part; budget_elements=None: by all."""
    options = _options(recipe, False, threads, None, budget_elements, seed)
    arguments = _arguments(question, {"inputs": inputs})
    parts = [ctypes.c_double(_number(name, part)) for name, part in (("atol", atol), ("rtol", rtol))]
    return ToleranceGrade(_library.call("tolerance", (*arguments[:3], *parts, options)))


_graded: set[Any] = set()  # what assert_close has graded in this process
new_grades: list[list[str]] = []  # what and its text, for reports: the pytest plugin takes them


def assert_close(actual: Any, expected: Any, *, atol: float, rtol: float, question: str,
                 inputs: Mapping[str, Any], recipe: str = "native",
                 budget_elements: int = _GRADED_ELEMENTS) -> None:
    """Asserts what torch.testing.assert_close asserts of torch tensors, and of others
    numpy.testing.assert_allclose; and grades this tolerance (`tolerance`), once for each question,
    recipe and kind of inputs. pytest prints the grades at the end of a session."""
    __tracebackhide__ = True
    _arguments(question, {"inputs": inputs})  # raises InputError
    kinds = tuple((name, str(getattr(x, "dtype", "")), tuple(getattr(x, "shape", ())))
                  for name, x in inputs.items())
    key = question, recipe, _number("atol", atol), _number("rtol", rtol), kinds
    if key not in _graded:
        grade = tolerance(question, inputs, atol=atol, rtol=rtol, recipe=recipe,
                          budget_elements=budget_elements)
        _graded.add(key)
        new_grades.append([repr(key), grade.text])
    if type(expected).__module__.partition(".")[0] == "torch":
        import torch

        torch.testing.assert_close(actual, expected, atol=atol, rtol=rtol)
    else:
        import numpy

        numpy.testing.assert_allclose(actual, expected, atol=atol, rtol=rtol)


def draw(case: str) -> dict[str, numpy.ndarray]:
    """The inputs of a case line, as a dictionary of arrays: the same numbers on every machine. Values
    of bf16 and of 8-bit floats are in float32."""
    return draw_with_facts(case)[0]


def draw_with_facts(case: str) -> tuple[dict[str, numpy.ndarray], dict[str, Any]]:
    """The inputs of a case line, and the JSON of sextant_draw."""
    handle = _library.call("draw", (_text("the case", case),))
    try:
        facts = json.loads(_library.library.sextant_json(handle))
        types = {entry["name"]: _library.ARRAYS[entry["dtype"]] for entry in facts["inputs"]}
        return {name: array(handle, name).astype(called if called in _library.IN_NUMPY else "float32")
                for name, called in types.items()}, facts
    finally:
        _library.library.sextant_free(handle)


def cases(path: str | os.PathLike[str]) -> list[str]:
    """The case lines of a .cases file, complete: every attribute, dimension and seed is stated."""
    return [entry["case"] for entry in read_cases(path)]


def read_cases(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The cases of a file, as in the JSON of sextant_cases: line, number, why, case."""
    handle = _library.call("cases", (_text("the path", os.fspath(path)),))
    try:
        return json.loads(_library.library.sextant_json(handle))["cases"]
    finally:
        _library.library.sextant_free(handle)


def _text(what: str, text: str) -> bytes:
    if not isinstance(text, str):
        raise InputError(f"{what} is of type {type(text).__name__}, expected str")
    if "\0" in text:
        raise InputError(f"{what} contains a null character")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{what} is not valid Unicode: {error.reason}") from None


def _ask(function: str, question: str, sides: dict[str, Mapping[str, Any]],
         options: _library.Options) -> ctypes.c_void_p:
    question_and_tensors = _arguments(question, sides)
    return _library.call(function, (*question_and_tensors[:3], options))


def _arguments(question: str, sides: dict[str, Mapping[str, Any]]) -> tuple[Any, ...]:
    """The question, its tensors, their number, and views of them, which must outlive the call."""
    views, tensors = [], []
    for side, given in sides.items():
        if not hasattr(given, "items"):
            raise InputError(f"{side} is of type {type(given).__name__}, expected a dictionary of "
                             "tensors by name")
        for name, tensor in given.items():
            views.append(view(name, tensor))
            tensors.append(_library.Tensor(_text("the name of a tensor", name),
                                           ctypes.pointer(views[-1].tensor)))
    return _text("the question", question), (_library.Tensor * len(tensors))(*tensors), len(tensors), views


def _options(recipe: str | None, strict: bool, threads: int, keep: Any = None, budget_elements: Any = None,
             seed: Any = 0) -> _library.Options:
    if not _is_bool(strict):
        raise InputError(f"strict is {strict!r}, expected True or False")
    options = _library.Options(ctypes.sizeof(_library.Options),
                               None if recipe is None else _text("the recipe", recipe),
                               bool(strict), _threads(threads))
    if keep is not None:
        options.keep = _text("keep", os.fspath(keep) if isinstance(keep, os.PathLike) else keep)
    if budget_elements is not None:
        options.budget_elements = _integer("budget_elements", budget_elements, 1, 2**63)
    options.budget_seed = _integer("seed", seed, 0, 2**64 - 1)
    return options


def _is_bool(value: Any) -> bool:
    return type(value).__name__ in ("bool", "bool_")  # of Python, or of numpy, which may be absent


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, (bool, str)) or not 0 <= number < float("inf"):
        raise InputError(f"{name} is {value!r}, expected a number from 0 on")
    return number


def _integer(name: str, value: Any, least: int, most: int) -> int:
    try:
        number = operator.index(value)  # an integer of numpy, too
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or not least <= number <= most:
        raise InputError(f"{name} is {value!r}, expected an integer from {least} to {most}")
    return number


def _threads(count: int) -> int:
    count = _integer("threads", count, 0, _MOST_THREADS)
    # The workers of pytest-xdist share the cores.
    return 1 if count == 0 and "PYTEST_XDIST_WORKER" in os.environ else count
