"""Tests of the encodings in absolute.py: `python3 absolute_test.py`."""

import unittest

import numpy

import absolute


class Absolute(unittest.TestCase):
    def added(self, name, position):
        x = numpy.ones((1, 1, len(position), 4), numpy.float32)
        answer = absolute.SYSTEMS[name]["rope"]
        return (answer(x, position=numpy.array([position]), offset=0, R=4, dtype="f32") - 1)[0, 0]

    def test_values_added_to_x(self):
        hot = self.added("absolute_one_hot", [2, 0]).tolist()
        self.assertEqual(hot, [[0, 0, 1, 0], [1, 0, 0, 0]])
        self.assertEqual(self.added("absolute_integer", [7]).tolist(), [[7, 7, 7, 7]])
        self.assertEqual(self.added("absolute_sinusoidal", [0]).tolist(), [[0, 1, 0, 1]])
        same, other = self.added("absolute_learned", [5, 5]), self.added("absolute_learned", [6])
        self.assertTrue((same[0] == same[1]).all() and (same[0] != other[0]).all())


if __name__ == "__main__":
    unittest.main()
