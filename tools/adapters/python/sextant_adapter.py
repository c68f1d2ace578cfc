"""Lets Sextant judge functions written in Python. Copy this file beside yours; it needs numpy only.

    import numpy as np
    import sextant_adapter as sextant

    def rms_norm(x, weight, eps, unit_offset, dtype):
        x, weight = x.astype(np.float64), weight.astype(np.float64) + unit_offset
        y = x / np.sqrt(np.mean(x * x, -1, keepdims=True) + eps) * weight
        return {"y": sextant.round_to(y, dtype)}

    sextant.serve({"rms_norm": rms_norm}, name="my kernels", version="1", recipe="native")

    sextant check fixtures/cases/rms_norm.cases --open-rows --subject "exec:python3 my_kernels.py"

A function is called with keyword arguments: the input tensors, the attributes, the dimensions (`B`,
`D`, ...) and `dtype`, the name of the case's element type: "f64", "f32", "f16" or "bf16". What
these are for an operation, `sextant describe OPERATION` tells. A function lists those it wants, or
takes all with **attributes. It need not list dimensions and `dtype`; but a tensor or an attribute
that it does not list cannot have gone into its answer: such a question is answered "unsupported",
unless the attribute is not set (None). A name that is a Python keyword gets an underscore: `from_`.
A function that lists `case` gets the whole question there (class Case).

Attributes are bool, int or float (500000 comes as an int), str (a choice, "half"; a call with
parameters, "linear(factor=4)"), list of numbers ([16, 24, 24]) or None where not set; dimensions
are int.

Tensors are numpy arrays: f64, f32, f16 and i64 as float64, float32, float16 and int64. numpy has no
bf16: such a tensor comes as a float32 array whose values are exactly bf16 values.

A function returns a dict from output names to arrays, or the array itself where one output is
expected. Every output must have the shape that is expected, and values that the expected dtype has
exactly: nothing is rounded for you, because the rounding is part of what is judged.

An exception becomes an answer of status "error"; `raise sextant.Unsupported("why")` says that the
function does not do this case. Printing is safe: standard output is turned to standard error.
"""

import inspect
import json
import keyword
import os
import struct
import sys
import traceback
from dataclasses import dataclass, field

import numpy as np

__all__ = ["Case", "Unsupported", "round_to", "serve"]

_WIRE = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "BF16": "<u2"}


class Unsupported(Exception):
    """Raised by a function for a case that it does not do."""


@dataclass
class Case:
    """A question as a whole."""

    line: str  # the case, as text
    operation: str
    dtype: str  # of the case: "bf16"
    tensors: dict  # name -> array
    attributes: dict  # name -> value, dimensions included
    dtypes: dict = field(default_factory=dict)  # name -> "bf16", of the tensors
    outputs: dict = field(default_factory=dict)  # name -> {"dtype": "BF16", "shape": [2, 3]}


def round_to(values, dtype):
    """The values of the dtype "f64", "f32", "f16" or "bf16" that are nearest to `values` (ties to
    even; too large ones become infinite). bf16 values come as a float32 array."""
    with np.errstate(over="ignore"):
        if dtype != "bf16":
            return np.asarray(values).astype(_WIRE[dtype.upper()])
        values = np.asarray(values, np.float64)
        fraction, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
        # 8 significand bits; below the smallest normal number, 2^-126, a spacing of 2^-133.
        quantum = np.maximum(exponent - 8, -133)
        rounded = np.ldexp(np.rint(np.ldexp(fraction, exponent - quantum)), quantum)
        rounded = np.where(np.isfinite(values), rounded, values)
        return rounded.astype(np.float32)  # 2^128 becomes infinite, all else is exact


def serve(operations, name, version, recipe):
    """Answers questions until there are no more.

    operations  name of an operation -> function
    name, version  of the implementation, for reports
    recipe      how it claims to compute: the name of a standard recipe, or a recipe's line
    """
    source, sink = _take_pipes()
    while True:
        message = _read_message(source)
        if message is None:
            return
        words, tensors = message
        if words["operation"] == "hello":
            listed = json.dumps(sorted(operations))
            said = {"name": name, "version": version, "recipe": recipe, "operations": listed}
            reply = _encode({"id": words["id"], "status": "ok", **said}, {})
        else:
            reply = _answer(operations, words, tensors)
        try:
            sink.write(reply)
            sink.flush()
        except BrokenPipeError:
            os._exit(1)  # nobody listens; an ordinary exit would try to write again


def _take_pipes():
    """The two ends of the conversation, out of reach of everything else in this process: what a
    library prints to descriptor 1 goes to stderr, and what it reads from descriptor 0 is empty."""
    sys.stdout.flush()
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


def _read_exactly(source, count):
    """`count` bytes, as something that numpy may write to."""
    data = bytearray(count)
    view, done = memoryview(data), 0
    while done < count:
        got = source.readinto(view[done:])
        if not got:
            raise EOFError(f"the request ends after {done} of {count} bytes")
        done += got
    return data


