"""Activations and gated units against their formulas in f64: `python3 activations_test.py`."""

import math
import unittest

import numpy

import activations

X = numpy.array([[-3.0, -0.5, 0.0, 1.25, 4.0]])
UP = numpy.array([[2.0, -1.0, 3.0, 0.5, -9.0]])


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def normal(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def activation(name, kind, beta=1.0, x=X):
    answer = activations.SYSTEMS[name]["activation"]
    return answer(x=x, kind=kind, beta=beta, dtype="f64").numpy()[0]


def gated(name, **attributes):
    answer = activations.SYSTEMS[name]["gated"]
    return answer(gate=X, up=UP, dtype="f64", **{"beta": 1.0, "kind": "swiglu"} | attributes).numpy()[0]


class Activations(unittest.TestCase):
    def expect(self, got, function, *inputs):
        for y, values in zip(got, zip(*inputs)):
            self.assertAlmostEqual(y, function(*values), places=12)

    def test_swish(self):
        for name in ("swish_with_beta", "activations_of_pytorch"):
            for beta in (1.0, 1.702):
                self.expect(activation(name, "swish", beta), lambda x: x * sigmoid(beta * x), X[0])
        self.expect(activation("silu_for_swish", "swish", 2.0), lambda x: x * sigmoid(x), X[0])

    def test_gelu(self):
        self.expect(activation("activations_of_pytorch", "gelu"), lambda x: x * normal(x), X[0])
        self.expect(activation("quick_gelu", "gelu"), lambda x: x * sigmoid(1.702 * x), X[0])
        near = activation("gelu_of_onednn", "gelu") - activation("activations_of_pytorch", "gelu")
        self.assertLess(abs(near).max(), 1e-6)

    def test_one_gelu_for_both_is_the_tanh_form(self):
        def tanh_form(x):
            return x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2

        for kind in ("gelu", "gelu_tanh"):
            self.expect(activation("one_gelu_for_both", kind), tanh_form, X[0])
        self.expect(activation("activations_of_pytorch", "gelu_tanh"), tanh_form, X[0])
        far = numpy.array([[-2.7, 2.7]])  # where the forms differ most: by 4.7e-4
        gap = activation("one_gelu_for_both", "gelu", x=far) - [x * normal(x) for x in far[0]]
        self.assertGreater(abs(gap).min(), 4e-4)

    def test_gated_units(self):
        self.expect(gated("gated_units"), lambda g, u: g * sigmoid(g) * u, X[0], UP[0])
        self.expect(gated("gated_product"), lambda g, u: g * u * sigmoid(g * u), X[0], UP[0])

    def test_glu_of_torch_gates_with_the_second_half(self):
        self.expect(gated("glu_of_pytorch", kind="glu"), lambda g, u: sigmoid(g) * u, X[0], UP[0])
        self.expect(gated("glu_with_gate_first", kind="glu"), lambda g, u: g * sigmoid(u), X[0],
                    UP[0])

    def test_gpt_oss(self):
        given = {"limit": 2, "alpha": 1.702, "plus_one": True}

        def expected(g, u):
            g, u = min(g, 2), min(max(u, -2), 2)
            return g * sigmoid(1.702 * g) * (u + 1)

        self.expect(gated("gpt_oss_gate", **given), expected, X[0], UP[0])
        for name in ("gpt_oss_gate_limited_below", "gpt_oss_gate_without_one"):
            self.assertGreater(abs(gated(name, **given) - gated("gpt_oss_gate", **given)).max(), 0.01)


if __name__ == "__main__":
    unittest.main()
