"""Tests of round_to."""

import unittest

import numpy as np

import sextant_adapter as sextant


class Rounding(unittest.TestCase):
    def test_bf16_rounds_to_nearest_even(self):
        ulp = 2.0**-7
        values = [1 + ulp / 2, 1 + 3 * ulp / 2, 1 + ulp / 2 + 2.0**-50, -1 - ulp / 2, 3.0]
        expected = [1, 1 + 2 * ulp, 1 + ulp, -1, 3]
        self.assertEqual(sextant.round_to(values, "bf16").tolist(), expected)

    def test_bf16_at_the_ends_of_the_range(self):
        largest, smallest = 2.0**128 - 2.0**120, 2.0**-133
        values = [largest, largest + 2.0**118, largest + 2.0**119, -1e300, np.inf]
        expected = [largest, largest, np.inf, -np.inf, np.inf]
        self.assertEqual(sextant.round_to(values, "bf16").tolist(), expected)
        values = [smallest, smallest / 2, smallest * 0.51, smallest * 1.5, 1e-320]
        expected = [smallest, 0, smallest, 2 * smallest, 0]
        self.assertEqual(sextant.round_to(values, "bf16").tolist(), expected)
        self.assertTrue(np.isnan(sextant.round_to(np.nan, "bf16")))
        self.assertTrue(np.signbit(sextant.round_to(-1e-50, "bf16")))

    # Every bf16 value rounds to itself; the rounding changes at the middle of two neighbours.
    def test_all_bf16_values_and_their_middles(self):
        bits = np.arange(0x7F80, dtype=np.uint32)
        values = (bits << 16).view(np.float32).astype(np.float64)
        self.assertTrue((sextant.round_to(values, "bf16") == values).all())
        middle = (values[:-1] + values[1:]) / 2
        even = np.where(bits[:-1] % 2 == 0, values[:-1], values[1:])
        self.assertTrue((sextant.round_to(middle, "bf16") == even).all())
        below, above = np.nextafter(middle, 0), np.nextafter(middle, np.inf)
        self.assertTrue((sextant.round_to(below, "bf16") == values[:-1]).all())
        self.assertTrue((sextant.round_to(above, "bf16") == values[1:]).all())

    # As above. f8_e4m3fn: 464 is a tie of 448, which is even, and of 480, which it does not have.
    def test_all_values_of_8_bits_and_their_middles(self):
        for dtype, least, largest, below, beyond in (
            ("f8_e4m3fn", 2.0**-9, 448, 464, np.nan), ("f8_e5m2", 2.0**-16, 57344, 61439, np.inf),
            ("f8_e4m3fnuz", 2.0**-10, 240, 247, np.nan), ("f8_e5m2fnuz", 2.0**-17, 57344, 61439, np.nan),
        ):  # fmt: skip
            values = sextant._values_of(dtype)[:0x80].astype(np.float64)
            values = values[np.isfinite(values)]
            self.assertEqual((values[0], values[1], values[-1]), (0, least, largest))
            self.assertTrue((sextant.round_to(values, dtype) == values).all())
            middle, even = (values[:-1] + values[1:]) / 2, np.arange(len(values) - 1) % 2 == 0
            expected = np.where(even, values[:-1], values[1:])
            self.assertTrue((sextant.round_to(middle, dtype) == expected).all())
            self.assertTrue((sextant.round_to(np.nextafter(middle, 0), dtype) == values[:-1]).all())
            self.assertTrue((sextant.round_to(np.nextafter(middle, np.inf), dtype) == values[1:]).all())
            self.assertEqual(sextant.round_to([below, -below], dtype).tolist(), [largest, -largest])
            np.testing.assert_equal(sextant.round_to([below + 1, 1e300, np.inf], dtype), [beyond] * 3)
            self.assertEqual(np.signbit(sextant.round_to(-1e-30, dtype)), not dtype.endswith("uz"))

    def test_to_4_bits_and_integers(self):
        self.assertEqual(sextant._values_of("f4_e2m1")[:8].tolist(), [0, 0.5, 1, 1.5, 2, 3, 4, 6])
        x = [5, 2.5, 0.25, -3.5, 6.9, 7]
        np.testing.assert_equal(sextant.round_to(x, "f4_e2m1").tolist(), [4, 2, 0, -4, 6, np.nan])
        for dtype, low, high in (("i8", -128, 127), ("i4", -8, 7)):
            rounded = sextant.round_to([2.5, 3.5, -0.5, 1e9, -1e9], dtype)
            self.assertEqual((rounded.tolist(), rounded.dtype), ([2, 4, 0, high, low], np.int8))
            values = np.arange(low, high + 1)
            bits = sextant._bits_of(values, dtype)
            self.assertEqual(bits.tolist(), (values % (high - low + 1)).tolist())
        self.assertEqual(sextant._values_of("i4").tolist(), [*range(8), *range(-8, 0)])
        powers = sextant._values_of("e8m0")
        self.assertEqual((powers[0], powers[127], powers[254]), (2.0**-127, 1, 2.0**127))
        self.assertTrue(np.isnan(powers[255]))
        self.assertEqual(sextant._bits_of(powers, "e8m0").tolist(), list(range(256)))
        self.assertTrue(np.isnan(sextant.round_to(0, "e8m0")))  # it has no 0

    def test_to_other_dtypes(self):
        self.assertEqual(sextant.round_to([0.1], "f16").dtype, np.float16)
        self.assertEqual(sextant.round_to([0.1], "f32").tolist(), [float(np.float32(0.1))])
        self.assertEqual(sextant.round_to([1e300], "f32").tolist(), [np.inf])


if __name__ == "__main__":
    unittest.main()