def _read_message(source):
    """Metadata, and tensors as name -> (array, dtype); None at the end of the input."""
    first = source.read(1)
    if not first:
        return None
    size = struct.unpack("<Q", first + _read_exactly(source, 7))[0]
    header = json.loads(_read_exactly(source, size))
    words = header.pop("__metadata__", {})
    body = _read_exactly(source, max((t["data_offsets"][1] for t in header.values()), default=0))
    tensors = {}
    for name, about in header.items():
        begin, end = about["data_offsets"]
        raw = np.frombuffer(body[begin:end], _WIRE[about["dtype"]]).reshape(about["shape"])
        if about["dtype"] == "BF16":
            raw = (raw.astype(np.uint32) << 16).view(np.float32)
        tensors[name] = (raw, about["dtype"].lower())
    return words, tensors


def _answer(operations, words, tensors):
    """The reply to a question, as bytes."""
    try:
        if words["operation"] not in operations:
            raise Unsupported(f"no operation {words['operation']}; there are: {sorted(operations)}")
        case = _case_of(words, tensors)
        outputs = _call(operations[case.operation], case)
        encoded = {n: _to_wire(n, outputs[n], case.outputs[n]) for n in outputs}
        return _encode({"id": words["id"], "status": "ok"}, encoded)
    except Unsupported as why:
        return _encode({"id": words["id"], "status": "unsupported", "message": str(why)}, {})
    except Exception as error:
        traceback.print_exc()
        message = f"{type(error).__name__}: {error}"
        return _encode({"id": words["id"], "status": "error", "message": message[:4000]}, {})


def _case_of(words, tensors):
    settings = dict(word.partition("=")[::2] for word in words["case"].split())
    return Case(
        line=words["case"],
        operation=words["operation"],
        dtype=settings.get("dtype", "f32"),
        tensors={name: array for name, (array, _) in tensors.items()},
        attributes={n: _value_of(v) for n, v in json.loads(words["attributes"]).items()},
        dtypes={name: dtype for name, (_, dtype) in tensors.items()},
        outputs=json.loads(words["outputs"]),
    )


def _value_of(value):
    """An attribute as Python has it; a list travels as text, "[16,24,24]"."""
    if not (isinstance(value, str) and value.startswith("[")):
        return value
    return [_number_of(item) for item in value[1:-1].split(",") if item]


def _number_of(text):
    try:
        return int(text)
    except ValueError:
        return float(text)


def _call(function, case):
    """Calls with what the function lists; returns a dict of arrays with expected names."""
    given = {"dtype": case.dtype, **case.attributes, **case.tensors}
    given = {name + "_" * keyword.iskeyword(name): value for name, value in given.items()}
    parameters = inspect.signature(function).parameters.values()
    listed = {p.name for p in parameters if p.kind != p.VAR_KEYWORD}
    if "case" in listed:
        given["case"] = case
    if len(listed) == len(parameters):  # no **attributes
        for name in sorted(given.keys() - listed - {"dtype"}):
            unset = case.attributes.get(name, name) is None
            if not (name[0].isupper() or unset or "case" in listed):
                raise Unsupported(f"the function takes no '{name}'")
            del given[name]
        if "dtype" not in listed:
            del given["dtype"]
    outputs = function(**given)
    required = {name for name, about in case.outputs.items() if not about.get("optional")}
    if not isinstance(outputs, dict):
        if len(required) != 1:
            raise TypeError(f"expected a dict of the outputs {sorted(case.outputs)}")
        outputs = dict.fromkeys(required, outputs)
    if not required <= outputs.keys() <= case.outputs.keys():
        raise ValueError(f"returned the outputs {sorted(outputs)}, expected {sorted(case.outputs)}")
    return outputs


def _to_wire(name, values, expected):
    """(dtype, array) with the bytes that travel; raises ValueError if they are not as expected."""
    values, shape, dtype = np.asarray(values), tuple(expected["shape"]), expected["dtype"]
    if values.shape != shape:
        raise ValueError(f"output {name} has shape {values.shape}, expected {shape}")
    with np.errstate(invalid="ignore"):  # a NaN that shall become an integer is found below
        exact = wire = round_to(values, dtype.lower())
    if dtype == "BF16":
        wire = np.where(np.isnan(exact), 0x7FC0, exact.view(np.uint32) >> 16)
    wrong = ~((exact == values) | (exact != exact) & (values != values))
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"output {name} is {values[at]!r} at {list(at)}, which is no value of {dtype.lower()}: "
            "round it yourself, perhaps with round_to"
        )
    return dtype, np.asarray(wire, _WIRE[dtype])


def _encode(words, tensors):
    """A message of name -> (dtype, array)."""
    header, body = {"__metadata__": words}, b""
    for name, (dtype, array) in tensors.items():
        data = array.tobytes()
        offsets = [len(body), len(body) + len(data)]
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": offsets}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body
