"""ONNX Runtime's kernels, called by the C API of its shared library (libonnxruntime.so.1).

    library = Library(path)
    node = Node("Softmax", {"axis": -1}, domain="", opset=13)
    outputs = library.run(node, [Value(x, "f16")], ["f16"])

A call makes a model of this one node and runs it on the CPU, without graph optimizations. If ONNX
Runtime has no kernel for the node, the call raises NoKernel with the message of ONNX Runtime.
`repeated` is for measurements: it optimizes, and runs again and again on the same arrays.
The C API is a table of functions that keep their places; include/onnxruntime/core/session/
onnxruntime_c_api.h, struct OrtApi.
"""

import ctypes
import functools
import pathlib
from dataclasses import dataclass, field

import numpy as np
from onnx import TensorProto, helper
from sextant_adapter import _bits_of, _values_of

INSTALLED = (pathlib.Path(__file__).resolve().parents[3] / "build/frameworks/node_modules" /
             "onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1")  # fmt: skip

# Element types of ONNX and of the C API; numpy types of their bytes.
TYPES = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "f64": TensorProto.DOUBLE,
         "bf16": TensorProto.BFLOAT16, "i64": TensorProto.INT64, "i32": TensorProto.INT32,
         "bool": TensorProto.BOOL, "f8_e4m3fn": 17, "f8_e4m3fnuz": 18, "f8_e5m2": 19,
         "f8_e5m2fnuz": 20, "i8": TensorProto.INT8, "i4": 22}  # fmt: skip
_NUMPY = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "bf16": np.uint16,
          "i64": np.int64, "i32": np.int32, "bool": np.bool_, "f8_e4m3fn": np.uint8,
          "f8_e4m3fnuz": np.uint8, "f8_e5m2": np.uint8, "f8_e5m2fnuz": np.uint8,
          "i8": np.int8, "i4": np.uint8}  # fmt: skip
# Types that numpy lacks.
HAVE_PATTERNS = {"bf16", "i4", "f8_e4m3fn", "f8_e4m3fnuz", "f8_e5m2", "f8_e5m2fnuz"}

# Places in OrtApi.
_API = {"GetErrorMessage": 2, "CreateEnv": 3, "CreateSessionFromArray": 8, "Run": 9,
        "CreateSessionOptions": 10, "SetSessionGraphOptimizationLevel": 23,
        "SetIntraOpNumThreads": 24, "SetInterOpNumThreads": 25,
        "CreateTensorWithDataAsOrtValue": 49,
        "GetTensorMutableData": 51, "GetDimensionsCount": 61, "GetDimensions": 62,
        "GetTensorTypeAndShape": 65, "CreateCpuMemoryInfo": 69, "ReleaseStatus": 93,
        "ReleaseSession": 95, "ReleaseValue": 96,
        "ReleaseTensorTypeAndShapeInfo": 99, "ReleaseSessionOptions": 100}  # fmt: skip
_API_VERSION = 18
_ERROR_ONLY = 3  # ORT_LOGGING_LEVEL_ERROR
_NO_OPTIMIZATION, _ALL_OPTIMIZATIONS = 0, 99  # GraphOptimizationLevel


class NoKernel(Exception):
    """ONNX Runtime cannot load a model of this node."""


@dataclass
class Node:
    operator: str
    attributes: dict = field(default_factory=dict)
    domain: str = ""
    opset: int = 23


@dataclass
class Value:
    array: np.ndarray
    dtype: str


@dataclass
class Chain:
    """nodes: (operator, names of inputs, attributes), where _ is the result of the node before; the last
    one writes the outputs. inputs, constants (weights, part of the model), outputs: name -> Value whose
    array has the bits of its dtype."""

    nodes: list
    inputs: dict
    constants: dict
    outputs: dict


class _Base(ctypes.Structure):
    """struct OrtApiBase."""

    _fields_ = (("GetApi", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)),
                ("GetVersionString", ctypes.CFUNCTYPE(ctypes.c_char_p)))  # fmt: skip


def _bits(value):
    if value.dtype not in HAVE_PATTERNS:
        return np.ascontiguousarray(value.array, _NUMPY[value.dtype])
    bits = np.ascontiguousarray(_bits_of(value.array, value.dtype), _NUMPY[value.dtype])
    return _packed(bits.ravel()) if value.dtype == "i4" else bits


