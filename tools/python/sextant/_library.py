"""libsextant.so by ctypes: the functions of tools/c/sextant.h."""

import ctypes
import json
import os
import pathlib
import threading

NAME = "libsextant.so.0"


class InputError(ValueError):
    """The call or its tensors are wrong."""


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", DLDevice), ("ndim", ctypes.c_int),
                ("dtype", DLDataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("tensor", ctypes.POINTER(DLTensor))]


PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, ctypes.c_void_p)


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("recipe", ctypes.c_char_p),
                ("strict", ctypes.c_int), ("threads", ctypes.c_int), ("progress", PROGRESS),
                ("user", ctypes.c_void_p), ("keep", ctypes.c_char_p),
                ("budget_elements", ctypes.c_size_t), ("budget_seed", ctypes.c_uint64)]


# The addresses of a question and of `user`.
ANSWER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_TENSOR_OF = ctypes.CFUNCTYPE(ctypes.POINTER(DLTensor), ctypes.c_void_p, ctypes.c_char_p)


class Question(ctypes.Structure):
    """SextantQuestion of sextant_subject.h; the getters of attributes are not used: `json` has all."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("operation", ctypes.c_char_p),
                ("case_line", ctypes.c_char_p), ("dtype", ctypes.c_char_p),
                *((name, ctypes.c_void_p)
                  for name in ("type", "number", "integer", "boolean", "text", "list")),
                ("input", _TENSOR_OF), ("output", _TENSOR_OF),
                ("answered", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)),
                ("fail", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)),
                ("json", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p))]


class Implementation(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("recipe", ctypes.c_char_p),
                ("answer", ANSWER), ("user", ctypes.c_void_p)]


class IdentifyOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("against", ctypes.c_char_p),
                ("part", ctypes.c_char_p), ("layer", ctypes.c_char_p)]


class ProfileOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("by", ctypes.c_char_p), ("below", ctypes.c_double),
                ("worst", ctypes.c_size_t), ("worst_seed", ctypes.c_uint64)]


class Array(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(ctypes.c_double)),
                ("shape", ctypes.POINTER(ctypes.c_size_t)), ("rank", ctypes.c_size_t),
                ("count", ctypes.c_size_t), ("dtype", ctypes.c_char_p)]


def beside(name):
    """The path of a file of Sextant: in this package, as in a wheel, in the build folder that contains it,
    or in share/sextant of its prefix; else its name, for the loader or PATH to find."""
    here = pathlib.Path(__file__).resolve().parent
    paths = (here / folder / name for folder in (".", "../..", "../../../../share/sextant"))
    return next((str(path.resolve()) for path in paths if path.is_file()), name)


def _load():
    try:
        library = ctypes.CDLL(os.environ.get("SEXTANT_LIBRARY") or beside(NAME))
    except OSError as error:
        raise ImportError(f"sextant: {error}; SEXTANT_LIBRARY may name libsextant.so") from None
    result = ctypes.c_void_p
    question = [ctypes.c_char_p, ctypes.POINTER(Tensor), ctypes.c_size_t, ctypes.POINTER(Options),
                ctypes.POINTER(result)]
    options = [ctypes.POINTER(Options), ctypes.POINTER(result)]
    implementation = ctypes.POINTER(Implementation)
    for name, returned, arguments in (
        ("judge", ctypes.c_int, question),
        ("prove", ctypes.c_int, question),
        ("tolerance", ctypes.c_int, [*question[:3], ctypes.c_double, ctypes.c_double, *options]),
        ("expect", ctypes.c_int, [ctypes.c_char_p] * 3 + [result, ctypes.POINTER(result)]),
        ("identify", ctypes.c_int, [ctypes.c_char_p, implementation, ctypes.POINTER(IdentifyOptions), *options]),
        ("profile", ctypes.c_int, [ctypes.c_char_p, implementation, ctypes.c_size_t,
                                   ctypes.POINTER(ProfileOptions), *options]),
        ("draw", ctypes.c_int, [ctypes.c_char_p, ctypes.POINTER(result)]),
        ("cases", ctypes.c_int, [ctypes.c_char_p, ctypes.POINTER(result)]),
        ("status", ctypes.c_int, [result]),
        ("json", ctypes.c_char_p, [result]),
        ("array", ctypes.c_int, [result, ctypes.c_char_p, ctypes.POINTER(Array)]),
        ("free", None, [result]),
        ("last_error", ctypes.c_char_p, []),
        ("version", ctypes.c_char_p, []),
        ("types", ctypes.c_char_p, []),
    ):
        function = getattr(library, "sextant_" + name)
        function.restype, function.argtypes = returned, arguments
    return library


library = _load()
# Of each element type: name, bits, dlpack, array, in_numpy (sextant_types in sextant.h).
TYPES = json.loads(library.sextant_types())
ARRAYS = {entry["name"]: entry["array"] for entry in TYPES}  # "f8_e4m3fn" -> "float8_e4m3fn"
IN_NUMPY = {entry["array"] for entry in TYPES if entry["in_numpy"]}
_INVALID, _OUT_OF_MEMORY = 1, 3


def version():
    return library.sextant_version().decode()


def check(status):
    """Raises the error of this thread's last call."""
    if status == 0:
        return
    text = library.sextant_last_error().decode(errors="replace")
    if status == _INVALID:
        raise InputError(text)
    if status == _OUT_OF_MEMORY:
        raise MemoryError(text)
    raise RuntimeError(f"sextant: {text}")


def call(function, arguments):
    """The result of sextant_<function>(*arguments, &result). The library runs on a thread of its own,
    so that Ctrl-C ends the call: Python's signal handlers run only on the waiting main thread. An
    Options among the arguments gets the callback that ends it."""
    handle = ctypes.c_void_p()
    started, ended, cancelled, errors = *(threading.Event() for _ in range(3)), []
    progress = PROGRESS(lambda done, user: cancelled.is_set())
    for argument in arguments:
        if isinstance(argument, Options):
            argument.progress = progress

    def run():
        started.set()
        try:
            if cancelled.is_set():
                return
            check(getattr(library, "sextant_" + function)(*arguments, ctypes.byref(handle)))
        except BaseException as error:
            errors.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()
        ended.wait()
    except BaseException:
        cancelled.set()
        # An interrupt within start() may come before the thread exists: then nothing will end.
        if started.wait(timeout=1):
            ended.wait()
        if handle:
            library.sextant_free(handle)
        raise
    thread.join()
    if errors:
        raise errors[0]
    return handle
