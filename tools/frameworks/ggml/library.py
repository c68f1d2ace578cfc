"""ggml's operations, called in its shared libraries.

    library = Library(folder)                   the folder with libggml-base.so and libggml-cpu-*.so
    with library.graph() as graph:
        x = graph.tensor(values, "f16")          values: a numpy array
        y = graph.values(graph.rms_norm(x, 1e-5))

An axis order of numpy, the last axis first, is the order of ggml's ne: an array [B,S,H,D] is a tensor
with ne = D, H, S, B. All tensors are contiguous unless an operation of ggml makes a view.
Declarations: ggml/include/ggml.h and ggml-cpu.h of ggml 0.25.
"""

import ctypes
import pathlib

import numpy as np

INSTALLED = (pathlib.Path(__file__).resolve().parents[3] /
             "build/frameworks/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64")  # fmt: skip
# enum ggml_type
TYPES = {"f32": 0, "f16": 1, "q8_0": 8, "i32": 26, "bf16": 30, "mxfp4": 39, "nvfp4": 40}
# Blocks of a scale and codes: block_q8_0, block_mxfp4 and block_nvfp4 in ggml-common.h.
BLOCKS = {"q8_0": (32, np.dtype([("scale", "<f2", (1,)), ("codes", "i1", 32)])),
           "mxfp4": (32, np.dtype([("scale", "u1", (1,)), ("codes", "u1", 16)])),
           "nvfp4": (64, np.dtype([("scale", "u1", 4), ("codes", "u1", 32)]))}  # fmt: skip
_NUMPY = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "bf16": np.uint16,
          **{name: block for name, (_, block) in BLOCKS.items()}}  # fmt: skip
_GRAPH_BYTES = 1 << 27  # tensors, graph and work buffer besides the elements of inputs
_COPIES = 24  # of the elements of all inputs: results and work buffers

# Parameters after the context, result a tensor. t: tensor or None, i: int, l: int64_t, f: float,
# p: pointer to int[4], T: type.
_OPERATIONS = {
    "add": "tt", "mul": "tt", "scale": "tf", "sqr": "t", "cast": "tT", "cont": "t",
    "permute": "tiiii", "transpose": "t", "reshape_3d": "tlll",
    "silu": "t", "gelu": "t", "gelu_erf": "t", "gelu_quick": "t", "relu": "t", "sigmoid": "t",
    "tanh": "t", "swiglu_split": "tt", "geglu_split": "tt", "geglu_erf_split": "tt",
    "geglu_quick_split": "tt", "reglu_split": "tt", "swiglu_oai": "ttff",
    "argsort_top_k": "ti", "sum_rows": "t", "clamp": "tff", "div": "tt",
    "rms_norm": "tf", "norm": "tf", "soft_max": "t", "soft_max_ext": "ttff",
    "mul_mat": "tt", "get_rows": "tt", "flash_attn_ext": "ttttfff",
    "rope_ext": "tttiiiffffff", "rope_ext_back": "tttiiiffffff",
    "rope_multi": "tttipiiffffff", "rope_multi_back": "tttipiiffffff",
}  # fmt: skip
_PARAMETERS = {"t": ctypes.c_void_p, "i": ctypes.c_int, "l": ctypes.c_int64, "f": ctypes.c_float,
               "p": ctypes.POINTER(ctypes.c_int), "T": ctypes.c_int}  # fmt: skip


class _Tensor(ctypes.Structure):
    """The members of struct ggml_tensor up to its data."""

    _fields_ = (("type", ctypes.c_int), ("buffer", ctypes.c_void_p), ("ne", ctypes.c_int64 * 4),
                ("nb", ctypes.c_size_t * 4), ("op", ctypes.c_int), ("op_params", ctypes.c_int32 * 16),
                ("flags", ctypes.c_int32), ("src", ctypes.c_void_p * 10), ("view_src", ctypes.c_void_p),
                ("view_offs", ctypes.c_size_t), ("data", ctypes.c_void_p))  # fmt: skip


class _Plan(ctypes.Structure):
    """struct ggml_cplan: the first members, and room for the others."""

    _fields_ = (("work_size", ctypes.c_size_t), ("work_data", ctypes.c_void_p),
                ("n_threads", ctypes.c_int), ("others", ctypes.c_uint64 * 16))  # fmt: skip


