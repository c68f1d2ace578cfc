"""Lets Sextant judge functions written in Python. Copy this file beside yours; it needs only numpy.

    import numpy as np
    import sextant_adapter as sextant

    def rms_norm(x, weight, eps, unit_offset, dtype):
        x, weight = x.astype(np.float64), weight.astype(np.float64) + unit_offset
        y = x / np.sqrt(np.mean(x * x, -1, keepdims=True) + eps) * weight
        return {"y": sextant.round_to(y, dtype)}

    sextant.serve({"rms_norm": rms_norm})

    sextant check fixtures/cases/rms_norm.cases --subject "exec:python3 my_kernels.py"

A function is called with the input tensors, the attributes, the dimensions (`B`, `D`, ...) and
`dtype`, the name of the case's element type: "f64", "f32", "f16" or "bf16", by their names. `sextant
describe OPERATION` lists them. A function declares the parameters that it needs, or takes all with
**attributes. It may omit dimensions and `dtype`. If it omits a tensor, or an attribute that is set,
its answer would ignore that value, so the adapter answers "unsupported". A name that is a Python
keyword gets an underscore: `from_`. A parameter `case` without a default receives the whole question
(class Case). Of a module of torch, the parameters of `forward` count.

An optional input that a case does not have is None, or the parameter's default.

A default is the function's own choice. Only what a question says replaces it: every tensor, and each
attribute that is set, dimension and dtype. `sextant identify` says no more than its command line; what
it leaves out goes only to parameters without a default: None for an attribute, and the value in this
question for a dimension and the dtype. **attributes get nothing that it leaves out.

Attributes are bool, int or float (500000 is an int), str (a choice, "half"), list of numbers ([16,
24, 24]), dict (a call with all its parameters: {"type": "linear", "factor": 4}, {"type": "none"})
or None if not set; dimensions are int.

Tensors are numpy arrays: f64, f32, f16, i64 and i8 as float64, float32, float16, int64 and int8.
numpy has no bf16 and no floats of 8 or 4 bits: such a tensor is a float32 array of exact values of
its dtype. An i4 is an int8.

A function returns a dict from output names to arrays, or one array if one output is expected. Every
output must have the expected shape, and every value must be exact in the expected dtype: the
adapter does not round, because rounding is part of what is judged. For an output of floats of 8 or 4
bits, or of i4, an array of uint8 has their bit patterns, one in each byte.

An exception becomes an answer with status "error"; `raise sextant.Unsupported("why")` answers
"unsupported". Functions may print: standard output is redirected to standard error.
"""

import functools
import inspect
import json
import keyword
import os
import struct
import sys
import traceback
from dataclasses import dataclass, field

__all__ = ["Case", "Unsupported", "round_to", "serve"]

_VERSION = "2"  # of the protocol


@dataclass(frozen=True)
class _Type:
    """An element type. `message` is its name in messages, `stored` the type of the elements there. The
    other members are those of a type that numpy does not have, and of i8: significand bits, the
    exponent of the smallest normal number, the largest number, the kind of its bit patterns, and their
    bits. A pattern of 4 bits is in the low ones of a byte."""

    message: str
    stored: str
    precision: int = 0
    min_exponent: int = 0
    largest: float = 0
    patterns: str = "ieee"  # or fn, fnuz: no infinities, and no -0; finite: no NaN either; integer; power
    bits: int = 8

    @property
    def lowest(self):
        """The number farthest below 0; of powers of two the smallest one."""
        return {"integer": -self.largest - 1, "power": 1 / self.largest}.get(self.patterns, -self.largest)

    @property
    def array(self):
        """The type of its arrays."""
        return "i1" if self.patterns == "integer" else "f4"


_TYPES = {
    "f64": _Type("F64", "<f8"),
    "f32": _Type("F32", "<f4"),
    "f16": _Type("F16", "<f2"),
    "bf16": _Type("BF16", "<u2", 8, -126, 2.0**128 - 2.0**120, bits=16),
    "f8_e4m3fn": _Type("F8_E4M3", "u1", 4, -6, 448, "fn"),
    "f8_e5m2": _Type("F8_E5M2", "u1", 3, -14, 57344),
    "f8_e4m3fnuz": _Type("F8_E4M3FNUZ", "u1", 4, -7, 240, "fnuz"),
    "f8_e5m2fnuz": _Type("F8_E5M2FNUZ", "u1", 3, -15, 57344, "fnuz"),
    "f4_e2m1": _Type("F4_E2M1", "u1", 2, 0, 6, "finite", 4),
    "i8": _Type("I8", "i1", 8, 7, 127, "integer"),
    "i4": _Type("I4", "u1", 4, 3, 7, "integer", 4),
    "e8m0": _Type("F8_E8M0", "u1", 1, -127, 2.0**127, "power"),
    "i64": _Type("I64", "<i8"),
}
_NAMES = {about.message: name for name, about in _TYPES.items()}


