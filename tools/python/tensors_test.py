"""Tests of the kinds of tensors: each is read correctly or refused with one clear error.

    SEXTANT=build/sextant python3 tools/python/tensors_test.py
"""

import os
import pathlib
import sys
import unittest

import numpy
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

BUILD = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve().parent
sys.path.insert(0, str(BUILD / "python"))

import sextant  # noqa: E402

HALVES = [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]


class Tensors(unittest.TestCase):
    def setUp(self):
        self.y = torch.tensor(HALVES)

    def conforms(self, x, y=None, question="softmax"):
        sextant.assert_conforms(question, {"x": x}, {"y": self.y if y is None else y})

    def refused(self, message, x):
        with self.assertRaises(sextant.InputError) as caught:
            self.conforms(x)
        self.assertIn(message, str(caught.exception))
        self.assertEqual(str(caught.exception).count("\n"), 0)

    def test_torch(self):
        x = torch.zeros(3, 2)
        self.conforms(x.t().contiguous().t())
        self.conforms(torch.zeros(6, 4)[::2, ::2])
        self.conforms(torch.zeros(3, 1).expand(3, 2))
        self.conforms(torch.tensor(0.0).expand(3, 2))
        self.conforms(torch.nn.Parameter(x))
        self.conforms((torch.nn.Parameter(x) * 2).view(3, 2))
        self.conforms(torch._neg_view(x))
        with torch.inference_mode():
            self.conforms(torch.zeros(3, 2))
        self.conforms(x.bfloat16(), self.y.bfloat16())
        self.conforms(x.bfloat16().t().contiguous().t(), self.y, "softmax dtype=bf16")
        self.conforms(x.numpy(), self.y)

    def test_values_are_read_as_they_are(self):
        table = torch.arange(12.0).reshape(3, 4)
        columns = table[:, 1::2]
        odd = numpy.frombuffer(b"0" + columns.numpy().tobytes(), numpy.uint8)[1:].view("f4").reshape(3, 2)
        for given in (columns, table.numpy()[:, 1::2], table.t()[1::2].t(), table[:, [1, 3]],
                      torch._neg_view(-columns), columns.numpy().astype(">f4"), odd,
                      numpy.asfortranarray(columns.numpy()), columns.numpy()[::-1, ::-1].copy()[::-1, ::-1],
                      torch.nn.Parameter(columns), (torch.nn.Parameter(table) * 1)[:, 1::2]):
            verdict = sextant.judge("soft_cap cap=1000000", {"x": given}, {"y": columns})
            self.assertLess(verdict["y"].error.max(), 1e-6)

    def test_torch_without_values(self):
        self.refused("on device meta, expected a dense one with values", torch.zeros(3, 2, device="meta"))
        with FakeTensorMode():
            fake = torch.zeros(3, 2)
        self.refused("x is a FakeTensor", fake)
        self.refused("layout torch.sparse_coo", torch.zeros(3, 2).to_sparse())
        self.refused("x is a torch tensor of layout torch.strided and type torch.qint8",
                     torch.quantize_per_tensor(torch.zeros(3, 2), 1.0, 0, torch.qint8))
        self.refused("x ", torch.nested.nested_tensor([torch.zeros(2)] * 3))
        self.refused("x has dtype torch.bool", torch.zeros(3, 2) > 0)
        self.refused("x has dtype torch.complex64", torch.zeros(3, 2, dtype=torch.complex64).conj())

    def test_numpy(self):
        x = numpy.zeros((3, 2), "f4")
        read_only = x.copy()
        read_only.flags.writeable = False
        record = numpy.zeros((3, 2), [("other", "u1"), ("value", "f4")])
        odd = numpy.frombuffer(bytes(25), numpy.uint8)[1:].view("f4").reshape(3, 2)
        for array in (read_only, numpy.broadcast_to(x[:1], (3, 2)), numpy.broadcast_to(x[:, :1], (3, 2)),
                      numpy.asfortranarray(x), x[::-1, ::-1], x.astype(">f4"), record["value"], odd,
                      memoryview(x)):
            self.conforms(array)
        self.conforms(numpy.zeros((3, 2), ">f2"), self.y.half())

    def test_numpy_that_is_refused(self):
        x = numpy.zeros((3, 2), "f4")
        self.refused("x is a masked array", numpy.ma.masked_array(x, x == 0))
        for dtype in ("longdouble", "c8", "S4", "M8[s]", [("a", "f4")], "O"):
            self.refused("x has dtype ", x.astype(dtype) if dtype != "M8[s]" else numpy.zeros((3, 2), dtype))
        self.refused("x", [[1.0], [1.0, 2.0]])

    def test_tensors_without_elements(self):
        for x, y in ((torch.zeros(0, 2), torch.zeros(0, 2)), (numpy.zeros((0, 2), "f4"), numpy.zeros((0, 2), "f4"))):
            self.assertEqual(sextant.judge("softmax", {"x": x}, {"y": y}).status_code, 4)
            with self.assertRaisesRegex(sextant.NotVerified, "nothing to judge"):
                sextant.assert_conforms("softmax", {"x": x}, {"y": y})

    def test_huge_broadcast_tensors_are_an_error_and_no_crash(self):
        x = torch.zeros(1).expand(2**31, 2**31)
        with self.assertRaises((sextant.InputError, MemoryError)):
            sextant.judge("softmax", {"x": x}, {"y": x})


if __name__ == "__main__":
    unittest.main()
