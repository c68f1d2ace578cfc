"""Swish, GELU and gated units; `python3 activations.py NAME` serves one."""

import torch
from torch.nn import functional as F

from subject import Unsupported, as_tensor, serve


def swish(x, beta):
    """x sigmoid(beta x)."""
    return x * torch.sigmoid(beta * x)


def gelu(x):
    """The kernel of PyTorch without oneDNN: x (1 + erf(x / sqrt 2)) / 2."""
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
        raise Unsupported("only swish")
    return swish(x, beta)


def pytorch(x, kind, beta):
    """The functions of torch.nn.functional; its silu has no beta."""
    if kind == "swish":
        return F.silu(x) if beta == 1 else swish(x, beta)
    return PYTORCH[kind](x)


def onednn_gelu(x, kind, beta):
    """GELU of oneDNN, which PyTorch prefers in f32; its erf is an approximation."""
    if kind != "gelu":
        raise Unsupported("only gelu")
    with torch.backends.mkldnn.flags(enabled=True):
        return F.gelu(x)


def silu_for_swish(x, kind, beta):
    """Wrong: ignores beta."""
    return pytorch(x, kind, 1)


def quick_gelu(x, kind, beta):
    """Wrong: x sigmoid(1.702 x) for GELU."""
    return swish(x, 1.702) if kind.startswith("gelu") else pytorch(x, kind, beta)


def one_gelu(x, kind, beta):
    """Wrong: the tanh form for both kinds of GELU."""
    return pytorch(x, "gelu_tanh" if kind == "gelu" else kind, beta)


def activation(function):
    """The function computed in f32 (f64 for f64), with one rounding."""

    def answer(x, kind, beta, dtype, **_):
        x = as_tensor(x, dtype)
        wide = x if dtype == "f64" else x.float()
        return function(wide, kind, beta).to(x.dtype)

    return answer


def narrow_swish(x, kind, beta, dtype, **_):
    """Wrong in bf16: rounds the sigmoid before the multiplication."""
    return own_swish(as_tensor(x, dtype), kind, beta)


GATES = {
    "swiglu": "swish",
    "glu": "sigmoid",
    "geglu": "gelu",
    "geglu_tanh": "gelu_tanh",
    "reglu": "relu",
}


def gated_unit(gate, up, kind, beta):
    """f(gate) up, without biases, as between the linear layers of LLaMA."""
    return pytorch(gate, GATES[kind], beta) * up


def product_activated(gate, up, kind, beta):
    """Wrong: f(gate up)."""
    return pytorch(gate * up, GATES[kind], beta)


def glu_of(first, second, kind):
    if kind != "glu":
        raise Unsupported("only glu")
    return F.glu(torch.cat([first, second], -1), -1)


def pytorch_glu(gate, up, kind, beta):
    """torch's glu gates its first half with the second."""
    return glu_of(up, gate, kind)


def glu_gate_first(gate, up, kind, beta):
    """Wrong: torch's glu on fused halves with the gate first."""
    return glu_of(gate, up, kind)


def gated(function):
    """Rounds the activated gate to the dtype before the multiplication, as in Hugging Face."""

    def answer(gate, up, kind, beta, dtype, limit=None, alpha=None, plus_one=False, **_):
        if limit or alpha or plus_one:
            raise Unsupported("no limit, alpha or plus_one")
        if dtype in ("f16", "bf16"):
            raise Unsupported("only f32 and f64")
        return function(as_tensor(gate, dtype), as_tensor(up, dtype), kind, beta)

    return answer


def limited(gate_below=False, one=1.0):
    """gpt-oss: clamps the gate above and up on both sides, and adds 1 to up."""

    def answer(gate, up, kind, beta, dtype, limit=None, alpha=None, plus_one=False, **_):
        if kind != "swiglu" or not limit or not plus_one or dtype in ("f16", "bf16"):
            raise Unsupported("only swiglu with limit and plus_one in f32 and f64")
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
