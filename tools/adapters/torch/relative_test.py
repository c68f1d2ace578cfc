"""Linear biases and relative attention against the papers' formulas: `python3 relative_test.py`."""

import math
import unittest

import numpy

import linear_biases
import relative

TWELVE = [2.0**-h for h in range(1, 9)] + [2.0 ** (0.5 - h) for h in range(1, 5)]


class Slopes(unittest.TestCase):
    def slopes(self, name, heads):
        return linear_biases.SYSTEMS[name]["alibi_slopes"](max_bias=8.0, H=heads, dtype="f32")

    def test_correct_systems_have_the_slopes_of_the_paper(self):
        for name in ("alibi_press", "alibi_bloom", "alibi_mpt", "alibi_baichuan_13b"):
            for got, expected in zip(self.slopes(name, 12).tolist(), TWELVE):
                self.assertAlmostEqual(got / expected, 1, places=5, msg=name)
            self.assertEqual(len(self.slopes(name, 40)), 40, name)
            self.assertEqual(self.slopes(name, 1).tolist(), [2.0**-8], name)

    def test_any_head_count_is_wrong_for_12_heads(self):
        self.assertEqual(self.slopes("alibi_any_head_count", 8).tolist(), TWELVE[:8])
        self.assertNotAlmostEqual(self.slopes("alibi_any_head_count", 12)[0].item(), 0.5, places=2)


class Biases(unittest.TestCase):
    def bias(self, name, form, query, key):
        return linear_biases.SYSTEMS[name]["alibi"](
            slope=numpy.float32([0.5]), query_position=numpy.array(query),
            key_position=numpy.array(key), form=form, dtype="f32",
        )[0].tolist()  # fmt: skip

    def test_each_form(self):
        self.assertEqual(self.bias("alibi_press", "distance", [2], [0, 2, 3]), [[-1, 0, 0.5]])
        self.assertEqual(self.bias("alibi_mpt", "symmetric", [2], [0, 2, 3]), [[-1, 0, -0.5]])
        for name in ("alibi_bloom", "alibi_baichuan_13b"):
            self.assertEqual(self.bias(name, "key", [2, 9], [0, 3]), [[0, 1.5]] * 2)

    def test_wrong_systems(self):
        self.assertEqual(self.bias("alibi_towards_far_keys", "distance", [2], [0]), [[1]])
        self.assertEqual(self.bias("alibi_counted_in_bf16", "key", [0], [256, 257]), [[128, 128]])


class Attention(unittest.TestCase):
    def test_shaw_against_the_formula_of_the_paper(self):
        S, T, D, clip = 2, 4, 3, 1
        draw = numpy.random.default_rng(1).standard_normal
        q, k, v = draw((1, 1, S, D)), draw((1, 1, T, D)), draw((1, 1, T, D))
        keys, values = draw((3, D)), draw((3, D))
        query_position, key_position = numpy.array([2, 3]), numpy.arange(T)
        got = relative.SYSTEMS["shaw"]["relative_attention"](
            q=q, k=k, v=v, key_table=keys, value_table=values, query_position=query_position,
            key_position=key_position, clip=clip, dtype="f64",
        )  # fmt: skip
        for s, i in enumerate(query_position):
            rows = [min(max(j - i, -clip), clip) + clip for j in key_position]
            scores = [
                sum(q[0, 0, s, d] * (k[0, 0, t, d] + keys[rows[t], d]) for d in range(D))
                / math.sqrt(D)
                for t in range(T)
            ]
            weights = numpy.exp(scores) / numpy.exp(scores).sum()
            y = sum(weights[t] * (v[0, 0, t] + values[rows[t]]) for t in range(T))
            self.assertLess(numpy.abs(got["y"][0, 0, s].numpy() - y).max(), 1e-14)
            self.assertLess(numpy.abs(got["scores"][0, 0, s].numpy() - scores).max(), 1e-14)


class Buckets(unittest.TestCase):
    def starts(self, bidirectional, sign):
        """The distances at which the bucket changes, and the bucket of each distance."""
        table = numpy.arange(32, dtype=numpy.float32)[:, None]
        distance = numpy.arange(130)
        row = relative.SYSTEMS["t5"]["relative_bias"](
            table=table, query_position=numpy.array([0]), key_position=sign * distance,
            bidirectional=bidirectional, max_distance=128, P=32, dtype="f32",
        )[0, 0].tolist()  # fmt: skip
        return [d for d in range(1, 130) if row[d] != row[d - 1]], row

    def test_borders_of_the_paper(self):
        far = [8, 12, 16, 23, 32, 46, 64, 91]
        for sign in (-1, 1):
            starts, row = self.starts(True, sign)
            self.assertEqual(starts, [*range(1, 8), *far])
            self.assertEqual(row[1], 1 if sign < 0 else 17)
        far = [16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]
        self.assertEqual(self.starts(False, -1)[0], [*range(1, 16), *far])
        self.assertEqual(self.starts(False, 1)[0], [])


if __name__ == "__main__":
    unittest.main()