class _Context(ctypes.Structure):
    """struct ggml_init_params."""

    _fields_ = (("mem_size", ctypes.c_size_t), ("mem_buffer", ctypes.c_void_p),
                ("no_alloc", ctypes.c_bool))  # fmt: skip


class Library:
    """libggml-base.so and a CPU library: the named one (haswell), or the one with the best score on
    this machine, as ggml chooses."""

    def __init__(self, folder, cpu="*"):
        folder = pathlib.Path(folder)
        if not (folder / "libggml-base.so").is_file():
            raise SystemExit(f"{folder}: no libggml-base.so; expected the libraries of ggml. "
                             "tools/frameworks/setup installs them")  # fmt: skip
        self.base = ctypes.CDLL(folder / "libggml-base.so", mode=ctypes.RTLD_GLOBAL)
        self.cpu_name, self.cpu = self._best(folder, cpu)
        self._declare()
        self.cpu.ggml_cpu_init()
        self.version = f"{self.base.ggml_version().decode()} {self.base.ggml_commit().decode()}"

    @staticmethod
    def _best(folder, cpu):
        libraries = [ctypes.CDLL(path) for path in sorted(folder.glob(f"libggml-cpu-{cpu}.so"))]
        best = max(libraries, key=lambda library: library.ggml_backend_score(), default=None)
        if best is None or not best.ggml_backend_score():
            raise SystemExit(f"{folder}: no libggml-cpu-{cpu}.so that this machine can run")
        return pathlib.Path(best._name).stem.removeprefix("libggml-cpu-"), best

    def _declare(self):
        tensor, size = ctypes.c_void_p, ctypes.c_int64
        for name, letters in _OPERATIONS.items():
            function = getattr(self.base, f"ggml_{name}")
            function.restype = tensor
            function.argtypes = [ctypes.c_void_p, *(_PARAMETERS[letter] for letter in letters)]
        for name, result, arguments in (
            ("ggml_init", tensor, [_Context]), ("ggml_free", None, [tensor]),
            ("ggml_new_tensor", tensor, [tensor, ctypes.c_int, ctypes.c_int, ctypes.POINTER(size)]),
            ("ggml_get_data", tensor, [tensor]), ("ggml_new_graph", tensor, [tensor]),
            ("ggml_build_forward_expand", None, [tensor, tensor]),
            ("ggml_is_contiguous", ctypes.c_bool, [tensor]),
            ("ggml_nbytes", ctypes.c_size_t, [tensor]),
            ("ggml_rope_set_offset", tensor, [tensor, ctypes.c_int]),
            ("ggml_soft_max_add_sinks", None, [tensor, tensor]),
            ("ggml_flash_attn_ext_add_sinks", None, [tensor, tensor]),
            ("ggml_flash_attn_ext_set_prec", None, [tensor, ctypes.c_int]),
            ("ggml_mul_mat_set_prec", None, [tensor, ctypes.c_int]),
            ("ggml_quantize_chunk", ctypes.c_size_t,
             [ctypes.c_int, tensor, tensor, size, size, size, tensor]),
            ("ggml_version", ctypes.c_char_p, []), ("ggml_commit", ctypes.c_char_p, []),
        ):  # fmt: skip
            function = getattr(self.base, name)
            function.restype, function.argtypes = result, arguments
        compute = self.cpu.ggml_graph_compute_with_ctx
        compute.restype, compute.argtypes = ctypes.c_int, [tensor, tensor, ctypes.c_int]
        plan, compute = self.cpu.ggml_graph_plan, self.cpu.ggml_graph_compute
        plan.restype, plan.argtypes = _Plan, [tensor, ctypes.c_int, tensor]
        compute.restype, compute.argtypes = ctypes.c_int, [tensor, ctypes.POINTER(_Plan)]

    def file_blocks(self, x, dtype):
        """The blocks that `llama-quantize` writes for the rows x, f32."""
        x = np.ascontiguousarray(x, np.float32)
        blocks = np.empty((len(x), x.shape[1] // BLOCKS[dtype][0]), _NUMPY[dtype])
        self.base.ggml_quantize_chunk(TYPES[dtype], x.ctypes.data, blocks.ctypes.data,
                                      0, *x.shape, None)  # fmt: skip
        return blocks

    def graph(self, elements=0, owns_elements=True):
        """A graph for inputs of this many elements in all. If it does not own the elements, it has no
        memory for them: every tensor is one `of` an array, or is placed in one."""
        return Graph(self, elements, owns_elements)


class Graph:
    """The tensors of one computation, freed at the end of the `with` block."""

    def __init__(self, library, elements, owns_elements=True):
        self._library, self._owns_elements = library, owns_elements
        self._size = _GRAPH_BYTES + 4 * _COPIES * elements

    def __enter__(self):
        self._context = self._library.base.ggml_init(_Context(self._size, None, not self._owns_elements))
        if not self._context:
            raise MemoryError(f"ggml_init: {self._size} bytes")
        return self

    def __exit__(self, *_):
        self._library.base.ggml_free(self._context)

    def tensor(self, values, dtype):
        """A tensor with these values, which must be exact in the dtype, or with these blocks."""
        values = np.asarray(values)
        tensor = self._new(values.shape, dtype)
        if dtype == "bf16":
            values = np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16
        data = np.ascontiguousarray(values, _NUMPY[dtype])
        ctypes.memmove(self._library.base.ggml_get_data(tensor), data.ctypes.data, data.nbytes)
        return tensor

    def _new(self, shape, dtype):
        count, *rest = shape[::-1] or (1,)
        ne = (ctypes.c_int64 * 4)(count * BLOCKS.get(dtype, (1,))[0], *rest)
        return self._library.base.ggml_new_tensor(self._context, TYPES[dtype], max(len(shape), 1), ne)

    def of(self, array, dtype):
        """A tensor whose elements are those of the array, which has the bits of the dtype."""
        return self.place(self._new(array.shape, dtype), array)

    def place(self, tensor, array):
        """Lets the tensor, or the result of an operation, have its elements in the array."""
        base = self._library.base
        _Tensor.from_address(tensor).data = array.ctypes.data
        if base.ggml_get_data(tensor) != array.ctypes.data or base.ggml_nbytes(tensor) > array.nbytes:
            raise RuntimeError("struct ggml_tensor is not as in library.py, or the array is too small")
        return tensor

    def __getattr__(self, name):
        """The operation ggml_<name>; a type is given by its name ("f16")."""
        if name not in _OPERATIONS:
            raise AttributeError(f"ggml_{name} is not declared in library.py")
        function = getattr(self._library.base, f"ggml_{name}")
        return lambda *arguments: function(
            self._context, *(TYPES.get(a, a) if isinstance(a, str) else a for a in arguments))  # fmt: skip

    def modify(self, function, tensor, *arguments):
        """Calls a function of ggml that changes the parameters of an operation; returns the tensor."""
        getattr(self._library.base, f"ggml_{function}")(tensor, *arguments)
        return tensor

    def prepared(self, tensors):
        """A function that computes the tensors, one after the other, on one thread."""
        base, cpu = self._library.base, self._library.cpu
        graph = base.ggml_new_graph(self._context)
        for tensor in tensors:
            base.ggml_build_forward_expand(graph, tensor)
        plan = cpu.ggml_graph_plan(graph, 1, None)
        work = ctypes.create_string_buffer(plan.work_size + 1)
        plan.work_data = ctypes.addressof(work)

        def compute(work=work):  # the function keeps the work buffer
            if status := cpu.ggml_graph_compute(graph, plan):
                raise RuntimeError(f"ggml_graph_compute: status {status}")

        return compute

    def values(self, tensor, threads=1):
        """Computes the tensor. Returns a numpy array, bf16 as float32, or an array of blocks."""
        base = self._library.base
        if not base.ggml_is_contiguous(tensor):
            tensor = self.cont(tensor)
        graph = base.ggml_new_graph(self._context)
        base.ggml_build_forward_expand(graph, tensor)
        status = self._library.cpu.ggml_graph_compute_with_ctx(self._context, graph, threads)
        if status != 0:
            raise RuntimeError(f"ggml_graph_compute: status {status}")
        about = _Tensor.from_address(tensor)
        dtype = next(name for name, number in TYPES.items() if number == about.type)
        raw = ctypes.string_at(base.ggml_get_data(tensor), base.ggml_nbytes(tensor))
        count, *rest = about.ne
        shape = (*rest[::-1], count // BLOCKS.get(dtype, (1,))[0])
        array = np.frombuffer(raw, _NUMPY[dtype]).reshape(shape)
        return (array.astype(np.uint32) << 16).view(np.float32) if dtype == "bf16" else array
