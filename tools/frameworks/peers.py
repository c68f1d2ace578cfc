"""A peer of `speed`: ONNX Runtime, ggml or PyTorch, in a process of its own.

    peers.py PEER             prints the versions of the peer
    peers.py PEER KERNEL      prints "ready", or why the peer has no such kernel; then, for each line of
                              standard input, the seconds of one computation. KERNEL: a title in kernels.py

One call of the peer computes the kernel `copies` times: a model or a graph of so many nodes, or a loop
in TorchScript. All copies read and write the same arrays, so that small ones stay in the cache. Seconds
are processor time of the process, the mean of at least SECONDS, after calls that are not measured, until
all pages have been touched.

The inputs are normal random numbers. First, 16 rows of the answer are compared with the formula in f64.
The permitted error is ULP[dtype] times the largest exact value in these rows. ULP is twice the relative
error of a rounding to f16 (to bf16 in kernels of bf16): peers may compute in f16 where the tensors are
f32, as ggml does in GELU by tanh. If an element of y depends on one element of each operand, it is ULP
times |y| + |x dy/dx|, for roundings of the result and of the operands, and 2^-10 of the largest value for
cancellation. By this the formula with erf is no answer to GELU by tanh.
"""

import math
import pathlib
import re
import resource
import sys
import time

import numpy as np

import kernels

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 0.3  # of one measurement, of fast_bench too
ULP = {"f32": 2.0**-10, "f16": 2.0**-10, "bf16": 2.0**-7}
STORED = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i32": np.int32}
FIXED = {"position": "i32", "mask": "f16"}  # dtypes in every kernel
CONSTANT = ("weight", "bias", "cos", "sin")  # part of a model of ONNX


class Lacks(Exception):
    """The peer has no kernel for what is asked."""


def lack_or_error(error, words):
    """PyTorch has no type of its own for a missing kernel: the line of its message with these words."""
    return next((Lacks(line) for line in str(error).splitlines() if words in line), error)


def wide(bits, dtype):
    """The numbers of an array with the bits of a dtype, in f64."""
    bits = (bits.astype(np.uint32) << 16).view(np.float32) if dtype == "bf16" else bits
    return bits.astype(np.float64)


