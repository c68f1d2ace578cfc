"""Functions of the caller that are asked: identify and profile."""

from __future__ import annotations

import ctypes
import json
import math
import os
import pathlib
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Callable, Mapping, Union

from . import _library, adapter
from ._calls import _integer, _is_bool, _options, _text
from ._identification import Identification
from ._library import InputError
from ._results import Result, array, torch_tensor

if TYPE_CHECKING:
    import numpy

Implementation = Union[Callable[..., Any], str]
_OK, _UNSUPPORTED, _ERROR = 0, 1, 2  # what SextantImplementation.answer returns
_NUMBERS = ("median", "p99", "largest", "rms", "bias")


class Errors:
    """Of magnitudes, per group: median, p99 (99 % do not exceed it), largest, rms; and bias, the mean of
    signed errors. Arrays of f64 [groups]."""

    median: numpy.ndarray
    p99: numpy.ndarray
    largest: numpy.ndarray
    rms: numpy.ndarray
    bias: numpy.ndarray

    def __init__(self, handle: Any, prefix: str) -> None:
        for number in _NUMBERS:
            setattr(self, number, array(handle, f"{prefix}_{number}"))


class ProfileOfOne:
    """The errors of one implementation: `key` [groups], the positions, pairs, ...; `elements` [groups];
    `ulps`, `permitted` (error / permitted error) and `absolute`, each with the arrays of Errors.
    By step: `steps` names them; `only` (only this step rounds), `all_but` (all others round) and `up_to`
    (it and those before it round) have the arrays of Errors in ulps. `document` has the rest."""

    key: numpy.ndarray
    elements: numpy.ndarray
    ulps: Errors
    permitted: Errors
    absolute: Errors
    only: Errors
    all_but: Errors
    up_to: Errors

    def __init__(self, handle: Any, name: str, document: dict[str, Any], by: str) -> None:
        self.document = document
        self.steps: list[str] = [one["step"] for one in (document["steps"] or {"steps": []})["steps"]]
        if by == "step":
            parts: tuple[str, ...] = ("only", "all_but", "up_to")
        else:
            self.key, self.elements = array(handle, f"{name}/key"), array(handle, f"{name}/elements")
            parts = ("ulps", "permitted", "absolute")
        for part in parts:
            setattr(self, part, Errors(handle, f"{name}/{part}"))


