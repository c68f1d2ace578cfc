"""Swish, GELU and gated units: system 17; `python3 activations.py NAME` serves one."""

import torch
from torch.nn import functional as F

from subject import Unsupported, as_tensor, serve


def swish(x, beta):
    """17: x s(beta x)."""
    return x * torch.sigmoid(beta * x)


def gelu(x):
    """17: PyTorch's own kernel: x (1 + erf(x / sqrt 2)) / 2."""
    with torch.backends.mkldnn.flags(enabled=False):
        return F.gelu(x)


PYTORCH = {
    "sigmoid": torch.sigmoid,
    "gelu": gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "relu": F.relu,
    "relu2": lambda x: F.relu(x).square(),
    "tanh": torch.tanh,
}


def own_swish(x, kind, beta):
    if kind != "swish":
        raise Unsupported("swish alone")
    return swish(x, beta)


def pytorch(x, kind, beta):
    """17: what torch.nn.functional has; its silu knows no beta."""
    if kind == "swish":
        return F.silu(x) if beta == 1 else swish(x, beta)
    return PYTORCH[kind](x)


def onednn_gelu(x, kind, beta):
    """17: the same through oneDNN, which PyTorch prefers in f32: its erf is a short approximation."""
    if kind != "gelu":
        raise Unsupported("gelu alone")
    with torch.backends.mkldnn.flags(enabled=True):
        return F.gelu(x)


def silu_for_swish(x, kind, beta):
    """17: wrong: SiLU whatever beta is."""
    return pytorch(x, kind, 1)


def quick_gelu(x, kind, beta):
    """17: wrong: x s(1.702 x) for GELU."""
    return swish(x, 1.702) if kind.startswith("gelu") else pytorch(x, kind, beta)


def one_gelu(x, kind, beta):
    """17: wrong: the form with tanh for both."""
    return pytorch(x, "gelu_tanh" if kind == "gelu" else kind, beta)


def activation(function):
    """Computed in f32 (f64 in f64), rounded once."""

    def answer(x, kind, beta, dtype, **_):
        x = as_tensor(x, dtype)
        wide = x if dtype == "f64" else x.float()
        return function(wide, kind, beta).to(x.dtype)

    return answer


def narrow_swish(x, kind, beta, dtype, **_):
    """17: wrong in bf16: the sigmoid is rounded before it multiplies."""
    return own_swish(as_tensor(x, dtype), kind, beta)


GATES = {
    "swiglu": "swish",
    "glu": "sigmoid",
    "geglu": "gelu",
    "geglu_tanh": "gelu_tanh",
    "reglu": "relu",
}


def gated_unit(gate, up, kind, beta):
    """17: f(gate) up, without biases: what is between LLaMA's linear layers."""
    return pytorch(gate, GATES[kind], beta) * up


def of_product(gate, up, kind, beta):
    """17: wrong: f(gate up)."""
    return pytorch(gate * up, GATES[kind], beta)


def glu_of(first, second, kind):
    if kind != "glu":
        raise Unsupported("glu alone")
    return F.glu(torch.cat([first, second], -1), -1)


def pytorch_glu(gate, up, kind, beta):
    """17: torch's glu gates its first half with the second."""
    return glu_of(up, gate, kind)


def glu_gate_first(gate, up, kind, beta):
    """17: wrong: torch's glu of halves that have the gate first, as fused weights do."""
    return glu_of(gate, up, kind)


def gated(function):
    """The activated gate is rounded to the dtype, then multiplied, as Hugging Face has it."""

    def answer(gate, up, kind, beta, dtype, limit=None, alpha=None, plus_one=False, **_):
        if limit or alpha or plus_one:
            raise Unsupported("no limit, alpha or 1")
        if dtype in ("f16", "bf16"):
            raise Unsupported("f32 and f64 alone")
        return function(as_tensor(gate, dtype), as_tensor(up, dtype), kind, beta)

    return answer


def limited(gate_below=False, one=1.0):
    """17: gpt-oss: the gate is limited above, up on both sides, and 1 is added to up."""

    def answer(gate, up, kind, beta, dtype, limit=None, alpha=None, plus_one=False, **_):
        if kind != "swiglu" or not limit or not plus_one or dtype in ("f16", "bf16"):
            raise Unsupported("swiglu with limit and plus_one in f32 and f64 alone")
        gate, up = as_tensor(gate, dtype), as_tensor(up, dtype)
        gate = gate.clamp(min=-float(limit) if gate_below else None, max=float(limit))
        up = up.clamp(min=-float(limit), max=float(limit))
        return swish(gate, float(alpha or beta)) * (up + one)

    return answer


SYSTEMS = {
    "swish_with_beta": {"activation": activation(own_swish)},
    "swish_in_its_dtype": {"activation": narrow_swish},
    "activations_of_pytorch": {"activation": activation(pytorch)},
    "gelu_of_onednn": {"activation": activation(onednn_gelu)},
    "silu_for_swish": {"activation": activation(silu_for_swish)},
    "quick_gelu": {"activation": activation(quick_gelu)},
    "one_gelu_for_both": {"activation": activation(one_gelu)},
    "gated_units": {"gated": gated(gated_unit)},
    "gated_product": {"gated": gated(product_activated)},
    "glu_of_pytorch": {"gated": gated(pytorch_glu)},
    "glu_with_gate_first": {"gated": gated(glu_gate_first)},
    "gpt_oss_gate": {"gated": limited()},
    "gpt_oss_gate_limited_below": {"gated": limited(gate_below=True)},
    "gpt_oss_gate_without_one": {"gated": limited(one=0.0)},
}

if __name__ == "__main__":
    serve(SYSTEMS)
