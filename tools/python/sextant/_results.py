"""Results of calls: verdicts and goldens, with their arrays."""

from __future__ import annotations

import ctypes
import json
import weakref
from typing import TYPE_CHECKING, Any

from . import _library

if TYPE_CHECKING:
    import numpy
    import torch

NOTHING = 4  # the status_code of a verdict on outputs without elements


class Output:
    """The arrays of one output as attributes, in f64 and with the axes of the signature: `error` and
    `permitted` of a verdict; `value`, `high`, `low`, `permitted` and `radius` of a golden, whose
    `value` is exact in `dtype`; a NaN of it is specified where `permitted` is 0."""

    dtype: str | None
    error: numpy.ndarray
    permitted: numpy.ndarray
    value: numpy.ndarray
    high: numpy.ndarray
    low: numpy.ndarray
    radius: numpy.ndarray

    _parts: tuple[str, ...] = ()

    def __init__(self, handle: Any, name: str, dtype: str | None, parts: tuple[str, ...]) -> None:
        self.dtype, self._handle, self._name, self._parts = dtype, handle, name, parts

    def __getattr__(self, part: str) -> numpy.ndarray:
        """An array, copied when it is first used."""
        if part not in self._parts:
            raise AttributeError(f"this output has no {part!r}, expected one of: {' '.join(self._parts)}")
        setattr(self, part, array(self._handle, f"{self._name}/{part}"))
        return self.__dict__[part]

    def torch(self) -> torch.Tensor:
        """`value` as a torch tensor of the output's dtype."""
        return torch_tensor(self.value, self.dtype)


class Result:
    """The JSON and the arrays of a call; `outputs` maps names to Output."""

    key = ""  # of the list of outputs in the JSON
    parts: tuple[str, ...] = ()
    outputs: dict[str, Output]

    def __init__(self, handle: Any) -> None:
        self.handle = handle  # outputs have it too, and it may outlive this object with them
        weakref.finalize(handle, _library.library.sextant_free, ctypes.c_void_p(handle.value))
        self.status_code: int = _library.library.sextant_status(handle)
        self.json: str = _library.library.sextant_json(handle).decode()
        self.document: dict[str, Any] = json.loads(self.json)
        self.outputs = {entry["name"]: Output(handle, entry["name"], entry.get("dtype"), self.parts)
                        for entry in self.document.get(self.key, [])}

    def __getitem__(self, name: str) -> Output:
        return self.outputs[name]


class Verdict(Result):
    """What `judge` found. `status` is conforms, fails or unverified; `grade` the grade of the worst
    element; `causes` names likely bugs; `text` is the report; `kept` the file with the tensors of a
    failure; `json` and `document` have all of it."""

    key, parts = "tensors", ("error", "permitted")

    @property
    def status(self) -> str:
        return self.document["status"]

    @property
    def fails(self) -> bool:
        return self.document["fails"]

    @property
    def grade(self) -> str | None:
        return self.document["grade"]

    @property
    def causes(self) -> list[str]:
        return [cause["name"] for cause in self.document["causes"]]

    @property
    def text(self) -> str:
        return self.document["text"]

    @property
    def kept(self) -> str:
        return self.document["kept"]

    def __repr__(self) -> str:
        return f"<sextant.Verdict {self.text.splitlines()[0]}>"


class Golden(Result):
    """What `prove` proved: golden["y"].value is the exact value, rounded once to the dtype."""

    key, parts = "outputs", ("value", "high", "low", "permitted", "radius")


class ToleranceGrade(Result):
    """What `tolerance` found. `is_good`: it rejects no right answer and lets no known bug pass;
    `may_reject` of `elements` may be off by more though right; `lets_pass` names bugs; `smallest` is
    the smallest (atol, rtol) that rejects no right answer; `text` says it; `document` has all of it."""

    @property
    def is_good(self) -> bool:
        return self.document["is_good"]

    @property
    def elements(self) -> int:
        return self.document["elements"]

    @property
    def may_reject(self) -> int:
        return self.document["may_reject"]

    @property
    def lets_pass(self) -> list[str]:
        return [bug["name"] for bug in self.document["bugs"] if bug["passes"]]

    @property
    def smallest(self) -> tuple[float, float]:
        return self.document["smallest"]["atol"], self.document["smallest"]["rtol"]

    @property
    def text(self) -> str:
        return self.document["text"]

    def __repr__(self) -> str:
        return f"<sextant.ToleranceGrade {self.text}>"


def array(handle: Any, name: str) -> numpy.ndarray:
    """A copy of an array of a result."""
    import numpy

    view = _library.Array()
    _library.check(_library.library.sextant_array(handle, name.encode(), ctypes.byref(view)))
    values = numpy.empty(tuple(view.shape[axis] for axis in range(view.rank)))
    if view.count > 0:
        values[...] = numpy.ctypeslib.as_array(view.data, (view.count,)).reshape(values.shape)
    return values


def torch_tensor(values: numpy.ndarray, dtype: str | None) -> torch.Tensor:
    """The values, which are exact in `dtype`, as a torch tensor of that dtype."""
    import torch

    called = _library.ARRAYS[str(dtype)]
    if not hasattr(torch, called):
        raise _library.InputError(f"torch {torch.__version__} has no {called}")
    return torch.from_numpy(values.copy()).to(getattr(torch, called))
