"""The kernels that `speed` measures: KERNELS. Each has its benchmark in fast_bench, its formula, and how
ONNX Runtime, ggml and PyTorch are asked for it, as their users ask.
"""

import math
from dataclasses import dataclass

import numpy as np

L2, MEMORY = 1 << 18, 1 << 30  # bytes of inputs and output together, as in fast_bench
PLACES = {L2: ", in L2", MEMORY: ", from memory", 0: ""}
BENCH = {L2: "L2", MEMORY: "1GiB"}  # in names of benchmarks
COPIES = 64  # of a kernel in L2, in one call of a peer
BYTES = {"f32": 4, "f16": 2, "bf16": 2}
EPS = 1e-5
BASE, POSITIONS = 10000.0, 1024  # of rotations; positions are 0 to 1023, again and again
PER_ROW = ("x", "gate", "up", "q")  # inputs with one row for each row of y


@dataclass
class Ask:
    """How a peer is asked for y.
    ONNX Runtime: nodes (operator, names of inputs, attributes), where _ is the result of the node before;
        or a function from arrays to nodes, more inputs, and outputs besides y
    ggml: a function of a graph and the tensors, by their names
    PyTorch: lines of TorchScript"""

    what: object
    note: str = ""  # in the table
    by_token: str = ""  # arrays in the order [1,S,H,D]; the others have [1,H,S,D]
    f32: str = ""  # arrays that are f32 whatever the dtype of the kernel
    dtypes: str = "f32 f16 bf16"  # of kernels for which the peer is asked


@dataclass
class Kernel:
    name: str
    dtype: str
    size: int  # L2, MEMORY, or 0
    ours: str  # the benchmark
    shapes: dict  # of the inputs; rows are on the last axis but one
    y: tuple  # shape
    exact: object  # from rows of inputs in f64, and the numbers of these rows, to rows of y
    asked: dict
    count: int = 0  # of products; 0: the elements of y
    single: bool = False  # an element of y depends on one element of each input

    def __post_init__(self):
        self.count = self.count or math.prod(self.y)
        self.copies = COPIES if self.size == L2 else 1
        self.title = f"{self.name}{PLACES[self.size]}, {self.dtype}"


def _rows(dtype, size, width, arrays=2):
    """The shape of each of `arrays` arrays."""
    return size // arrays // BYTES[dtype] // width, width


def _normed(x):
    return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + EPS)


def rms_norm(dtype, size):
    shape = _rows(dtype, size, 4096)
    asked = {
        "onnxruntime": Ask([("RMSNormalization", "x weight", {"axis": -1, "epsilon": EPS})]),
        "ggml": Ask(lambda g, x, weight: g.mul(g.rms_norm(x, EPS), weight), "2 nodes", dtypes="f32"),
        "pytorch": Ask(f"y = torch.rms_norm(x, [4096], weight, {EPS})", "allocates y"),
    }
    return Kernel("RMSNorm", dtype, size, f"RmsNorm{dtype.upper()}/{BENCH[size]}",
                  {"x": shape, "weight": (4096,)}, shape,
                  lambda rows, x, weight: _normed(x) * weight, asked)  # fmt: skip


def layer_norm(dtype, size):
    def ggml(g, x, weight, bias):
        return g.add(g.mul(g.norm(x, EPS), weight), bias)

    shape = _rows(dtype, size, 4096)
    asked = {
        "onnxruntime": Ask([("LayerNormalization", "x weight bias", {"axis": -1, "epsilon": EPS})]),
        "ggml": Ask(ggml, "3 nodes", dtypes="f32"),
        "pytorch": Ask(f"y = torch.layer_norm(x, [4096], weight, bias, {EPS})", "allocates y"),
    }
    return Kernel("LayerNorm", dtype, size, f"LayerNorm{dtype.upper()}/{BENCH[size]}",
                  {"x": shape, "weight": (4096,), "bias": (4096,)}, shape,
                  lambda rows, x, weight, bias: _normed(x - x.mean(-1, keepdims=True)) * weight + bias,
                  asked)  # fmt: skip


