"""Tests of .npz and safetensors files: they hold the same tensors as the HDF5 file.

    SEXTANT=build/sextant python3 tools/cli/export_test.py
"""

import json
import os
import resource
import struct
import subprocess
import unittest
import zipfile

import h5py
import numpy

from program import ONE_CASE, PROGRAM, ProgramTest

CASES = ("rms_norm N=3 M=5 dtype=bf16", "rms_norm N=3 M=3 dtype=f16", "rms_norm N=2 M=2 dtype=f64",
         "rope pairing=half S=3 H=1 D=4 @position=0,1,8191", "softmax N=0 M=3",
         "rope_frequencies R=4 dtype=f32", "softmax N=2 M=3 dtype.x=f8_e4m3fn dtype.y=f8_e5m2fnuz")
FORMATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "BF16": "<u2", "F8_E4M3": "u1",
           "F8_E5M2FNUZ": "u1"}
NAMED = {"BF16": "bf16", "F8_E4M3": "f8_e4m3fn", "F8_E5M2FNUZ": "f8_e5m2fnuz"}  # numpy does not have them


def from_hdf5(path):
    """Tensors by path, with their dtype: {"cases/0000/inputs/x": (array, "bf16")}."""
    tensors = {}

    def add(name, item):
        if isinstance(item, h5py.Dataset):
            tensors[name] = item[()], item.attrs.get("dtype", b"").decode()

    def visit(group, path):  # visititems shows a dataset with several names once
        for name, item in group.items():
            visit(item, f"{path}{name}/") if isinstance(item, h5py.Group) else add(path + name, item)

    with h5py.File(path) as file:
        visit(file, "")
        texts = {f"cases/{name}/case": case.attrs["case"].decode() for name, case in file["cases"].items()}
        texts.update({name: text.decode() for name, text in file.attrs.items()})
    return tensors, texts


