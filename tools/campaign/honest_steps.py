"""The options of honest recipes: family -> stage -> option -> change."""

import numpy as np

from stages import EXACT, ORDERS, rounded, to_format


def exact(value, question):
    return value


def in_dtype(value, q):
    return to_format(value, q.dtype).astype(EXACT)


def formats(*names):
    """Options: exact, and each format; "T" is the dtype of the case."""
    options = {name: rounded(name) for name in names if name != "T"}
    return {"exact": exact, **options, **({"T": in_dtype} if "T" in names else {})}


def wide(q):
    """The format of sums: f64 for f64, otherwise f32."""
    return "f64" if q.dtype == "f64" else "f32"


def iterated(f, q):
    """Each frequency is the one before times the ratio, in f32."""
    result = to_format(f, "f32").copy()
    for k in range(2, len(f)):
        result[k] = to_format(result[k - 1].astype(EXACT) * result[1], "f32")
    return result.astype(EXACT) if not hasattr(q, "scaling") or plain(q) else to_format(f, "f32")


def plain(q):
    return q.scaling["type"] == "none"


def exp_log(f, q):
    """exp(-log), the logarithm rounded to f32."""
    return to_format(np.exp(to_format(np.log(f), "f32").astype(EXACT)), "f32").astype(EXACT)


def period(f, q):
    """1 / period, the period in f32."""
    return to_format(1 / to_format(1 / f, "f32").astype(EXACT), "f32").astype(EXACT)


def reduced(angle, q):
    """Reduced by f64's 2 pi."""
    turn = EXACT(2 * np.pi)
    return angle - turn * np.rint(angle / turn)


def sum_orders():
    return {"exact": lambda add, q: add,
            **{f"{name}:f32": sum_in(order) for name, order in ORDERS.items()}}


def sum_in(order):
    return lambda add, q: lambda terms: order(terms, wide(q))


def dot_in(order, form=None):
    def change(dot, q):
        def product(x, weight):
            terms = x[:, None, :] * weight[None]
            return order(terms, form or wide(q))[..., 0]

        return product

    return change


def scores_in(order):
    def change(dot, q):
        keys = q.k[:, q.seen["key_head"]]
        return order(q.q[:, :, :, None, :] * keys[:, :, None], wide(q))[..., 0]

    return change


def weighed_in(order):
    def change(y, q):
        values = q.v[:, q.seen["value_head"]].swapaxes(-1, -2)
        terms = q.seen["weight"][:, :, :, None, :] * values[:, :, None]
        return order(terms, wide(q))[..., 0]

    return change


def exp2(e, q):
    """2^(x log2 e), the argument in f32."""
    x = q.seen.get("masked", getattr(q, "x", None)) - q.seen["largest"]
    argument = to_format(x * np.log2(np.exp(EXACT(1))), wide(q)).astype(EXACT)
    return to_format(np.exp2(argument), wide(q)).astype(EXACT)


def one_ulp(value, q):
    """An elementary function that errs by one ulp of f32."""
    sign = EXACT(-1) ** np.arange(value.size).reshape(value.shape)
    return value * (1 + sign * EXACT(2) ** (-53 if q.dtype == "f64" else -24))


def one_pass(variance, q):
    """E[x^2] - mean^2 in f64."""
    x = q.x.astype(np.float64)
    mean = x.mean(-1, keepdims=True)
    return ((x * x).mean(-1, keepdims=True) - mean * mean).astype(EXACT)


def tanh_form(f, q):
    """sigmoid(x) = (1 + tanh(x / 2)) / 2 in f64, for the kinds that are made of it."""
    if q.kind not in ("swish", "swiglu"):
        return f
    beta = getattr(q, "alpha", None) or getattr(q, "beta", 1)
    return lambda x: x * ((1 + np.tanh(EXACT(beta) * x / 2)) / 2)


