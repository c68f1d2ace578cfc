"""Tensors of numpy, torch and every library with __dlpack__, as views for libsextant.so."""

import ctypes
import sys

import numpy

from ._library import DLDataType, DLDevice, DLTensor, InputError

_CPU_DEVICES = 1, 3, 11  # memory of the CPU, also if pinned by CUDA or ROCm
_CPU = 1
_INT, _UINT, _FLOAT, _BFLOAT = 0, 1, 2, 4
_KINDS = {"f": _FLOAT, "i": _INT, "u": _UINT}
_TORCH = {"torch.float64": (_FLOAT, 64), "torch.float32": (_FLOAT, 32), "torch.float16": (_FLOAT, 16),
          "torch.bfloat16": (_BFLOAT, 16), "torch.int64": (_INT, 64), "torch.int32": (_INT, 32),
          "torch.int16": (_INT, 16), "torch.int8": (_INT, 8), "torch.uint8": (_UINT, 8),
          "torch.uint16": (_UINT, 16), "torch.uint32": (_UINT, 32), "torch.uint64": (_UINT, 64)}
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


class View:
    """A DLTensor, and what keeps its memory alive."""

    def __init__(self, pointer, code, bits, shape, strides, owner):
        self.owner = owner
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = (ctypes.c_int64 * len(shape))(*strides)
        self.tensor = DLTensor(pointer, DLDevice(_CPU, 0), len(shape), DLDataType(code, bits, 1),
                               self.shape, self.strides, 0)


def _of_torch(name, tensor):
    if str(tensor.layout) != "torch.strided" or tensor.device.type == "meta" or tensor.is_quantized:
        raise InputError(f"{name} is a torch tensor of layout {tensor.layout} and type {tensor.dtype} on "
                         f"device {tensor.device}, expected a dense one with values")
    if str(tensor.dtype) not in _TORCH:
        raise InputError(f"{name} has dtype {tensor.dtype}, expected one of: " + " ".join(_TORCH))
    code, bits = _TORCH[str(tensor.dtype)]
    try:
        tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
        pointer, shape, strides = tensor.data_ptr(), tuple(tensor.shape), tensor.stride()
    except Exception as error:  # of a subclass: nested, functional, distributed tensors
        raise InputError(f"{name} is a {type(tensor).__name__}, expected a tensor with strides and "
                         f"values: {error}") from None
    if pointer == 0 and tensor.numel() > 0:
        raise InputError(f"{name} is a {type(tensor).__name__} without values, expected a tensor with "
                         "values")
    return View(pointer, code, bits, shape, strides, tensor)


def _of_numpy(name, array):
    bfloat16 = array.dtype.name == "bfloat16"  # of ml_dtypes
    if not bfloat16 and (array.dtype.kind not in _KINDS or array.dtype.itemsize > 8):
        raise InputError(f"{name} has dtype {array.dtype}, expected floats of at most 64 bits, "
                         "bfloat16 of ml_dtypes, or integers")
    size = array.dtype.itemsize
    if not array.dtype.isnative or any(stride % size for stride in array.strides):
        array = numpy.array(array, array.dtype.newbyteorder("="), order="C")
    code = _BFLOAT if bfloat16 else _KINDS[array.dtype.kind]
    strides = [stride // size for stride in array.strides]
    return View(array.__array_interface__["data"][0], code, 8 * size, array.shape, strides, array)


def _of_dlpack(name, tensor):
    try:
        device = int(tensor.__dlpack_device__()[0])
        if device not in _CPU_DEVICES:
            raise InputError(f"{name} is on the DLPack device {device}, expected memory of the CPU: "
                             "copy it first")
        capsule = tensor.__dlpack__()
        pointer = _capsule_pointer(capsule, b"dltensor")
    except (BufferError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} cannot be read by DLPack: {error}") from None
    managed = ctypes.cast(pointer, ctypes.POINTER(DLTensor))
    view = View.__new__(View)
    view.owner, view.tensor = capsule, managed.contents
    return view


def view(name, tensor):
    """The view of an array; raises InputError if its kind is not known."""
    if "torch" in sys.modules and isinstance(tensor, sys.modules["torch"].Tensor):
        return _of_torch(name, tensor)
    if isinstance(tensor, numpy.ma.MaskedArray):
        raise InputError(f"{name} is a masked array, expected one whose values all count")
    if isinstance(tensor, (numpy.ndarray, numpy.generic)):
        return _of_numpy(name, numpy.asarray(tensor))
    if hasattr(tensor, "__dlpack__") and hasattr(tensor, "__dlpack_device__"):
        return _of_dlpack(name, tensor)
    try:
        array = numpy.asarray(tensor)
    except Exception as error:  # of a foreign __array__
        raise InputError(f"{name} is no tensor: {error}") from None
    return _of_numpy(name, array)
