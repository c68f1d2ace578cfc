"""LayerNorm against numbers that a reader can verify: `python3 layer_norm_test.py`."""

import unittest

import numpy

import layer_norm


def answer(name, x, weight=(2, 10), bias=(0.5, -1), eps=7.0):
    arrays = [numpy.float32(a) for a in ([x], weight, bias)]
    return layer_norm.SYSTEMS[name]["layer_norm"](*arrays, eps=eps, dtype="f32")[0].tolist()


class LayerNorm(unittest.TestCase):
    # 1 and 7: mean 4, variance 9; with eps 7 the root is 4.

    def test_correct_systems(self):
        for name in ("layer_norm_by_hand", "layer_norm_pytorch", "layer_norm_one_pass"):
            for got, expected in zip(answer(name, [1, 7]), [-1, 6.5]):
                self.assertAlmostEqual(got, expected, places=5, msg=name)

    def test_wrong_systems(self):
        # Unbiased: sqrt(18 / 1 + 7) = 5. Eps outside the root: 3 + 7 = 10.
        for name, root in (("layer_norm_unbiased", 5), ("layer_norm_eps_outside", 10)):
            for got, expected in zip(answer(name, [1, 7]), [-6 / root + 0.5, 30 / root - 1]):
                self.assertAlmostEqual(got, expected, places=5, msg=name)

    def test_one_pass_loses_a_small_variance_at_a_large_mean(self):
        ones, none = (1, 1), (0, 0)
        got = answer("layer_norm_by_hand", [10000, 10002], ones, none, eps=0.0)
        self.assertEqual(got, [-1, 1])
        got = answer("layer_norm_one_pass", [10000, 10002], ones, none, eps=1.0)
        self.assertGreater(abs(got[1] - 0.5**0.5), 0.1)  # exact: 1 / sqrt(variance 1 + eps 1)


if __name__ == "__main__":
    unittest.main()