class Profile(Result):
    """What `profile` measured: profile["mine"] is a ProfileOfOne."""

    def __init__(self, handle: Any, names: Mapping[str, str]) -> None:
        super().__init__(handle)
        by, subjects = self.document["by"], self.document["subjects"]
        self.implementations = {
            name: ProfileOfOne(handle, subject, document, by)
            for (name, subject), document in zip(names.items(), subjects)}

    def __getitem__(self, name: str) -> ProfileOfOne:  # type: ignore[override]
        return self.implementations[name]

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Writes a page with pictures; needs the packages jinja2 and matplotlib."""
        program = _library.beside("pages/page")
        if not os.path.exists(program):
            raise InputError(f"there is no {program} beside {os.path.dirname(__file__)}: write .json, and "
                             "make the page with `sextant` where it is built or installed")
        done = subprocess.run([sys.executable, program], input=self.json.encode(), capture_output=True)
        if done.returncode != 0:
            raise InputError(f"{program}: {done.stderr.decode(errors='replace').strip()}")
        pathlib.Path(path).write_bytes(done.stdout)


def identify(function: Implementation, operation: str, *, recipe: str | None = None,
             against: str | os.PathLike[str] | None = None, part: str | None = None,
             layer: str | int | None = None, torch: bool = False, threads: int = 0,
             **known: Any) -> Identification:
    """What does `function` compute? Asks it about inputs, and finds the attributes of the operation
    with which its answers conform.

    function   called with the inputs that it declares as parameters, by their names in the signature
               (`sextant describe rope`), and with the dimensions and the dtype that it declares without
               a default: `def f(x, position, base=1e4)`; returns the output, or a dictionary of
               outputs, exact in their dtype. bf16 and 8-bit floats are in float32
    known      attributes, dimensions and dtype: D=128, dtype="bf16" or torch.bfloat16. They are passed,
               too, whatever the defaults are; attributes must be parameters of the function, or it must take **others
    recipe     the first that is tried; others follow
    against    the config.json of a model: is what it needs computed? `part` and `layer` as in the
               options of `sextant identify`
    torch      the function gets torch tensors of the dtypes of the case
    An exception of the function ends the call and is raised; sextant.Unsupported declines a question."""
    words = [operation, *(f"{name}={_word(value)}" for name, value in known.items())]
    how = _library.IdentifyOptions(ctypes.sizeof(_library.IdentifyOptions))
    for name, value in (("against", against), ("part", part), ("layer", layer)):
        if value is not None:
            text = str(value) if name == "layer" else os.fspath(value)  # type: ignore[arg-type]
            setattr(how, name, _text(name, text))
    asked = _Asked({"function": function}, torch)
    arguments = (_text("the question", " ".join(words)), asked.array, how,
                 _options(recipe, False, threads))
    return Identification(asked.call("identify", arguments))


def profile(cases: str | list[str], functions: Mapping[str, Implementation], *, by: str | None = None,
            recipe: str | None = None, below: float = 0, worst: int = 0,
            budget_elements: int | None = None, seed: int = 1, torch: bool = False,
            threads: int = 0) -> Profile:
    """The numerical errors of implementations, by groups of elements.

    cases      case lines: "rope pairing=half D=128 dtype=bf16 @position=log(1..131072)"
    functions  by a name of yours: functions as for `identify`, which must take every attribute that is
               set, or **others; or names such as "recipe:native"
    by         position, pair, head, row, key_length, argument, step, or the name of an axis
    recipe     for the permitted errors and the costs of steps; default: that of each implementation
    below      ulps: the cheapest recipe below this error is looked for
    worst      more questions in search of the largest errors, chosen by `seed`
    budget_elements  measures about so many elements of each case at most, chosen by `seed`"""
    if not hasattr(functions, "items"):
        raise InputError(f"functions is of type {type(functions).__name__}, expected a dictionary of "
                         "functions by name")
    lines = [cases] if isinstance(cases, str) else list(cases)
    how = _library.ProfileOptions(
        ctypes.sizeof(_library.ProfileOptions), None if by is None else _text("by", by), float(below),
        _integer("worst", worst, 0, 2**31), _integer("seed", seed, 0, 2**64 - 1))
    asked = _Asked(functions, torch)
    arguments = (b"\n".join(_text("a case", line) for line in lines), asked.array, len(asked.array), how,
                 _options(recipe, False, threads, None, budget_elements, seed))
    result = Profile(asked.call("profile", arguments), asked.names)
    for name, one in result.implementations.items():
        if one.document["answered"] == 0:
            raise InputError(f"{name} answers no case: {one.document['not_answered'][0]}")
    return result


def _word(value: Any) -> str:
    """A value as a case line has it."""
    if _is_bool(value):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_word, value)) + "]"
    if isinstance(value, type) and "numpy" in sys.modules:  # dtype=numpy.float16
        return sys.modules["numpy"].dtype(value).name
    return str(value).removeprefix("torch.")  # dtype=torch.bfloat16


class _Asked:
    """Implementations for the library, and what keeps their callbacks alive."""

    def __init__(self, functions: Mapping[str, Implementation], torch: bool) -> None:
        self.torch, self.raised, self.callbacks = torch, [], []
        self.names: dict[str, str] = {}  # of the caller -> of the library
        self.array = (_library.Implementation * len(functions))()
        for own, (name, function) in zip(self.array, functions.items()):
            if not callable(function) and not isinstance(function, str):
                raise InputError(f"{name} is of type {type(function).__name__}, expected a function or "
                                 'a name such as "recipe:native"')
            self.names[name] = function if isinstance(function, str) else name
            own.struct_size = ctypes.sizeof(_library.Implementation)
            own.name = _text("the name of an implementation", self.names[name])
            if callable(function):
                try:
                    adapter._parameters(function)
                except TypeError as error:
                    raise InputError(str(error)) from None
                self.callbacks.append(_library.ANSWER(self._answering(function)))
                own.answer = self.callbacks[-1]

    def call(self, function: str, arguments: tuple[Any, ...]) -> Any:
        try:
            return _library.call(function, arguments)
        except RuntimeError:
            if self.raised:
                raise self.raised[0]
            raise

    def _answering(self, function: Callable[..., Any]) -> Callable[[int, int], int]:
        def answer(address: int, user: int) -> int:
            question = _library.Question.from_address(address)
            try:
                self._fill(function, question, address)
                return _OK
            except adapter.Unsupported as why:
                return question.fail(address, _UNSUPPORTED, str(why).encode())
            except BaseException as error:
                self.raised.append(error)
                return question.fail(address, _ERROR, type(error).__name__.encode())

        return answer

    def _fill(self, function: Callable[..., Any], question: Any, address: int) -> None:
        """Answers the question as sextant.serve does."""
        asked = json.loads(question.json(address))
        case = adapter.Case(asked["case"], asked["operation"], asked["dtype"], {}, asked["attributes"],
                            outputs=adapter._outputs_of(asked["outputs"]),
                            said=set(asked["said"]) if "said" in asked else None,
                            absent=tuple(asked.get("absent", ())))
        for name, about in asked["inputs"].items():
            values = adapter._decode_tensor(_bytes(question.input(address, name.encode())), about)
            case.dtypes[name] = adapter._NAMES[about["dtype"]]
            case.tensors[name] = torch_tensor(values, case.dtypes[name]) if self.torch else values
        for name, values in adapter._call(function, case).items():
            expected = case.outputs[name]
            sent = adapter._encode_tensor(name, _numbers(values), expected)[1].tobytes()
            memory = question.output(address, name.encode())
            ctypes.memmove(memory.contents.data, sent, len(sent))
            if expected.get("optional"):
                question.answered(address, name.encode())


def _bytes(tensor: Any) -> bytearray:
    """A copy of the elements of a dense tensor."""
    dl = tensor.contents
    count = math.prod(dl.shape[axis] for axis in range(dl.ndim))
    return bytearray(ctypes.string_at(dl.data, count * dl.dtype.bits // 8) if count else b"")


def _numbers(values: Any) -> Any:
    """The values of a torch tensor as numpy has them; others as they are."""
    if not hasattr(values, "detach"):
        return values
    values = values.detach().cpu()
    lacks = values.is_floating_point() and str(values.dtype)[len("torch."):] not in _library.IN_NUMPY
    return (values.float() if lacks else values).numpy()