def erf_polynomial(f, q):
    """Abramowitz and Stegun 7.1.26: an absolute error of 1.5e-7."""
    if q.kind not in ("gelu", "geglu"):
        return f

    def gelu(x):
        z = np.abs(x) / np.sqrt(EXACT(2))
        t = 1 / (1 + EXACT("0.3275911") * z)
        series = t * (EXACT("0.254829592") + t * (EXACT("-0.284496736") + t * (
            EXACT("1.421413741") + t * (EXACT("-1.453152027") + t * EXACT("1.061405429")))))
        return x * (1 + np.sign(x) * (1 - series * np.exp(-z * z))) / 2

    return gelu


def function_in(form):
    return lambda f, q: lambda x: to_format(f(to_format(x, form).astype(EXACT)), form).astype(EXACT)


def operands_in(form):
    return lambda pair, q: tuple(to_format(v, form).astype(EXACT) for v in pair)


ROTATION = {
    "frequency": {**formats("f32", "f64", "bf16"), "f32:iterated": iterated, "f32:exp_log": exp_log,
                  "f32:period": period, "f32 ": rounded("f32")},
    "angle": {**formats("f32", "f64"), "f64:reduced": reduced},
    "cos": formats("f32", "f16", "bf16"), "sin": formats("f32", "f16", "bf16"),
    "cos_table": formats("f32", "T"), "sin_table": formats("f32", "T"),
    "growth": formats("f32", "T", "f64"),
    "product": formats("f32", "T"),
}
ATTENTION = {
    "dot": {"exact": exact, **{f"{n}:f32": scores_in(o) for n, o in ORDERS.items()}},
    "score": formats("f32", "T", "bf16"), "capped": formats("f32", "T"),
    "exponential": {**formats("f32", "T", "f64"), "f32:exp2": exp2, "f32:one_ulp": one_ulp},
    "add": sum_orders(), "weight": formats("f32", "T", "bf16"),
    "weighed": {"exact": exact, **{f"{n}:f32": weighed_in(o) for n, o in ORDERS.items()}},
}
NORM = {
    "square": formats("f32", "T"), "add": sum_orders(), "mean_square": formats("f32"),
    "mean": formats("f32", "f64"), "centered": formats("f32", "T"),
    "variance": {**formats("f32"), "f64:one_pass": one_pass},
    "root": {**formats("f32", "bf16"), "f32:one_ulp": one_ulp},
    "scaled": formats("f32", "T"), "weight": formats("f32", "bf16"),
}
FORMS = {"exact": exact, "f32": function_in("f32"), "bf16": function_in("bf16"),
         "f16": function_in("f16"), "f64:tanh": tanh_form, "f32:erf_polynomial": erf_polynomial}
STEPS = {
    "rotation": ROTATION,
    "table": {**ROTATION, "sin_cos": {"exact": exact, "f16": operands_in("f16"),
                                      "f32": operands_in("f32"), "bf16": operands_in("bf16")},
              "cos_sin": {"exact": exact, "f32": operands_in("f32"), "bf16": operands_in("bf16")}},
    "attention": ATTENTION,
    "position": {"slope": formats("f32", "bf16"), "distance": formats("f32", "bf16"),
                 "factor": {**formats("f32", "bf16", "f16"), "f32:one_ulp": one_ulp},
                 "block": formats("f32"), "exponent": formats("f32", "bf16")},
    "softmax": {"input": formats("f32", "f16"), "exponential": ATTENTION["exponential"],
                "add": sum_orders(), "ratio": formats("f32", "T"),
                "tanh": {**formats("f32", "T", "bf16"), "f32:one_ulp": one_ulp}},
    "norm": NORM,
    "activation": {"function": FORMS, "input": formats("f32"), "activated": formats("f32", "T"),
                   "up": formats("f32", "T")},
    "linear": {"dot": {"exact": exact, **{f"{n}:f32": dot_in(o) for n, o in ORDERS.items()},
                       "sequential:bf16": dot_in(ORDERS["sequential"], "bf16"),
                       "blocks:f16": dot_in(ORDERS["blocks"], "f16")},
               "product": formats("f32", "T"), "activated": formats("f32", "T"),
               "hidden": formats("f32", "T"), "scale": formats("f32", "T", "bf16"),
               "function": FORMS},
}