def _softmax(x):
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def softmax(dtype, size):
    shape = _rows(dtype, size, 1024 if size == L2 else 4096)
    asked = {
        "onnxruntime": Ask([("Softmax", "x", {"axis": -1})]),
        "ggml": Ask(lambda g, x: g.soft_max(x), dtypes="f32"),
        "pytorch": Ask("torch.softmax(x, -1, out=y)"),
    }
    return Kernel(f"softmax of {shape[1]}", dtype, size, f"Softmax{dtype.upper()}/{BENCH[size]}",
                  {"x": shape}, shape, lambda rows, x: _softmax(x), asked)  # fmt: skip


def swiglu(dtype, size):
    shape = _rows(dtype, size, 2048, arrays=3)
    nodes = [("Sigmoid", "gate", {}), ("Mul", "gate _", {}), ("Mul", "_ up", {})]
    asked = {
        "onnxruntime": Ask(nodes, "3 nodes"),
        "ggml": Ask(lambda g, gate, up: g.swiglu_split(gate, up), dtypes="f32"),
        "pytorch": Ask("torch.ops.aten.silu(gate, out=y); torch.mul(y, up, out=y)", "2 calls"),
    }
    return Kernel("SwiGLU", dtype, size, f"Gate{dtype.upper()}/swiglu_{BENCH[size]}",
                  {"gate": shape, "up": shape}, shape,
                  lambda rows, gate, up: gate / (1 + np.exp(-gate)) * up, asked, single=True)  # fmt: skip


def gelu_tanh():
    return _gelu("tanh", "gelu_tanh", "gelu", lambda rows, x:
                 x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))  # fmt: skip


def gelu_erf():
    erf = np.vectorize(math.erf)
    return _gelu("none", "gelu", "gelu_erf", lambda rows, x: x / 2 * (1 + erf(x / np.sqrt(2))))


def _gelu(approximate, ours, ggml, exact):
    shape = _rows("f32", L2, 4096)
    asked = {
        "onnxruntime": Ask([("Gelu", "x", {"approximate": approximate})]),
        "ggml": Ask(lambda g, x: getattr(g, ggml)(x)),
        "pytorch": Ask(f"torch.ops.aten.gelu(x, approximate='{approximate}', out=y)"),
    }
    return Kernel("GELU by " + {"none": "erf"}.get(approximate, approximate), "f32", L2,
                  f"ActivationF32/{ours}_L2", {"x": shape}, shape, exact, asked, single=True)  # fmt: skip


