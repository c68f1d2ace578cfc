"""Tests of the kinds of tensors: each is read correctly or refused with one clear error.

    SEXTANT=build/sextant python3 tools/python/tensors_test.py
"""

import ctypes
import os
import pathlib
import sys
import types
import unittest
import unittest.mock

import numpy
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

BUILD = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve().parent
sys.path.insert(0, str(BUILD / "python"))

import sextant  # noqa: E402

HALVES = [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]


class Relabelled:
    """The memory of an array, of another type of DLPack."""

    def __init__(self, array, code):
        self.array, self.code = array, code

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self):
        capsule = self.array.__dlpack__()
        pointer = sextant._tensors._capsule_pointer(capsule, b"dltensor")
        tensor = ctypes.cast(pointer, ctypes.POINTER(sextant._library.DLTensor))
        tensor.contents.dtype.code = self.code
        return capsule


class TorchLike:
    """A torch tensor with a dtype that this torch may not have."""

    def __init__(self, tensor, dtype):
        self.tensor, self.dtype = tensor, dtype

    def __getattr__(self, name):
        return getattr(self.tensor, name)

    def detach(self):
        return self.tensor


class OnCuda:
    """A tensor of another library on CUDA device 0: its memory must not be read. `methods` can copy it."""

    def __init__(self, tensor, **methods):
        self.tensor, self.asked = tensor, []
        for name, method in methods.items():
            setattr(self, name, method)

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **how):
        self.asked.append(how)
        if how != {"dl_device": (1, 0), "copy": True}:
            raise AssertionError(f"asked for {how}")
        return self.tensor.__dlpack__()


class TorchOnCuda(torch.Tensor):
    """A torch tensor whose values can be read only after .cpu()."""

    __torch_function__ = torch._C._disabled_torch_function_impl
    device = torch.device("cuda:0")

    def detach(self):
        return self

    def data_ptr(self):
        raise AssertionError("the memory of a device was read")

    def cpu(self):
        return self.as_subclass(torch.Tensor)