class Unsupported(Exception):
    """Raised by a function for a case that it does not support."""


@dataclass
class Case:
    """A whole question."""

    line: str  # the case, as text
    operation: str
    dtype: str  # of the case: "bf16"
    tensors: dict  # name -> array
    attributes: dict  # name -> value, dimensions included
    dtypes: dict = field(default_factory=dict)  # name -> "bf16", of the tensors
    outputs: dict = field(default_factory=dict)  # name -> {"dtype": "bf16", "shape": [2, 3]}
    said: set = None  # names of attributes, dimensions and "dtype"; None: all, and tensors always
    absent: tuple = ()  # optional inputs that the case does not have


def round_to(values, dtype):
    """Rounds `values` to the nearest values of the dtype, a name such as "f64", "bf16" or "f8_e4m3fn"
    (ties to even; overflow gives infinity, or NaN where the dtype has none; integers of 8 and 4 bits
    saturate). Values of a float that numpy lacks are returned as a float32 array."""
    import numpy as np

    about = _TYPES[dtype]
    with np.errstate(over="ignore", invalid="ignore"):  # NaN as an integer
        if not about.precision:
            return np.asarray(values).astype(about.stored)
        values = np.asarray(values, np.float64)
        if about.patterns == "integer":
            return np.clip(np.rint(values), about.lowest, about.largest).astype(about.array)
        fraction, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
        # An ulp; below the smallest normal number that of the smallest normal number.
        quantum = np.maximum(exponent, about.min_exponent + 1) - about.precision
        rounded = np.ldexp(np.rint(np.ldexp(fraction, exponent - quantum)), quantum)
        rounded = np.where(np.isfinite(values), rounded, values)
        beyond = np.copysign(np.inf, rounded) if about.patterns == "ieee" else np.nan
        is_beyond = (rounded > about.largest) | (rounded < about.lowest)
        rounded = np.where(is_beyond, beyond, rounded)
        return (rounded + 0.0 if about.patterns == "fnuz" else rounded).astype(np.float32)  # exact


def serve(operations, name=None, version="", recipe="native", bitwise=()):
    """Answers questions until the input ends.

    operations     name of an operation -> function
    name, version  of the implementation, for reports; by default the name of the program
    recipe         how the implementation computes: a standard recipe or the line of a recipe
    bitwise        promises of equal bits, for `sextant properties --bitwise`: "run", "batch" ...
    """
    name = name or os.path.basename(sys.argv[0]) or "python"
    for function in operations.values():
        _parameters(function)  # an error at once, not at the first question
    source, sink = _take_pipes()
    memory = _Memory()
    while True:
        message = _read_message(source)
        if message is None:
            return
        words, tensors = message
        if words.get("sextant") != _VERSION:
            refusal = {"id": words["id"], "status": "error", "message": _why_refused(words)}
            reply = _encode(refusal, {})
        elif words["operation"] == "hello":
            names = json.dumps(sorted(operations))
            about = {"name": name, "version": version, "recipe": recipe, "operations": names}
            if bitwise:
                about["bitwise"] = json.dumps(list(bitwise))
            reply = _encode({"id": words["id"], "status": "ok", "sextant": _VERSION, **about}, {})
        else:
            reply = _answer(operations, words, tensors, memory)
        try:
            sink.write(reply)
            sink.flush()
        except BrokenPipeError:
            os._exit(1)  # Sextant closed the pipe; sys.exit would flush and fail again


def _why_refused(words):
    return (
        f"sextant_adapter.py speaks version {_VERSION} of the protocol, the question has version "
        f"{words.get('sextant')}; copy the sextant_adapter.py of your Sextant"
    )


def _take_pipes():
    """Moves the pipes of the protocol to new descriptors. Other code in this process then reads an
    empty descriptor 0, and descriptor 1 writes to stderr."""
    sys.stdout.flush()
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


def _read_exactly(source, count):
    """`count` bytes in a writable buffer."""
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
        array = _decode_tensor(body[begin:end], about)
        tensors[name] = (array, _NAMES[about["dtype"]])
    return words, tensors


def _decode_tensor(data, about):
    """The array of the bytes `data`; `about` has the `dtype` ("BF16") and the `shape`."""
    import numpy as np

    dtype = _NAMES[about["dtype"]]
    raw = np.frombuffer(data, _TYPES[dtype].stored).reshape(about["shape"])
    if not _TYPES[dtype].precision or raw.dtype == _TYPES[dtype].array:
        return raw
    values = _values_of(dtype)
    return values[raw & (len(values) - 1)]


