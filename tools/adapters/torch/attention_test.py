"""Attention in tiles and with a cache against sums over keys: `python3 attention_test.py`."""

import math
import unittest

import numpy

import attention

S, T, D = 3, 5, 2
DRAW = numpy.random.default_rng(1).standard_normal
Q, K, V = DRAW((1, 2, S, D)), DRAW((1, 1, T, D)), DRAW((1, 1, T, 3))


def answer(name, **attributes):
    given = dict(q=Q, k=K, v=V, B=1, H=2, K=1, S=S, T=T, dtype="f64", mask="causal",
                 align="bottom_right") | attributes
    got = attention.SYSTEMS[name]["attention"](**given)
    return {key: value.numpy() for key, value in got.items()}


def mean(h, s, keys):
    weights = [math.exp(Q[0, h, s] @ K[0, 0, t] / math.sqrt(D)) for t in keys]
    y = sum(w * V[0, 0, t] for w, t in zip(weights, keys)) / sum(weights)
    return y, math.log(sum(weights))


class Attention(unittest.TestCase):
    def expect(self, got, keys_of):
        for h in range(2):
            for s in range(S):
                y, lse = mean(h, s, keys_of(s))
                self.assertLess(abs(got["y"][0, h, s] - y).max(), 1e-12)
                if "lse" in got:
                    self.assertAlmostEqual(got["lse"][0, h, s], lse, places=12)

    def test_correct_systems_sum_over_the_keys_up_to_the_query(self):
        for name in ("attention_at_once", "flash_1", "flash_2", "flash_3_backwards", "flash_16",
                     "kv_cache"):
            self.expect(answer(name), lambda s: range(T - S + s + 1))
            self.expect(answer(name, window=[1, 0]), lambda s: range(T - S + s - 1, T - S + s + 1))

    def test_the_first_query_may_be_at_any_key(self):
        for name in ("attention_at_once", "flash_2", "flash_3_backwards"):
            got = answer(name, align=None, query_offset=[1])
            self.expect(got, lambda s: range(1 + s + 1))
        with self.assertRaises(attention.Unsupported):
            answer("kv_cache", align=None, query_offset=[1])

    def test_sdpa_aligns_at_the_top_left(self):
        self.expect(answer("sdpa", align="top_left"), lambda s: range(s + 1))
        with self.assertRaises(attention.Unsupported):
            answer("sdpa")

    def test_wrong_systems_differ(self):
        for name in ("flash_not_rescaled", "kv_cache_from_start"):
            self.assertGreater(abs(answer(name)["y"] - answer("flash_2")["y"]).max(), 0.01)

    def test_masks(self):
        def seen(**attributes):
            given = {"mask": "none", "align": "top_left"} | attributes
            rows = attention.seen_keys(1, 4, 4, **given)[0, 0]
            return ["".join(str(t) for t in range(4) if row[t]) for row in rows]

        self.assertEqual(seen(chunk=2), ["01", "01", "23", "23"])
        self.assertEqual(seen(segments=[1, 2]), ["0", "12", "12", "3"])
        self.assertEqual(seen(key_length=[2]), ["01"] * 4)
        self.assertEqual(seen(window=[-1, 1]), ["01", "012", "0123", "0123"])
        causal = {"mask": "causal", "align": "bottom_right"}
        self.assertEqual(seen(key_length=[3], **causal), ["", "0", "01", "012"])
        causal["align"] = None
        self.assertEqual(seen(query_offset=[2], **causal), ["012", "0123", "0123", "0123"])
        self.assertEqual(seen(query_offset=[2], segments=[1, 2]), ["12", "3", "", ""])
        see = attention.seen_keys(2, 1, 3, "causal", None, query_offset=[0, 1])
        self.assertEqual(see.int().tolist(), [[[[1, 0, 0]]], [[[1, 1, 0]]]])


if __name__ == "__main__":
    unittest.main()
