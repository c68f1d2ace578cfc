"""Tensors of numpy, torch and every library with __dlpack__, as views for libsextant.so.

A tensor on a device is copied to the CPU by its own library, which waits for the work that computes it.
"""

import ctypes
import sys

from ._library import TYPES, DLDataType, DLDevice, DLTensor, InputError

_CPU_DEVICES = 1, 3, 11  # memory of the CPU, also if pinned by CUDA or ROCm
_CPU = 1
# DLDeviceType of dlpack.h; others are shown as numbers.
_DEVICES = {2: "CUDA", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 13: "CUDA managed", 14: "oneAPI"}
# The methods of Paddle, CuPy, MXNet and TensorFlow that copy a tensor to the CPU.
_COPIES = "cpu", "get", "asnumpy", "numpy"
_COPY_TOO = ("{name} is on {where}, and its copy too: give a copy in the memory of the CPU, for example an "
             "array of numpy")
# By the names of numpy with ml_dtypes, and of torch: "float8_e4m3fn".
_CODES = {entry["array"]: (entry["dlpack"], entry["bits"]) for entry in TYPES}
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


def _code(name, dtype, called):
    """The code and the bits of DLPack of a dtype that numpy or torch calls by this name."""
    if called not in _CODES:
        raise InputError(f"{name} has dtype {dtype}, expected one of: " + " ".join(_CODES))
    return _CODES[called]


def _of_torch(name, tensor):
    if str(tensor.layout) != "torch.strided" or tensor.device.type == "meta" or tensor.is_quantized:
        raise InputError(f"{name} is a torch tensor of layout {tensor.layout} and type {tensor.dtype} on "
                         f"device {tensor.device}, expected a dense one with values")
    code, bits = _code(name, tensor.dtype, str(tensor.dtype).replace("torch.", "", 1))
    if tensor.device.type != "cpu":
        tensor = _copied(name, f"device {tensor.device}", lambda: tensor.detach().cpu())
    try:
        tensor = tensor.detach().resolve_conj().resolve_neg()
        pointer, shape, strides = tensor.data_ptr(), tuple(tensor.shape), tensor.stride()
    except Exception as error:  # of a subclass: nested, functional, distributed tensors
        raise InputError(f"{name} is a {type(tensor).__name__}, expected a tensor with strides and "
                         f"values: {error}") from None
    if pointer == 0 and tensor.numel() > 0:
        raise InputError(f"{name} is a {type(tensor).__name__} without values, expected a tensor with "
                         "values")
    return View(pointer, code, bits, shape, strides, tensor)


def _of_numpy(name, array):
    code, bits = _code(name, array.dtype, array.dtype.name)
    size = max(bits // 8, 1)  # 4 bits take a byte
    if not array.dtype.isnative or any(stride % size for stride in array.strides):
        array = array.astype(array.dtype.newbyteorder("="), order="C")
    strides = [stride // size for stride in array.strides]
    return View(array.__array_interface__["data"][0], code, bits, array.shape, strides, array)


def _copied(name, where, copy):
    """What `copy` makes of a tensor on a device."""
    try:
        return copy()
    except Exception as error:  # of any library
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{name} is on {where}, and no copy in the memory of the CPU could be made "
                         f"({why}): give such a copy, for example an array of numpy") from None


def _of_dlpack(name, tensor):
    try:
        device, number = map(int, tensor.__dlpack_device__())
        where = f"{_DEVICES.get(device, f'DLPack type {device},')} device {number}"
        if device in _CPU_DEVICES:
            capsule = tensor.__dlpack__()
        else:
            for method in _COPIES:
                if hasattr(tensor, method):
                    copy = _copied(name, where, getattr(tensor, method))
                    if hasattr(copy, "__dlpack_device__") and copy.__dlpack_device__()[0] not in _CPU_DEVICES:
                        raise InputError(_COPY_TOO.format(name=name, where=where))
                    return view(name, copy)
            # Without a stream, as the array API standard demands of a copy to the CPU: the producer waits.
            capsule = _copied(name, where, lambda: tensor.__dlpack__(dl_device=(_CPU, 0), copy=True))
        pointer = _capsule_pointer(capsule, b"dltensor")
    except (BufferError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} cannot be read by DLPack: {error}") from None
    result = View.__new__(View)
    result.owner, result.tensor = capsule, ctypes.cast(pointer, ctypes.POINTER(DLTensor)).contents
    if result.tensor.device.device_type not in _CPU_DEVICES:
        raise InputError(_COPY_TOO.format(name=name, where=where))
    return result


def view(name, tensor):
    """The view of an array; raises InputError if its kind is not known."""
    if "torch" in sys.modules and isinstance(tensor, sys.modules["torch"].Tensor):
        return _of_torch(name, tensor)
    if "jax" in sys.modules and isinstance(tensor, sys.modules["jax"].Array):
        tensor = _copied(name, "the devices of JAX", lambda: sys.modules["jax"].device_get(tensor))
    if "numpy" in sys.modules:
        numpy = sys.modules["numpy"]
        if isinstance(tensor, numpy.ma.MaskedArray):
            raise InputError(f"{name} is a masked array, expected one whose values all count")
        if isinstance(tensor, (numpy.ndarray, numpy.generic)):
            return _of_numpy(name, numpy.asarray(tensor))
    if hasattr(tensor, "__dlpack__") and hasattr(tensor, "__dlpack_device__"):
        return _of_dlpack(name, tensor)
    try:
        import numpy
    except ImportError:
        raise InputError(f"{name} is {type(tensor).__name__}, which needs numpy (pip install numpy): give a "
                         "tensor with __dlpack__, or install it") from None
    try:
        array = tensor.asnumpy() if hasattr(tensor, "asnumpy") else numpy.asarray(tensor)
    except Exception as error:  # of a foreign __array__
        raise InputError(f"{name} is no tensor: {error}") from None
    return _of_numpy(name, array)
