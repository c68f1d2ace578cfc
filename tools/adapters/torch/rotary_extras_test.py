"""xPos and axial positions against exact values (mpmath): `python3 rotary_extras_test.py`."""

import unittest

import mpmath
import numpy

import rotary_extras

mpmath.mp.prec = 100
U = 2.0**-24


def rotated(a, b, angle):
    cos, sin = mpmath.cos(angle), mpmath.sin(angle)
    return a * cos - b * sin, a * sin + b * cos


class Extras(unittest.TestCase):
    x = numpy.random.default_rng(1).standard_normal((1, 1, 3, 8)).astype("f4")

    def largest_difference(self, got, expected_pair, pairs):
        """pairs: (first, second) channels of pair k; expected_pair(s, k, a, b)"""
        largest = 0.0
        for s in range(self.x.shape[2]):
            for k, channels in enumerate(pairs):
                a, b = (mpmath.mpf(float(self.x[0, 0, s, c])) for c in channels)
                for c, exact in zip(channels, expected_pair(s, k, a, b)):
                    largest = max(largest, abs(float(got[0, 0, s, c]) - float(exact)))
        return largest

    def xpos(self, name, role, position):
        got = rotary_extras.SYSTEMS[name]["xpos"](
            x=self.x, position=numpy.array([position]), pairing="interleaved", base=10000.0,
            role=role, scale_base=512.0, gamma=0.4, center=(position[-1] + 1) // 2, offset=0, R=8,
            dtype="f32",
        )  # fmt: skip
        gamma, sign = mpmath.mpf("0.4"), 1 if role == "query" else -1

        def expected(s, k, a, b):
            decay = (mpmath.mpf(2 * k) / 8 + gamma) / (1 + gamma)
            grown = decay ** (sign * mpmath.mpf(position[s] - (position[-1] + 1) // 2) / 512)
            angle = position[s] * mpmath.mpf(10000) ** (-mpmath.mpf(2 * k) / 8)
            return [grown * y for y in rotated(a, b, angle)]

        return self.largest_difference(got, expected, [(2 * k, 2 * k + 1) for k in range(4)])

    def test_xpos(self):
        for role in ("query", "key"):
            self.assertLess(self.xpos("library_xpos", role, [0, 5, 99]), 100 * U)
            self.assertGreater(self.xpos("library_xpos_in_halves", role, [0, 5, 99]), 1e-3)
        self.assertGreater(self.xpos("library_xpos_keys_as_queries", "key", [0, 5, 99]), 1e-3)

    def axial(self, name, kind, position):
        got = rotary_extras.SYSTEMS[name]["rope_axial"](
            x=self.x, position=numpy.array([position]), frequencies=kind, arrangement="blocks",
            pairing=rotary_extras.ChatGlm.pairing if "glm" in name else "interleaved", base=10000.0,
            max_freq=10.0, offset=0, R=8, direction="forward", dtype="f32",
        )  # fmt: skip
        half = "glm" in name
        block = [(0, 2), (1, 3)] if half else [(0, 1), (2, 3)]
        frequencies = {
            "lang": [1, mpmath.mpf("0.01")],  # 10000^(-i/2)
            "pixel": [mpmath.pi, 5 * mpmath.pi],
            "constant": [1, 1],
        }[kind]

        def expected(s, k, a, b):
            return rotated(a, b, mpmath.mpf(float(position[k // 2][s])) * frequencies[k % 2])

        pairs = block + [(i + 4, j + 4) for i, j in block]
        return self.largest_difference(got, expected, pairs)

    def test_axial(self):
        grid, tokens = [[-1.0, 0.5, 1.0], [0.25, 0.0, -1.0]], [[0.0, 1.0, 2.0], [3.0, 0.0, 1.0]]
        for kind in ("lang", "pixel", "constant"):
            self.assertLess(self.axial("library_axial", kind, grid), 100 * U, kind)
            self.assertGreater(self.axial("library_axial_reversed", kind, grid), 0.1, kind)
        self.assertGreater(self.axial("library_axial_without_pi", "pixel", grid), 0.1)
        self.assertLess(self.axial("chatglm_6b", "lang", tokens), 100 * U)
        self.assertGreater(self.axial("chatglm_6b_one_axis", "lang", tokens), 0.1)


if __name__ == "__main__":
    unittest.main()