def _packed(patterns):
    """Two patterns of 4 bits in a byte, the first one low."""
    patterns = np.append(patterns, np.zeros(len(patterns) % 2, np.uint8))
    return patterns[::2] | patterns[1::2] << 4


def _unpacked(data, count):
    return np.stack([data & 15, data >> 4], -1).ravel()[:count]


def _model(node, values, outputs):
    """A model of one node; an input None and an output None are left out."""
    names = [f"i{n}" if value is not None else "" for n, value in enumerate(values)]
    results = [f"o{n}" if dtype is not None else "" for n, dtype in enumerate(outputs)]
    inputs = [helper.make_tensor_value_info(name, TYPES[value.dtype], [None] * np.ndim(value.array))
              for name, value in zip(names, values) if name]  # fmt: skip
    infos = [helper.make_tensor_value_info(name, TYPES[dtype], None)
             for name, dtype in zip(results, outputs) if name]  # fmt: skip
    made = helper.make_node(node.operator, names, results, domain=node.domain, **node.attributes)
    imports = [helper.make_opsetid("", node.opset)]
    if node.domain:
        imports.append(helper.make_opsetid(node.domain, 1))
    graph = helper.make_graph([made], "one_node", inputs, infos)
    model = helper.make_model(graph, opset_imports=imports)
    model.ir_version = 10
    return model.SerializeToString(), [n for n in names if n], [r for r in results if r]


def _model_of_copies(chain, copies):
    nodes, infos = [], ([], [])
    for copy in range(copies):
        own = {name: f"{name}.{copy}" for name in (*chain.inputs, *chain.outputs)}
        for n, (operator, names, attributes) in enumerate(chain.nodes):
            inputs = [f"_{n - 1}.{copy}" if name == "_" else own.get(name, name) for name in names.split()]
            results = [f"_{n}.{copy}"] if n < len(chain.nodes) - 1 else [own[name] for name in chain.outputs]
            nodes.append(helper.make_node(operator, inputs, results, **attributes))
        for some, values in zip(infos, (chain.inputs, chain.outputs)):
            some += [helper.make_tensor_value_info(own[name], TYPES[value.dtype], value.array.shape)
                     for name, value in values.items()]  # fmt: skip
    constants = [
        helper.make_tensor(name, TYPES[value.dtype], value.array.shape, value.array.tobytes(), raw=True)
        for name, value in chain.constants.items()
    ]
    imports = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph(nodes, "copies", *infos, constants)
    model = helper.make_model(graph, opset_imports=imports)
    model.ir_version = 10
    return model.SerializeToString()


