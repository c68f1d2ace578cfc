"""The PyTorch modules of RMSNorm against exact values (mpmath): `python3 rms_norm_test.py`."""

import unittest

import mpmath
import numpy

import rms_norm

U = 2.0**-24  # of f32
mpmath.mp.prec = 200


class RmsNorm(unittest.TestCase):
    # x = (3e-4, 4e-4): mean of squares 1.25e-7; y with eps 1e-8 is 8.7 times y with eps 1e-5
    x = numpy.array([[3e-4, 4e-4]], numpy.float32)

    def error(self, name, attribute, eps):
        weight = numpy.array([1, 2], numpy.float32)
        y = rms_norm.SYSTEMS[name]["rms_norm"](
            self.x, weight, eps=attribute, unit_offset=False, dtype="f32"
        )
        a, b = (mpmath.mpf(float(v)) for v in self.x[0])
        root = mpmath.sqrt((a * a + b * b) / 2 + eps)
        return max(
            abs(got - exact) / exact
            for got, exact in zip(y[0].tolist(), (a / root, 2 * b / root))
        )

    def test_each_module_is_correct_for_its_own_eps(self):
        self.assertLess(self.error("rms_norm_own", 1e-8, 1e-8), 8 * U)
        self.assertLess(self.error("rms_norm_llama", 1e-5, 1e-5), 8 * U)
        with self.assertRaises(rms_norm.Unsupported):
            self.error("rms_norm_own", 1e-5, 1e-5)

    def test_another_eps_gives_a_large_error(self):
        self.assertGreater(self.error("rms_norm_own_for_any_eps", 1e-5, 1e-5), 0.5)


if __name__ == "__main__":
    unittest.main()
