"""Tests of sextant.assert_computes: functions of numpy and torch that compute, and such that cheat.

    SEXTANT=build/sextant python3 tools/python/computes_test.py
"""

import os
import pathlib
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve().parent
sys.path.insert(0, str(BUILD / "python"))

import sextant  # noqa: E402

KERNELS = """
import os, sys
import numpy as np
import sextant
import torch

def softmax(x):
    y = np.exp(x - x.max(-1, keepdims=True))
    return (y / y.sum(-1, keepdims=True)).astype(x.dtype)

kept = {}
def by_address(x):
    key = x.ctypes.data, x.shape
    if key not in kept:
        kept[key] = softmax(x)
    return kept[key]

def by_object(x):
    if kept.get("x") is not x:
        kept["x"], kept["y"] = x, softmax(x)
    return kept["y"]

def in_place(x):
    x -= x.max(-1, keepdims=True)
    return softmax(x)

def uninitialised(x):
    y = softmax(x)
    y[0] += np.empty(4096, np.uint8)[2000] / np.float32(255)
    return y

def rms_norm(x, weight, eps, unit_offset):
    if unit_offset:
        raise sextant.Unsupported("unit_offset")
    v = x.float()
    return ((v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + eps)) * weight.float()).to(x.dtype)

def rms_by_address(x, weight, eps, unit_offset):
    key = x.data_ptr(), x.shape
    if key not in kept:
        kept[key] = rms_norm(x, weight, eps, unit_offset)
    return kept[key]

def rms_by_x(x, weight, eps, unit_offset):
    key = x.float().numpy().tobytes(), x.shape, x.dtype
    if key not in kept:
        kept[key] = rms_norm(x, weight, eps, unit_offset)
    return kept[key]

def rms_by_version(x, weight, eps, unit_offset):
    key = x.data_ptr(), x.shape, x._version
    if key not in kept:
        kept[key] = rms_norm(x, weight, eps, unit_offset)
    return kept[key]

def rms_in_place(x, weight, eps, unit_offset):
    y = rms_norm(x, weight, eps, unit_offset)
    x.copy_(y)
    return y

def spy(x):
    with open(os.environ["SPY"], "a") as seen:
        print(open("/proc/self/environ").read(), sys.argv, sys._getframe(2).f_locals, file=seen)
        for name in os.listdir("/proc/self/fd"):
            print("descriptor", name, file=seen)
    return softmax(x)

class Kernels:
    @staticmethod
    def softmax(x):
        return softmax(x)
"""
CASES = ["softmax N=6 M=96", "softmax N=2 M=5"]
NORMS = ["rms_norm N=4 M=64 dtype=bf16", "rms_norm N=4 M=64"]


class Computes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        pathlib.Path(cls.folder.name, "kernels_under_test.py").write_text(KERNELS)
        sys.path.insert(0, cls.folder.name)
        import kernels_under_test

        cls.kernels = kernels_under_test

    @classmethod
    def tearDownClass(cls):
        sys.path.remove(cls.folder.name)
        cls.folder.cleanup()

    def assert_found(self, text, *arguments, **named):
        with self.assertRaises(sextant.NotComputed) as raised:
            sextant.assert_computes(*arguments, **named)
        self.assertIn(text, str(raised.exception))
        return raised.exception.document

    def test_functions_that_compute(self):
        document = sextant.assert_computes(self.kernels.softmax, CASES)
        self.assertEqual(document["counts"]["conform"], 2)
        self.assertGreater(document["fresh"]["questions"], 30)
        sextant.assert_computes(self.kernels.Kernels.softmax, CASES)
        sextant.assert_computes({"softmax": "kernels_under_test:softmax"}, CASES)
        sextant.assert_computes(self.kernels.rms_norm, NORMS, recipe="f32_compute", torch=True)

    def test_functions_that_cheat(self):
        for cheat in (self.kernels.by_address, self.kernels.by_object):
            self.assert_found("returns_earlier_answer", cheat, CASES)
        self.assert_found("the function changed the input x", self.kernels.in_place, CASES)
        self.assert_found("FAILS", self.kernels.uninitialised, CASES)
        how = {"recipe": "f32_compute", "torch": True}
        for cheat in (self.kernels.rms_by_address, self.kernels.rms_by_x, self.kernels.rms_by_version):
            self.assert_found("returns_earlier_answer", cheat, NORMS, **how)
        self.assert_found("the function changed the input x", self.kernels.rms_in_place, NORMS, **how)

    def test_a_seed_asks_the_same_again(self):
        document = self.assert_found("FAILS", self.kernels.by_address, CASES)
        seed = document["fresh"]["seed"]
        again = self.assert_found("FAILS", self.kernels.by_address, CASES, seed=seed)
        self.assertEqual([case["case"] for case in document["cases"]], [case["case"] for case in again["cases"]])
        self.assertEqual([case["message"] for case in document["cases"]],
                         [case["message"] for case in again["cases"]])

    def test_the_process_of_the_function_has_no_seed_and_no_expected_value(self):
        spied = pathlib.Path(self.folder.name, "spied")
        os.environ["SPY"] = str(spied)
        self.addCleanup(os.environ.pop, "SPY")
        document = sextant.assert_computes(self.kernels.spy, CASES)
        seen = spied.read_text()
        self.assertIn("'case': 'softmax M=96 N=6 dtype=f32'", seen)
        self.assertNotIn("seed", seen.replace("'said'", ""))
        for case in document["cases"]:
            self.assertNotIn(case["case"].rpartition("=")[2], seen)
        self.assertLess(len(set(line for line in seen.splitlines() if line.startswith("descriptor"))), 8)

    def test_cases_that_are_declined_are_not_verified(self):
        def check(**named):
            return sextant.assert_computes(self.kernels.rms_norm, NORMS + ["rms_norm N=2 M=4 unit_offset=true"],
                                           recipe="f32_compute", torch=True, **named)

        with self.assertRaisesRegex(sextant.NotVerified, "unit_offset"):
            check()
        self.assertEqual(check(supported_only=True)["counts"]["unsupported"], 1)

    def test_wrong_calls(self):
        for wrong, text in ((lambda x: x, "another process can import"), (3, "another process can import")):
            with self.assertRaisesRegex(sextant.InputError, text):
                sextant.assert_computes(wrong, CASES)
        for cases in (None, ["--supported-only"], [""]):
            with self.assertRaisesRegex(sextant.InputError, "expected a .cases file, a name or a case line"):
                sextant.assert_computes(self.kernels.softmax, cases)
        with self.assertRaisesRegex(sextant.InputError, "'softmaks' is not an operation|no operation 'softmaks'"):
            sextant.assert_computes(self.kernels.softmax, "softmaks N=1")
        self.assert_found("has no attribute 'none'", "kernels_under_test:none", CASES)


if __name__ == "__main__":
    unittest.main()