def fails_asynchronously():
    raise RuntimeError("CUDA error: an illegal memory access\nFor debugging consider ...")


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
        record = numpy.zeros((3, 2), [("other", "u1"), ("value", "f4")])
        record["value"] = columns
        for given in (columns, record["value"], table.numpy()[:, 1::2], table.t()[1::2].t(), table[:, [1, 3]],
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
        for array in (read_only, numpy.broadcast_to(x[:1], (3, 2)), numpy.broadcast_to(x[:, :1], (3, 2)),
                      memoryview(x), x.tolist()):
            self.conforms(array, question="softmax dtype=f32")
        self.conforms(numpy.zeros((3, 2), ">f2"), self.y.half())

    def proven(self, x, question="softmax dtype=f64"):
        return sextant.prove(question, {"x": x})["y"].high.tolist()

    # Finite values of the four types with 8 bits, each once as bytes and once as numbers.
    def test_bits_of_8_bit_floats(self):
        for dtype, about in sextant.adapter._TYPES.items():
            if about.stored != "u1" or not dtype.startswith("f8"):
                continue
            values = sextant.adapter._values_of(dtype)
            bits = numpy.flatnonzero(numpy.isfinite(values)).astype("u1").reshape(-1, 1)
            expected = self.proven(values[bits])
            self.assertEqual(self.proven(bits, f"softmax dtype=f64 dtype.x={dtype}"), expected)
            code = next(entry["dlpack"] for entry in sextant._library.TYPES if entry["name"] == dtype)
            self.assertEqual(self.proven(Relabelled(bits, code)), expected)
            # As numpy with ml_dtypes and as torch call it.
            array = types.SimpleNamespace(
                dtype=types.SimpleNamespace(name="float8" + dtype[2:], isnative=True), shape=bits.shape,
                strides=bits.strides, __array_interface__=bits.__array_interface__)
            view = sextant._tensors._of_numpy("x", array)
            self.assertEqual((view.tensor.dtype.code, view.tensor.dtype.bits), (code, 8))
            view = sextant._tensors._of_torch("x", TorchLike(torch.from_numpy(bits), "torch.float8" + dtype[2:]))
            self.assertEqual((view.tensor.dtype.code, view.tensor.dtype.bits), (code, 8))

    def test_codes_are_integers_of_numpy_and_torch_or_bits(self):
        x = numpy.float32([[[[127, -3, 0.5]]]])
        codes, scale = numpy.int8([[[[127, -3, 0]]]]), numpy.float32([[1]])
        for given in (codes, torch.from_numpy(codes), codes.astype("i4"), codes.astype("f4")):
            sextant.assert_conforms("quantize dtype.codes=i8", {"x": x}, {"scale": scale, "codes": given})
        sextant.assert_conforms("quantize", {"x": x}, {"scale": scale, "codes": codes})
        with self.assertRaises(sextant.DoesNotConform):
            sextant.assert_conforms("quantize", {"x": x}, {"scale": scale, "codes": codes + numpy.int8(-1)})
        x, bits = numpy.float32([[[[6, -3, 0.5]]]]), numpy.uint8([[[[7, 0xD, 1]]]])
        sextant.assert_conforms("quantize dtype.codes=f4_e2m1", {"x": x}, {"scale": scale, "codes": bits})
        x = numpy.float32([[[[1, 2]]]])
        sextant.assert_conforms("rope pairing=half", {"x": x, "position": numpy.int8([0])}, {"y": x})

    def test_tensors_on_a_device_are_copied_by_their_library(self):
        x = torch.zeros(3, 2)
        self.conforms(x.as_subclass(TorchOnCuda), self.y.as_subclass(TorchOnCuda))
        for dtype in (torch.bfloat16, torch.float16, torch.float64):
            self.conforms(x.to(dtype).as_subclass(TorchOnCuda), self.y.to(dtype).as_subclass(TorchOnCuda))
        bits = torch.zeros(3, 2, dtype=torch.uint8).as_subclass(TorchOnCuda)
        view = sextant._tensors._of_torch("x", TorchLike(bits, "torch.float8_e4m3fn"))
        self.assertEqual(view.tensor.dtype.bits, 8)
        # Each library's own method comes before DLPack.
        for method, copy in (("cpu", x), ("get", x.numpy()), ("asnumpy", x.numpy()), ("numpy", x.numpy())):
            given = OnCuda(x, **{method: lambda: copy})
            self.conforms(given)
            self.assertEqual(given.asked, [])
        given = OnCuda(x.bfloat16())
        self.conforms(given, self.y.bfloat16())
        self.assertEqual(len(given.asked), 1)
        self.conforms(types.SimpleNamespace(asnumpy=x.numpy))

    def test_arrays_of_jax(self):
        class Array(OnCuda):
            pass

        jax = types.SimpleNamespace(Array=Array, device_get=lambda array: array.tensor.numpy())
        with unittest.mock.patch.dict(sys.modules, jax=jax):
            self.conforms(Array(torch.zeros(3, 2)))
            jax.device_get = fails_asynchronously
            with self.assertRaisesRegex(sextant.InputError, "^x is on the devices of JAX, and no copy .* takes"):
                self.conforms(Array(torch.zeros(3, 2)))

    def test_tensors_on_a_device_that_cannot_be_copied(self):
        x = torch.zeros(3, 2)
        advice = "give such a copy, for example an array of numpy"

        class Old(OnCuda):
            def __dlpack__(self, stream=None):
                raise AssertionError("the memory of a device was asked for")

        class Ignores(OnCuda):
            def __dlpack__(self, **how):
                capsule = self.tensor.__dlpack__()
                pointer = sextant._tensors._capsule_pointer(capsule, b"dltensor")
                tensor = ctypes.cast(pointer, ctypes.POINTER(sextant._library.DLTensor))
                tensor.contents.device.device_type = 2
                return capsule

        self.refused("x is on CUDA device 0, and no copy in the memory of the CPU could be made (", Old(x))
        self.refused(advice, Old(x))
        self.refused("could be made (CUDA error: an illegal memory access): " + advice,
                     OnCuda(x, cpu=fails_asynchronously))
        too = "x is on CUDA device 0, and its copy too: give a copy in the memory of the CPU"
        self.refused(too, Ignores(x))
        stays = OnCuda(x)
        stays.cpu = lambda: stays
        self.refused(too, stays)
        failing = x.as_subclass(TorchOnCuda)
        failing.cpu = fails_asynchronously
        self.refused("x is on device cuda:0, and no copy in the memory of the CPU could be made (CUDA error: ",
                     failing)

    def test_the_adapter_has_the_types_of_the_library(self):
        library = {entry["name"]: (entry["in_messages"], entry["bits"], entry["in_numpy"])
                   for entry in sextant._library.TYPES if "in_messages" in entry}
        adapter = {}
        for name, about in sextant.adapter._TYPES.items():
            in_numpy = not about.precision or about.stored == about.array
            bits = about.bits if about.precision else 8 * numpy.dtype(about.stored).itemsize
            adapter[name] = about.message, bits, in_numpy
        self.assertEqual(adapter, library)

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