class Library:
    def __init__(self, path):
        if not pathlib.Path(path).is_file():
            raise SystemExit(f"{path}: no such file; expected libonnxruntime.so.1. "
                             "tools/frameworks/setup installs it")  # fmt: skip
        library = ctypes.CDLL(str(path))
        library.OrtGetApiBase.restype = ctypes.POINTER(_Base)
        base = library.OrtGetApiBase().contents
        self.version = base.GetVersionString().decode()
        self._table = ctypes.cast(base.GetApi(_API_VERSION), ctypes.POINTER(ctypes.c_void_p))
        self._environment = ctypes.c_void_p()
        self._call("CreateEnv", _ERROR_ONLY, b"sextant", ctypes.byref(self._environment))
        self._memory = ctypes.c_void_p()
        self._call("CreateCpuMemoryInfo", 0, 0, ctypes.byref(self._memory))
        self._session = functools.lru_cache(256)(self._new_session)

    def _function(self, name, result=ctypes.c_void_p):
        return ctypes.CFUNCTYPE(result)(self._table[_API[name]])

    def _call(self, name, *arguments, error=RuntimeError):
        status = self._function(name)(*arguments)
        if status:
            text = self._function("GetErrorMessage", ctypes.c_char_p)(ctypes.c_void_p(status))
            message = text.decode(errors="replace")
            self._release("Status", ctypes.c_void_p(status))
            raise error(f"{name}: {message}")

    def _release(self, kind, pointer):
        self._function(f"Release{kind}", None)(pointer)

    def _new_session(self, model, optimization=_NO_OPTIMIZATION):
        options, session = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("CreateSessionOptions", ctypes.byref(options))
        try:
            self._call("SetSessionGraphOptimizationLevel", options, optimization)
            self._call("SetIntraOpNumThreads", options, 1)
            self._call("SetInterOpNumThreads", options, 1)
            self._call("CreateSessionFromArray", self._environment, model,
                       ctypes.c_size_t(len(model)), options, ctypes.byref(session), error=NoKernel)  # fmt: skip
        finally:
            self._release("SessionOptions", options)
        return session

    def run(self, node, values, outputs):
        """The outputs of the node as numpy arrays (bf16 as f32), one for each dtype in `outputs`
        that is not None."""
        model, names, results = _model(node, values, outputs)
        session = self._session(model)
        given = [value for value in values if value is not None]
        buffers = [_bits(value) for value in given]
        inputs = (ctypes.c_void_p * len(given))()
        made = (ctypes.c_void_p * len(results))()
        try:
            for n, (value, data) in enumerate(zip(given, buffers)):
                inputs[n] = self._tensor(data, np.shape(value.array), value.dtype)
            self._call("Run", session, None, (ctypes.c_char_p * len(names))(*map(str.encode, names)),
                       inputs, ctypes.c_size_t(len(names)),
                       (ctypes.c_char_p * len(results))(*map(str.encode, results)),
                       ctypes.c_size_t(len(results)), made)  # fmt: skip
            dtypes = [dtype for dtype in outputs if dtype is not None]
            return [self._array(ctypes.c_void_p(value), dtype) for value, dtype in zip(made, dtypes)]
        finally:
            for value in (*inputs, *made):
                if value:
                    self._release("Value", ctypes.c_void_p(value))

    def repeated(self, chain, copies):
        """A function that computes the chain `copies` times in one call, on one thread, with all graph
        optimizations. All copies read and write the arrays of the chain themselves. Each copy has names
        of its own for them, because ONNX Runtime merges equal nodes."""
        session = self._new_session(_model_of_copies(chain, copies), _ALL_OPTIMIZATIONS)
        arguments = [session, None]
        for values in (chain.inputs, chain.outputs):
            tensors = [self._tensor(v.array, v.array.shape, v.dtype) for v in values.values()]
            names = [f"{name}.{copy}".encode() for copy in range(copies) for name in values]
            names = (ctypes.c_char_p * len(names))(*names)
            pair = [(ctypes.c_void_p * len(names))(*tensors * copies), ctypes.c_size_t(len(names))]
            # Run has the number of tensors after the inputs, but before the outputs.
            arguments += [names, *(pair if values is chain.inputs else reversed(pair))]

        def run(keeps=chain):  # the function keeps the arrays
            self._call("Run", *arguments)

        return run

    def _tensor(self, data, shape, dtype):
        sizes, value = (ctypes.c_int64 * len(shape))(*shape), ctypes.c_void_p()
        self._call("CreateTensorWithDataAsOrtValue", self._memory, ctypes.c_void_p(data.ctypes.data),
                   ctypes.c_size_t(data.nbytes), sizes, ctypes.c_size_t(len(shape)), TYPES[dtype],
                   ctypes.byref(value))  # fmt: skip
        return value.value

    def _array(self, value, dtype):
        info, count, data = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_void_p()
        self._call("GetTensorTypeAndShape", value, ctypes.byref(info))
        self._call("GetDimensionsCount", info, ctypes.byref(count))
        shape = (ctypes.c_int64 * count.value)()
        self._call("GetDimensions", info, shape, count)
        self._release("TensorTypeAndShapeInfo", info)
        self._call("GetTensorMutableData", value, ctypes.byref(data))
        elements = int(np.prod(tuple(shape), dtype=np.int64))
        size = -(-elements // 2) if dtype == "i4" else elements * np.dtype(_NUMPY[dtype]).itemsize
        raw = ctypes.string_at(data, size) if size else b""
        array = np.frombuffer(raw, _NUMPY[dtype])
        array = (_unpacked(array, elements) if dtype == "i4" else array).reshape(tuple(shape))
        return _values_of(dtype)[array] if dtype in HAVE_PATTERNS else array