@functools.lru_cache(maxsize=None)
def _values_of(dtype):
    """The value of each bit pattern, in ascending order up to the sign bit. A magnitude above the
    largest number is the infinity, or NaN."""
    import numpy as np

    about = _TYPES[dtype]
    sign = 1 << (about.bits - 1)
    patterns = np.arange(2 * sign)
    if about.patterns == "integer":
        return (patterns - 2 * (patterns & sign)).astype(about.array)
    if about.patterns == "power":
        return np.append(np.ldexp(1.0, patterns[:-1] + about.min_exponent), np.nan).astype(np.float32)
    patterns = patterns[:sign]
    exponent, fraction = np.divmod(patterns, 1 << (about.precision - 1))
    significand = fraction + (exponent > 0) * (1 << (about.precision - 1))
    spacing = np.maximum(exponent, 1) + about.min_exponent - about.precision
    values = np.ldexp(significand.astype(np.float64), spacing)
    beyond = np.flatnonzero(values > about.largest)
    values[beyond] = np.nan
    if about.patterns == "ieee":
        values[beyond[0]] = np.inf
    both = np.concatenate([values, -values]).astype(np.float32)
    if about.patterns == "fnuz":
        both[len(values)] = np.nan
    return both


def _bits_of(values, dtype):
    """The bit patterns of values of a dtype that numpy lacks."""
    import numpy as np

    about = _TYPES[dtype]
    sign, fraction = 1 << (about.bits - 1), about.precision - 1
    if about.patterns == "integer":
        return np.asarray(values, np.int64) & (2 * sign - 1)
    magnitude = np.where(np.isfinite(values), np.abs(values), 0)
    exponent = np.where(magnitude > 0, np.frexp(magnitude)[1] - 1, about.min_exponent)
    exponent = np.maximum(exponent, about.min_exponent)
    significand = np.ldexp(magnitude, fraction - exponent).astype(np.int64)
    if about.patterns == "power":
        return np.where(np.isnan(values), 2 * sign - 1, exponent - about.min_exponent)
    bits = ((exponent - about.min_exponent) << fraction) + significand
    bits = np.where(np.isinf(values), (sign - 1) >> fraction << fraction, bits) + sign * np.signbit(values)
    return np.where(np.isnan(values), sign - (about.patterns != "fnuz"), bits)


class _Memory:
    """The arrays of a question, in the memory of those of the question before it or elsewhere, as
    `memory` of the question says (oracle/subject/PROTOCOL.md)."""

    def __init__(self):
        self._kept = {}  # name -> array that the last function got

    def place(self, words, tensors):
        """Replaces the arrays of `tensors`; those of the message stay unchanged."""
        import numpy as np

        if "memory" not in words:
            self._kept = {}
            return
        same, placed = json.loads(words["memory"])["same"], {}
        for name, (array, dtype) in tensors.items():
            former = self._kept.get(name)
            if same and former is not None and (former.shape, former.dtype) == (array.shape, array.dtype):
                placed[name] = former
                placed[name][...] = array
            else:
                placed[name] = np.array(array)
            tensors[name] = (placed[name], dtype)
        self._kept = placed

    def require_unchanged(self, received):
        """Raises ValueError if the function wrote into an array."""
        for name, array in self._kept.items():
            if array.tobytes() != received[name][0].tobytes():
                raise ValueError(f"the function changed the input {name}")


def _answer(operations, words, tensors, memory):
    """The reply to a question, as bytes."""
    try:
        if words["operation"] not in operations:
            raise Unsupported(f"no operation {words['operation']}; there are: {sorted(operations)}")
        received = dict(tensors)
        memory.place(words, tensors)
        case = _case_of(words, tensors)
        outputs = _call(operations[case.operation], case)
        memory.require_unchanged(received)
        for name in outputs:
            if outputs[name] is None:
                raise ValueError(f"output {name} is None, expected an array")
        encoded = {n: _encode_tensor(n, outputs[n], case.outputs[n]) for n in outputs}
        return _encode({"id": words["id"], "status": "ok"}, encoded)
    except Unsupported as why:
        return _encode({"id": words["id"], "status": "unsupported", "message": str(why)}, {})
    except Exception as error:
        traceback.print_exc()
        message = f"{type(error).__name__}: {error}"
        return _encode({"id": words["id"], "status": "error", "message": message[:4000]}, {})


def _outputs_of(outputs):
    """The outputs of a message, with the names that dtypes have in a case."""
    return {name: {**about, "dtype": _NAMES[about["dtype"]]} for name, about in outputs.items()}