def values_of(name, shape, dtype, seed):
    """The bits of an array, or of its beginning, which repeats."""
    if name == "position":
        values = np.arange(shape[0]) % kernels.POSITIONS
    elif name == "mask":
        values = np.triu(np.full(shape, -np.inf), 1)
    elif name in ("cos", "sin"):
        values = getattr(np, name)(kernels.angles(np.arange(kernels.POSITIONS), 2 * shape[-1]))
    else:
        values = np.random.default_rng(seed).standard_normal(min(math.prod(shape), 1 << 20))
    if dtype == "bf16":
        from sextant_adapter import round_to

        return (round_to(values, dtype).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(STORED[dtype])


class Data:
    """The arrays of a kernel for one peer, each with the bits of its dtype."""

    def __init__(self, kernel, ask):
        self.kernel, self.by_token, self.arrays = kernel, ask.by_token.split(), {}
        self.dtypes = {name: "f32" if name in ask.f32.split() else FIXED.get(name, kernel.dtype)
                       for name in (*kernel.shapes, "y")}  # fmt: skip
        for seed, (name, shape) in enumerate((*kernel.shapes.items(), ("y", kernel.y))):
            self.arrays[name] = self._new(name, shape)
            dtype = FIXED.get(name, kernel.dtype)
            bits = values_of(name, shape, dtype, seed)
            if self.dtypes[name] != dtype:  # f32: the same numbers
                bits = wide(bits, dtype)
            self._by_head(name)[...] = np.resize(bits, shape)

    def _new(self, name, shape):
        """An array that begins some bytes after the start of a page. Those that are read and written
        together begin at different ones, as in fast/kernel/kernel_bench.h."""
        if name in self.by_token:
            shape = (shape[0], shape[2], shape[1], shape[3])
        dtype = np.dtype(STORED[self.dtypes[name]])
        memory = np.empty(math.prod(shape) * dtype.itemsize + 2 * 4096, np.uint8)
        start = -memory.ctypes.data % 4096 + {"up": 1024, "y": 2048}.get(name, 0)
        return memory[start : start + math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)

    def _by_head(self, name):
        array = self.arrays[name]
        return array.swapaxes(1, 2) if name in self.by_token else array

    def error(self):
        """The largest error of y as a share of the permitted one."""
        kernel = self.kernel
        rows = np.unique(np.linspace(0, kernel.y[-2] - 1, 16).astype(int))
        given = {name: wide(self._by_head(name).take(rows, -2) if name in kernels.PER_ROW
                            else self.arrays[name], self.dtypes[name]) for name in self.arrays}  # fmt: skip
        got = wide(self._by_head("y").take(rows, -2), self.dtypes["y"])
        del given["y"]
        exact = kernel.exact(rows, **given)
        size = np.full_like(exact, np.abs(exact).max())
        if kernel.single:
            step = 2.0**-20
            size = np.abs(exact) + 2.0**-10 * size
            for name in given:
                moved = kernel.exact(rows, **{**given, name: given[name] * (1 + step)})
                size += np.abs(moved - exact) / step
        return np.max(np.abs(got - exact) / (ULP[kernel.dtype] * size))


class OnnxRuntime:
    title = "ONNX Runtime"

    def __init__(self):
        from library import INSTALLED, Library

        self._library = Library(INSTALLED)
        self.version = self._library.version

    def prepared(self, data, ask):
        from library import Chain, NoKernel, Value

        names = {np.dtype(stored): name for name, stored in STORED.items()}
        arrays = {name: array.reshape(*array.shape[:2], -1) if name in data.by_token else array
                  for name, array in data.arrays.items()}  # fmt: skip
        nodes, more, outputs = ask.what(arrays) if callable(ask.what) else (ask.what, {}, {})
        arrays |= more
        read = {name: arrays[name] for _, inputs, _ in nodes for name in inputs.split() if name != "_"}
        sorts = [{name: array for name, array in read.items() if name not in CONSTANT},
                 {name: array for name, array in read.items() if name in CONSTANT},
                 {"y": arrays["y"]} | outputs]  # fmt: skip
        chain = Chain(nodes, *({name: Value(array, names[array.dtype]) for name, array in sort.items()}
                               for sort in sorts))  # fmt: skip
        try:
            return self._library.repeated(chain, data.kernel.copies)
        except NoKernel as error:
            raise Lacks(error) from error


class Ggml:
    title = "ggml"

    def __init__(self):
        from library import INSTALLED, Library

        self._library = Library(INSTALLED)
        self.version = f"{self._library.version} {self._library.cpu_name}"

    def prepared(self, data, ask):
        self._graph = self._library.graph(owns_elements=False).__enter__()
        self._y = data.arrays["y"]
        given = {name: self._graph.of(array, data.dtypes[name])
                 for name, array in data.arrays.items() if name != "y"}  # fmt: skip
        return self._graph.prepared([ask.what(self, **given) for _ in range(data.kernel.copies)])

    def __getattr__(self, name):
        """An operation of ggml whose result is y. ggml's allocator, too, lets an operation by elements
        write its result over its operand."""
        return lambda *arguments: self._graph.place(getattr(self._graph, name)(*arguments), self._y)


class PyTorch:
    title = "PyTorch"

    def __init__(self):
        import torch

        torch.set_num_threads(1)
        torch.set_grad_enabled(False)
        self._torch = torch
        maps = pathlib.Path("/proc/self/maps").read_text()
        blas = sorted(set(re.findall(r"/([^/\s]+/[^/\s]*blas[^/\s]*)$", maps, re.MULTILINE)))
        self.version = f"{torch.__version__} with {' and '.join(blas) or 'no BLAS library'}"

    def prepared(self, data, ask):
        torch = self._torch
        tensors = {name: torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
                   if data.dtypes[name] == "bf16" else torch.from_numpy(array)
                   for name, array in data.arrays.items()}  # fmt: skip
        attention = "torch.ops.aten.scaled_dot_product_attention(\\1)"
        if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):
            attention = "torch.ops.aten._scaled_dot_product_attention(\\1)[0]"
        lines = re.sub(r"ATTENTION\((.*?)\)", attention, ask.what).replace("; ", "\n    ")
        names = [name for name in tensors if name != "position"]
        text = (f"def run({', '.join(f'{name}: Tensor' for name in names)}, copies: int):\n"
                f"  for _ in range(copies):\n    {lines}\n  return y\n")  # fmt: skip
        try:
            function = torch.jit.CompilationUnit(text).run
        except RuntimeError as error:
            raise lack_or_error(error, "has no attribute") from error

        def compute():
            # Optimized execution would merge the copies that are not calls with `out=`.
            with torch.jit.optimized_execution(False):
                return function(*(tensors[name] for name in names), data.kernel.copies)

        try:
            tensors["y"].copy_(compute())
        except RuntimeError as error:
            raise lack_or_error(error, "not implemented for") from error
        return compute


PEERS = {"onnxruntime": OnnxRuntime, "ggml": Ggml, "pytorch": PyTorch}


def warm_up(compute):
    """Calls until a call touches hardly any new page."""
    for _ in range(10):
        pages = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        compute()
        if resource.getrusage(resource.RUSAGE_SELF).ru_minflt - pages < 100:
            return


def seconds_of(compute):
    """Of one call."""
    calls, start = 0, time.process_time()
    while calls < 2 or time.process_time() - start < SECONDS:
        compute()
        calls += 1
    return (time.process_time() - start) / calls


def main():
    name, *title = sys.argv[1:]
    sys.path[:0] = [str(HERE / name), str(HERE.parent / "adapters/python")]
    peer = PEERS[name]()
    if not title:
        print(peer.version)
        return
    kernel = next(kernel for kernel in kernels.KERNELS if kernel.title == title[0])
    data = Data(kernel, kernel.asked[name])
    try:
        compute = peer.prepared(data, kernel.asked[name])
    except Lacks as lacks:
        print(f"no kernel: {lacks}")
        return
    warm_up(compute)
    error = data.error()
    if not error <= 1:
        raise SystemExit(f"{name}, {kernel.title}: an error is {error:.3g} times the permitted one")
    print("ready", flush=True)
    for _ in sys.stdin:
        print(seconds_of(compute) / kernel.copies, flush=True)


if __name__ == "__main__":
    main()