def from_safetensors(path):
    """A reader from the public description of the format."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8:8 + size]), data[8 + size:]
    texts, tensors, end = header.pop("__metadata__"), {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        assert begin == end and (8 + size + begin) % numpy.dtype(FORMATS[entry["dtype"]]).itemsize == 0
        end = stop
        array = numpy.frombuffer(body[begin:end], FORMATS[entry["dtype"]]).reshape(entry["shape"])
        if entry["dtype"] == "BF16":
            array = (array.astype("<u4") << 16).view("<f4")
        tensors[name] = array, NAMED.get(entry["dtype"], "")
    assert end == len(body)
    return tensors, texts


def from_npz(path):
    with numpy.load(path) as file:
        texts = json.loads(file["metadata.json"])
        tensors = {name: (file[name], texts.pop(name + "/dtype", ""))
                   for name in file.files if name != "metadata.json"}
    return tensors, texts


class Exports(ProgramTest):
    def store(self, name, *words, command="golden", **options):
        result = self.run_it(command, *(words or CASES), "-o", name, **options)
        self.assertIn(result.returncode, (0, 4), result.stderr)
        return self.path(name)

    def assert_same(self, actual, expected):
        self.assertEqual(actual[1], expected[1])
        self.assertEqual(sorted(actual[0]), sorted(expected[0]))
        for name, (array, dtype) in expected[0].items():
            other, other_dtype = actual[0][name]
            self.assertEqual((other.dtype, other.shape, other.tobytes(), other_dtype),
                             (array.dtype, array.shape, array.tobytes(), dtype), name)

    def test_every_format_holds_the_same_tensors_and_texts(self):
        expected = from_hdf5(self.store("a.h5"))
        named = sorted(dtype for _, dtype in expected[0].values() if dtype)
        self.assertEqual(named, ["bf16", "bf16", "f8_e4m3fn", "f8_e5m2fnuz"])
        self.assertEqual(expected[0]["cases/0002/golden/y/value"][0].dtype, "f8")
        self.assert_same(from_safetensors(self.store("a.safetensors")), expected)
        self.assert_same(from_npz(self.store("a.npz")), expected)

    def test_inputs_and_answers_have_the_same_formats(self):
        for command, more in ("inputs", ()), ("answer", ("--subject", "recipe:f32_compute")):
            expected = from_hdf5(self.store("a.h5", *CASES, *more, command=command))
            if command == "answer":
                with h5py.File(self.path("a.h5")) as file:
                    recipes = [case.attrs["recipe"].decode() for case in file["cases"].values()]
                self.assertEqual(recipes, ["f32_compute"] * len(CASES))
                expected[1].update({f"cases/{i:04}/recipe": recipe for i, recipe in enumerate(recipes)})
            self.assert_same(from_safetensors(self.store("a.safetensors", *CASES, *more, command=command)),
                             expected)
            self.assert_same(from_npz(self.store("a.npz", *CASES, *more, command=command)), expected)

    def test_a_radius_is_stored_where_it_is_not_0(self):
        tie = "activation kind=swish F=1 N=1 dtype=f32 @x=-1000"
        names = {}
        for name in "a.h5", "a.npz", "a.safetensors":
            self.run_it("golden", tie, ONE_CASE, "-o", name)
            read = {"h5": from_hdf5, "npz": from_npz, "safetensors": from_safetensors}[name.split(".")[1]]
            names[name] = sorted(read(self.path(name))[0])
        self.assertEqual(names["a.npz"], names["a.h5"])
        self.assertEqual(names["a.safetensors"], names["a.h5"])

    def test_the_bytes_are_reproducible(self):
        for name in "a.npz", "a.safetensors":
            first = self.store(name).read_bytes()
            self.assertEqual(self.store(name).read_bytes(), first)
        with zipfile.ZipFile(self.path("a.npz")) as file:
            self.assertIsNone(file.testzip())
            self.assertEqual({info.compress_type for info in file.infolist()}, {zipfile.ZIP_STORED})
            self.assertEqual({info.date_time for info in file.infolist()}, {(1980, 1, 1, 0, 0, 0)})

    def test_an_exported_tensor_can_be_judged(self):
        file = self.store("a.safetensors", ONE_CASE)
        at = f"{file.name}:cases/0000"
        result = self.run_it("judge", "rms_norm", f"x={at}/inputs/x", f"weight={at}/inputs/weight",
                             f"y={at}/golden/y/value")
        self.assertIn("conforms (exact)", result.stdout, result.stderr)

    def test_eval_writes_every_format(self):
        self.store("a.h5", ONE_CASE)
        for name in "a.npz", "a.safetensors":
            self.assertEqual(self.run_it("eval", *ONE_CASE.split(), "-o", name).returncode, 0)
        self.assert_same(from_npz(self.path("a.npz")), from_hdf5(self.path("a.h5")))
        self.assert_same(from_safetensors(self.path("a.safetensors")), from_hdf5(self.path("a.h5")))

    def test_unknown_endings_are_refused(self):
        for name in "x.npy", "x.json", "x.NPZ", "x.safetensor", "x.pt":
            for command in (("eval", *ONE_CASE.split()), ("golden", ONE_CASE), ("inputs", ONE_CASE),
                            ("answer", ONE_CASE, "--subject", "fast")):
                result = self.run_it(*command, "-o", name)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(f"{name}: no format has the ending .{name[2:]}, expected one of: "
                              ".h5 .hdf5 .npz .safetensors\n", result.stderr)
        self.assertEqual(self.files(), [])

    def test_an_unwritable_file_is_one_error_and_leaves_nothing(self):
        large = "rms_norm N=640 M=64"
        for name in "a.npz", "a.safetensors":
            result = self.run_it("golden", ONE_CASE, "-o", f"nowhere/{name}")
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"sextant: nowhere/{name}: cannot be written", result.stderr)
            for size in 0, 8192, 200000:
                limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
                result = self.run_it("golden", large, "-o", name, preexec_fn=limit)
                self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result.stderr)
                self.assertRegex(result.stderr, f"^sextant: {name}: cannot be written: File too large")
                self.assertEqual(self.files(), [])

    def test_a_signal_leaves_no_file(self):
        for name in "a.npz", "a.safetensors":
            command = [PROGRAM, "golden", ONE_CASE, "linear N=64 M=4096 F=64 dtype=f64", "-o", name]
            with subprocess.Popen(command, cwd=self.folder.name) as program:
                while not self.files():
                    pass
                program.terminate()
            self.assertEqual((program.returncode, self.files()), (-15, []))

    def test_the_size_of_a_large_file_is_announced(self):
        for dtype in "f32", "bf16":  # .npz has bf16 in f32
            large = f"rope pairing=half H=32 S=4200 D=128 dtype={dtype}"
            result = self.run_it("inputs", large, "-o", "a.npz")
            self.assertEqual((result.returncode, result.stderr),
                             (0, "sextant: a.npz will have about 65 MiB\n"))
            self.assertEqual(os.path.getsize(self.path("a.npz")) >> 20, 65)
        self.assertEqual(self.run_it("inputs", ONE_CASE, "-o", "b.npz").stderr, "")


if __name__ == "__main__":
    unittest.main()