def angles(rows, R):
    """Of the rotation at these rows: [rows, pairs]."""
    return (rows % POSITIONS)[:, None] * BASE ** (-np.arange(R // 2) / (R // 2))


def rope(pairing, dtype, size):
    interleaved, H, R = pairing == "interleaved", 8, 128
    S = _rows(dtype, size, H * R)[0]

    def exact(rows, x, **_):
        c, s = np.cos(angles(rows, R)), np.sin(angles(rows, R))
        a, b = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., : R // 2], x[..., R // 2 :])
        y = np.stack((a * c - b * s, b * c + a * s), -1 if interleaved else -2)
        return y.reshape(x.shape)

    def ggml(g, x, position, **_):
        from rope import MODES
        from rotary import Rotary

        return g.rope_ext(x, position, None, R, MODES[pairing], 0, *Rotary(BASE).floats())

    asked = {
        "onnxruntime": Ask([("RotaryEmbedding", "x cos sin", {"interleaved": int(interleaved)})]),
        "ggml": Ask(ggml, "computes cos and sin", by_token="x y", dtypes="f32 f16"),
    }
    kind = "RopeF32" if dtype == "f32" else f"Rope{dtype.upper()}ByF32"
    shapes = {"x": (1, H, S, R), "cos": (1, S, R // 2), "sin": (1, S, R // 2), "position": (S,)}
    return Kernel(f"rotation, {pairing}", dtype, size, f"{kind}/{pairing}_{BENCH[size]}", shapes,
                  (1, H, S, R), exact, asked)  # fmt: skip


def linear(dtype, N):
    asked = {
        "onnxruntime": Ask([("Gemm", "x weight", {"transB": 1})]),
        "ggml": Ask(lambda g, x, weight: g.mul_mat(weight, x), "x, y f32" if dtype != "f32" else "",
                    f32="x y"),
        "pytorch": Ask("torch.mm(x, weight.t(), out=y)"),
    }  # fmt: skip
    kind = "float" if dtype == "f32" else dtype.upper()
    return Kernel(f"linear, {N} x 2048 x 2048", dtype, 0, f"LinearBench<{kind}>/{N}/2048/2048",
                  {"x": (N, 2048), "weight": (2048, 2048)}, (N, 2048),
                  lambda rows, x, weight: x @ weight.T, asked, N * 2048 * 2048)  # fmt: skip


def causal_attention(dtype):
    return _attention("causal attention, 8 heads x 1024 x 128", dtype, "causal_8x1024", 1024, 1024)


def decoding(dtype):
    return _attention("decoding, 8 heads x 4096 keys x 128", dtype, "decode_8x4096", 1, 4096)


def _attention(name, dtype, ours, S, T):
    """Of the last S of T tokens; S is 1 or T."""
    H, D = 8, 128

    def exact(rows, q, k, v, **_):
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(D)
        scores[..., np.arange(T) > rows[:, None] + T - S] = -np.inf
        return _softmax(scores) @ v

    def group_query(arrays):
        """The cache is k and v; decoding writes the last token into it once more."""
        new = {f"new_{n}": arrays[n][:, :, T - S :].swapaxes(1, 2).reshape(1, S, H * D) for n in "kv"}
        past = {f"past_{n}": arrays[n] if S < T else arrays[n][:, :, :0] for n in "kv"}
        present = {f"present_{n}": arrays[n] if S < T else arrays[n].copy() for n in "kv"}
        lengths = {"last": np.full(1, T - 1, np.int32), "total": np.full(1, T, np.int32)}
        node = ("GroupQueryAttention", "q new_k new_v past_k past_v last total",
                {"num_heads": H, "kv_num_heads": H, "domain": "com.microsoft"})  # fmt: skip
        return [node], new | past | lengths, present

    def ggml(g, q, k, v, mask=None):
        return g.flash_attn_ext(q, k, v, mask, D**-0.5, 0.0, 0.0)

    asked = {
        "onnxruntime": Ask(group_query, by_token="q y"),
        "ggml": Ask(ggml, "q, y f32" if dtype != "f32" else "", by_token="y", f32="q y"),
        "pytorch": Ask(f"y = ATTENTION(q, k, v, is_causal={S == T})", "allocates y"),
    }
    shapes = {"q": (1, H, S, D), "k": (1, H, T, D), "v": (1, H, T, D)}
    shapes |= {"mask": (S, T)} if S == T else {}
    products = S * (S + 1) // 2 + S * (T - S)  # of a query and a key that it sees
    return Kernel(name, dtype, 0, f"Attention{dtype.upper()}/{ours}", shapes, (1, H, S, D), exact, asked,
                  2 * H * D * products)  # fmt: skip


ROWS = (rms_norm, layer_norm, softmax, swiglu)
KERNELS = [
    *(make(dtype, size) for dtype in ("f32", "bf16") for size in (L2, MEMORY) for make in ROWS),
    gelu_tanh(),
    gelu_erf(),
    *(rope(pairing, "f32", size) for size in (L2, MEMORY) for pairing in ("half", "interleaved")),
    *(rope(pairing, "f16", L2) for pairing in ("half", "interleaved")),
    *(linear(dtype, N) for N in (256, 1) for dtype in ("f32", "bf16", "f16")),
    *(causal_attention(dtype) for dtype in ("f32", "bf16", "f16")),
    *(decoding(dtype) for dtype in ("f32", "bf16")),
]
