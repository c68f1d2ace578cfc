"""Sextant: verdicts on your own tensors.

    import sextant
    sextant.assert_conforms("rope pairing=half base=500000", {"x": x, "position": p}, {"y": y})

The question has the operation and its attributes (`sextant describe rope`); dimensions and dtypes are
those of the tensors. A tensor whose axes are in another order is given with their names:
{"x (B S H D)": x}. The recipe says how the implementation computes (README.md: How to read a verdict).
"""

import ctypes as _ctypes
import json as _json

import numpy as _numpy

from . import _library
from ._library import InputError
from ._tensors import view as _view

__all__ = ["DoesNotConform", "Golden", "InputError", "NotVerified", "Output", "Verdict",
           "assert_conforms", "cases", "draw", "judge", "prove"]
__version__ = _library.library.sextant_version().decode()


class DoesNotConform(AssertionError):
    """Some element has a larger error than its recipe permits."""


class NotVerified(AssertionError):
    """No element of a required output could have failed, whatever it is."""


class Output:
    """The arrays of one output as attributes, in f64 and with the axes of the signature: `error` and
    `permitted` of a verdict; `value`, `high`, `low`, `permitted` and `radius` of a golden, whose
    `value` is exact in `dtype`."""

    def __init__(self, dtype):
        self.dtype = dtype

    def torch(self):
        """`value` as a torch tensor of the output's dtype."""
        import torch

        names = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16",
                 "i64": "int64"}
        return torch.from_numpy(self.value.copy()).to(getattr(torch, names[self.dtype]))


class _Result:
    """The JSON and the arrays of a call; `outputs` maps names to Output."""

    def __init__(self, handle):
        try:
            self.status_code = _library.library.sextant_status(handle)
            self.json = _library.library.sextant_json(handle).decode()
            self.document = _json.loads(self.json)
            self.outputs = self._outputs(handle)
        finally:
            _library.library.sextant_free(handle)

    def __getitem__(self, name):
        return self.outputs[name]

    def _outputs(self, handle):
        outputs = {}
        for entry in self.document.get(self.key, []):
            output = outputs[entry["name"]] = Output(entry.get("dtype"))
            for part in self.parts:
                setattr(output, part, _array(handle, f"{entry['name']}/{part}")[0])
        return outputs


class Verdict(_Result):
    """What `judge` found. `status` is conforms, fails or unverified; `grade` the grade of the worst
    element; `causes` names likely bugs; `text` is the report; `json` and `document` have all of it."""

    key, parts = "tensors", ("error", "permitted")

    @property
    def status(self):
        return self.document["status"]

    @property
    def fails(self):
        return self.document["fails"]

    @property
    def grade(self):
        return self.document["grade"]

    @property
    def causes(self):
        return [cause["name"] for cause in self.document["causes"]]

    @property
    def text(self):
        return self.document["text"]

    def __repr__(self):
        return f"<sextant.Verdict {self.text.splitlines()[0]}>"


class Golden(_Result):
    """What `prove` proved: golden["y"].value is the exact value, rounded once to the dtype."""

    key, parts = "outputs", ("value", "high", "low", "permitted", "radius")


def judge(question, inputs, outputs, *, recipe="native", strict=False, threads=0):
    """The verdict on `outputs` for `inputs`: dictionaries of tensors by their names in the signature.
    Raises InputError if the call is wrong."""
    return Verdict(_ask("judge", question, {"inputs": inputs, "outputs": outputs}, recipe, strict,
                        threads))


def assert_conforms(question, inputs, outputs, *, recipe="native", strict=False, threads=0,
                    min_judged=None):
    """Raises DoesNotConform, with the report as its message, if an output does not conform;
    NotVerified if no element of a required output could have failed, or if fewer than `min_judged`
    of its elements (0 to 1) could have. Returns the verdict."""
    verdict = judge(question, inputs, outputs, recipe=recipe, strict=strict, threads=threads)
    if verdict.fails:
        raise DoesNotConform(verdict.text)
    if verdict.status_code != 0 and not verdict.document["open_rows_acceptable"]:
        raise NotVerified(verdict.text)
    for tensor in verdict.document["tensors"]:
        share = tensor["judged"] / tensor["elements"] if tensor["elements"] else 1
        if min_judged is not None and share < min_judged:
            raise NotVerified(f"only {share:.3g} of the elements of {tensor['name']} could have failed, "
                              f"expected at least {min_judged:.3g}\n{verdict.text}")
    return verdict


def prove(question, inputs, *, recipe="native", threads=0):
    """The exact outputs for `inputs`, with the errors that the recipe permits."""
    return Golden(_ask("prove", question, {"inputs": inputs}, recipe, False, threads))


def draw(case):
    """The inputs of a case line, as a dictionary of arrays: the same numbers on every machine. Values
    of bf16 are in float32."""
    handle = _library.call("draw", (_text("the case", case),))
    try:
        document = _json.loads(_library.library.sextant_json(handle))
        types = {"f64": "f8", "f32": "f4", "f16": "f2", "bf16": "f4", "i64": "i8"}
        return {entry["name"]: _array(handle, entry["name"])[0].astype(types[entry["dtype"]])
                for entry in document["inputs"]}
    finally:
        _library.library.sextant_free(handle)


def cases(path):
    """The case lines of a .cases file, without comments."""
    with open(path, encoding="utf-8-sig") as file:
        words = [line.split() for line in file]
    lines = []
    for line in words:
        comment = next((i for i, word in enumerate(line) if word.startswith("#")), len(line))
        if comment > 0:
            lines.append(" ".join(line[:comment]))
    return lines


def _text(what, text):
    if not isinstance(text, str):
        raise InputError(f"{what} is of type {type(text).__name__}, expected str")
    if "\0" in text:
        raise InputError(f"{what} contains a null character")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{what} is not valid Unicode: {error.reason}") from None


def _array(handle, name):
    array = _library.Array()
    _library.check(_library.library.sextant_array(handle, name.encode(), _ctypes.byref(array)))
    shape = tuple(array.shape[axis] for axis in range(array.rank))
    values = _numpy.empty(shape)
    if array.count > 0:
        values[...] = _numpy.ctypeslib.as_array(array.data, (array.count,)).reshape(shape)
    return values, array.dtype.decode()


def _ask(function, question, sides, recipe, strict, threads):
    views, tensors = [], []
    for side, given in sides.items():
        if not hasattr(given, "items"):
            raise InputError(f"{side} is of type {type(given).__name__}, expected a dictionary of "
                             "tensors by name")
        for name, tensor in given.items():
            views.append(_view(name, tensor))
            tensors.append(_library.Tensor(_text("the name of a tensor", name),
                                           _ctypes.pointer(views[-1].tensor)))
    options = _library.Options(_ctypes.sizeof(_library.Options), _text("the recipe", recipe),
                               _flag("strict", strict), _threads(threads))
    arguments = (_text("the question", question), (_library.Tensor * len(tensors))(*tensors),
                 len(tensors), options)
    return _library.call(function, arguments)


def _flag(name, value):
    if not isinstance(value, (bool, _numpy.bool_)):
        raise InputError(f"{name} is {value!r}, expected True or False")
    return bool(value)


def _threads(count):
    if not isinstance(count, int) or not 0 <= count <= 1024:
        raise InputError(f"threads is {count!r}, expected 0 to 1024")
    return count