def _case_of(words, tensors):
    return Case(
        line=words["case"],
        operation=words["operation"],
        dtype=words["dtype"],
        tensors={name: array for name, (array, _) in tensors.items()},
        attributes=json.loads(words["attributes"]),
        dtypes={name: dtype for name, (_, dtype) in tensors.items()},
        outputs=_outputs_of(json.loads(words["outputs"])),
        said=set(json.loads(words["said"])) if "said" in words else None,
        absent=tuple(json.loads(words.get("absent", "[]"))),
    )


def _parameters(function):
    """What the function declares; TypeError if it does not say it, as some builtins."""
    try:
        return inspect.signature(getattr(function, "forward", function)).parameters.values()
    except ValueError:
        raise TypeError(f"{function!r} does not say the names of its parameters, expected a function "
                        "that does: lambda x: f(x)") from None


def _arguments(parameters, case):
    """The positional and the named arguments."""
    spelled = lambda name: name + "_" * keyword.iskeyword(name)  # noqa: E731
    values = {"dtype": case.dtype, **case.attributes, **case.tensors}
    said = values.keys() if case.said is None else case.said | case.tensors.keys()
    unsaid = {spelled(name) for name in values.keys() - said}
    absent = {spelled(name): None for name in case.absent}
    unset = absent.keys() | {spelled(name) for name, value in values.items() if value is None}
    given = {spelled(name): value for name, value in values.items()}
    listed = {p.name: p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    rest = {name: given[name] for name in given if name not in listed and name not in unsaid}
    takes_case = "case" in listed and listed["case"].default is listed["case"].empty
    if not any(p.kind == p.VAR_KEYWORD for p in parameters):  # no **attributes
        for name in sorted(rest.keys() - unset - {"dtype"}):
            if not (name[0].isupper() or takes_case):
                inputs = f", add a parameter {name}; {_inputs_of(case)}" if name in case.tensors else ""
                raise Unsupported(f"the function takes no '{name}'{inputs}")
        rest = {}
    given |= absent
    if takes_case:
        given["case"] = case
    positional = []
    for name, parameter in listed.items():
        value = parameter.default
        if name in given and (value is parameter.empty or name not in unsaid | unset):
            value = given[name]
        if value is parameter.empty:
            raise TypeError(f"the function needs '{name}', expected one of: {' '.join(given)}; "
                            f"{_inputs_of(case)}")
        if parameter.kind == parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            rest[name] = value
    return positional, rest


def _inputs_of(case):
    text = f"this case of {case.operation} has the inputs {' '.join(case.tensors)}"
    if case.absent:
        text += f", without with={','.join(case.absent)}"
    return text


def _call(function, case):
    """Calls the function with the parameters that it declares; returns a dict of outputs."""
    positional, named = _arguments(_parameters(function), case)
    try:
        outputs = function(*positional, **named)
    except TypeError as error:
        if not any(named.get(name, case) is None for name in case.absent):
            raise
        raise TypeError(f"{error}; {_inputs_of(case)}, and what it has not is None") from error
    required = {name for name, about in case.outputs.items() if not about.get("optional")}
    if not isinstance(outputs, dict):
        if len(required) != 1:
            raise TypeError(f"expected a dict of the outputs {sorted(case.outputs)}")
        outputs = dict.fromkeys(required, outputs)
    if not required <= outputs.keys() <= case.outputs.keys():
        raise ValueError(f"returned the outputs {sorted(outputs)}, expected {sorted(case.outputs)}")
    return outputs


def _encode_tensor(name, values, expected):
    """(dtype, array of the bytes to send); raises ValueError for an unexpected shape or value."""
    import numpy as np

    values, shape, dtype = np.asarray(values), tuple(expected["shape"]), expected["dtype"]
    if values.shape != shape:
        raise ValueError(f"output {name} has shape {values.shape}, expected {shape}")
    if values.dtype == _TYPES[dtype].stored == "u1":  # bit patterns
        return _TYPES[dtype].message, values
    if _TYPES[dtype].patterns == "finite" and np.isnan(values).any():
        at = [int(i) for i in np.argwhere(np.isnan(values))[0]]
        raise ValueError(f"output {name} is NaN at {at}, but {dtype} has no NaN")
    with np.errstate(invalid="ignore"):  # a NaN for an integer output is an error below
        exact = sent = round_to(values, dtype)
    if _TYPES[dtype].precision and _TYPES[dtype].stored != _TYPES[dtype].array:
        sent = _bits_of(exact, dtype)
    wrong = ~((exact == values) | (exact != exact) & (values != values))
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"output {name} has values that are not of {dtype}; round them in your function, for "
            f"example with round_to\nthe first is {values[at]!r} at {list(at)}"
        )
    return _TYPES[dtype].message, np.asarray(sent, _TYPES[dtype].stored)


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
