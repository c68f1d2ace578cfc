"""Tests the parts of the subjects that run without the frameworks: masks, blocks, ggml's parameters
of rotary scalings, and the files of claims and of known deviations.

  SEXTANT=build/sextant /usr/bin/python3 -B tools/frameworks/subjects_test.py
"""

import os
import pathlib
import re
import subprocess
import sys
import tomllib
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve()
sys.path[:0] = [str(HERE), str(HERE / "ggml"), str(ROOT / "tools/adapters/python")]
sys.dont_write_bytecode = True
import blocks
import masks
import rotary
import serving
from sextant_adapter import Unsupported

def visible(S, T, B=1, **masking):
    see = masks.visible(B, S, T, **masking)
    return None if see is None else see.astype(int).tolist()


class Masks(unittest.TestCase):
    def test_no_mask_is_none(self):
        self.assertIsNone(visible(2, 3))

    def test_causal_masks_align_at_either_corner(self):
        self.assertEqual(visible(2, 3, mask="causal"), [[[1, 1, 0], [1, 1, 1]]])
        self.assertEqual(visible(2, 3, mask="causal", align="top_left"), [[[1, 0, 0], [1, 1, 0]]])

    def test_windows_chunks_and_segments(self):
        self.assertEqual(visible(3, 3, window=[1, 0]), [[[1, 0, 0], [1, 1, 0], [0, 1, 1]]])
        self.assertEqual(visible(3, 3, window=[-1, 1]), [[[1, 1, 0], [1, 1, 1], [1, 1, 1]]])
        self.assertEqual(visible(3, 3, chunk=2), [[[1, 1, 0], [1, 1, 0], [0, 0, 1]]])
        self.assertEqual(visible(3, 3, segments=[1]), [[[1, 0, 0], [0, 1, 1], [0, 1, 1]]])

    def test_a_query_outside_of_the_keys_is_in_no_segment(self):
        self.assertEqual(visible(3, 3, query_offset=[2], segments=[2]), [[[0, 0, 1], [0] * 3, [0] * 3]])
        self.assertEqual(visible(3, 2, segments=[1]), [[[0, 0], [1, 0], [0, 1]]])
        self.assertEqual(visible(3, 2, segments=[]), [[[0, 0], [1, 1], [1, 1]]])

    def test_a_batch_has_its_own_length(self):
        self.assertEqual(visible(1, 3, B=2, key_length=[1, 2]), [[[1, 0, 0]], [[1, 1, 0]]])

    def test_the_first_query_may_be_at_any_key(self):
        self.assertEqual(visible(1, 3, mask="causal", query_offset=[1]), [[[1, 1, 0]]])
        self.assertEqual(visible(1, 2, B=2, mask="causal", query_offset=[0, 1]), [[[1, 0]], [[1, 1]]])
        self.assertEqual(masks.earlier_keys(2, 5), 3)
        self.assertEqual(masks.earlier_keys(2, 5, align="top_left"), 0)
        self.assertEqual(masks.earlier_keys(2, 5, query_offset=[1, 1]), 1)
        self.assertIsNone(masks.earlier_keys(2, 5, query_offset=[1, 2]))

    def test_all_attributes_of_a_case_may_be_given(self):
        see = masks.visible(1, 1, 2, mask="causal", S=1, T=2, B=1, H=3, empty_rows="zero")
        self.assertEqual(see.tolist(), [[[True, True]]])
        self.assertEqual(masks.earlier_keys(2, 5, S=2, T=5, window=None), 3)

    def test_the_mask_is_added_in_the_type_of_the_bias(self):
        see = np.array([[[True, False]]])
        mask = masks.additive(see, np.full((1, 1, 1, 2), 0.1))
        self.assertEqual((mask.dtype, mask.tolist()), (np.float64, [[[[0.1, -np.inf]]]]))
        self.assertEqual(masks.additive(see).tolist(), [[[[0, -np.inf]]]])

    def test_zeros_without_a_promise_are_unsupported(self):
        see = np.array([[[True], [False]]])
        masks.expect_no_zeros(see, "unspecified")
        masks.expect_no_zeros(see[:, :1], "zero")
        with self.assertRaises(Unsupported):
            masks.expect_no_zeros(see, "zero")


def proven_frequencies(scaling, R, base, rest=""):
    """inv_freq and attention_factor, proven by this project."""
    call = [PROGRAM, "eval", "rope_frequencies", f"scaling={scaling}", f"R={R}", f"base={base}",
            "dtype=f64", *rest.split()]  # fmt: skip
    out = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    values = [line.split()[1] for line in out.splitlines() if re.match(r"inv_freq|attention_f", line)]
    return [float(value) for value in values[:-1]], float(values[-1])


class Scalings(unittest.TestCase):
    """The parameters for ggml give the proven frequencies."""

    def frequencies(self, scaling, R, base, seq_len=None):
        rope = rotary.rotary(None, base, scaling, seq_len, R)
        factors = rope.factors or [1] * (R // 2)
        return [rope.base ** (-2 * k / R) / factors[k] * rope.scale for k in range(R // 2)], rope.amplitude

    def check(self, text, scaling, R=16, base=10000, seq_len=None):
        rest = "" if seq_len is None else f"seq_len={seq_len}"
        proven, amplitude = proven_frequencies(text, R, base, rest)
        ours, factor = self.frequencies(scaling, R, base, seq_len)
        np.testing.assert_allclose(ours, proven, rtol=1e-13)
        self.assertAlmostEqual(factor, amplitude, places=14)

    def test_none_and_linear(self):
        self.check("none", {"type": "none"})
        self.check("linear(factor=8)", {"type": "linear", "factor": 8})

    def test_scalings_of_the_base(self):
        self.check("ntk(factor=4)", {"type": "ntk", "factor": 4})
        self.check("dynamic(factor=10,max_position_embeddings=2048)",
                   {"type": "dynamic", "factor": 10, "max_position_embeddings": 2048}, seq_len=9000)  # fmt: skip

    def test_a_factor_for_each_pair(self):
        self.check("ntk_mixed(factor=2.5,mixed_b=1.5)",
                   {"type": "ntk_mixed", "factor": 2.5, "mixed_b": 1.5})  # fmt: skip
        llama3 = {"factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
                  "original_max_position_embeddings": 8192}  # fmt: skip
        text = ",".join(f"{name}={value}" for name, value in llama3.items())
        self.check(f"llama3({text})", {"type": "llama3", **llama3}, R=64, base=500000)

    def test_the_lists_of_longrope(self):
        lists = {"short_factor": [1, 1.5], "long_factor": [2, 40.5]}
        text = ("longrope(short_factor=[1,1.5],long_factor=[2,40.5],"
                "original_max_position_embeddings=4096,factor=32)")  # fmt: skip
        scaling = {"type": "longrope", **lists, "original_max_position_embeddings": 4096, "factor": 32,
                   "attention_factor": None, "short_mscale": None, "long_mscale": None}  # fmt: skip
        for seq_len in (4096, 4097):
            self.check(text, scaling, R=4, seq_len=seq_len)

    def test_other_scalings_are_unsupported(self):
        with self.assertRaises(Unsupported):
            rotary.rotary(None, 10000, {"type": "explicit", "inv_freq": [1]}, None, 2)


class Blocks(unittest.TestCase):
    def test_a_row_for_each_block_moves_no_number(self):
        x = np.arange(12)
        self.assertEqual(serving.rows_of_blocks(x.reshape(2, 1, 2, 3))[1].tolist(), [3, 4, 5])
        self.assertEqual(serving.rows_of_blocks(x.reshape(2, 3, 1, 2))[1].tolist(), [6, 7, 8, 9, 10, 11])
        with self.assertRaises(Unsupported):
            serving.rows_of_blocks(x.reshape(1, 2, 2, 3))

    def test_half_a_block_of_ggml_is_in_the_low_bits(self):
        patterns = np.arange(16, dtype=np.uint8)
        packed = blocks._bytes(patterns)
        self.assertEqual(packed[:2].tolist(), [0x80, 0x91])
        self.assertEqual(blocks._nibbles(packed).tolist(), patterns.tolist())

    def test_a_type_of_ggml_has_its_own_size_of_blocks(self):
        self.assertEqual(blocks._type("f4_e2m1", "f8_e4m3fn", (3, 1, 4, 16)), "nvfp4")
        for codes, scale, shape in (("i8", "f16", (1, 1, 1, 33)), ("i8", "f32", (1, 1, 1, 32)),
                                    ("i8", "f16", (1, 2, 1, 32)), ("f4_e2m1", "f8_e4m3fn", (1, 1, 3, 16))):  # fmt: skip
            with self.assertRaises(Unsupported):
                blocks._type(codes, scale, shape)


class Files(unittest.TestCase):
    def setUp(self):
        self.frameworks = tomllib.loads((HERE / "frameworks.toml").read_text())

    def test_every_framework_has_a_file_of_known_deviations(self):
        files = {path.stem for path in (HERE / "known").glob("*.toml")}
        self.assertEqual(files, set(self.frameworks))

    def test_every_known_deviation_has_a_reason(self):
        for name in self.frameworks:
            for entry in tomllib.loads((HERE / "known" / f"{name}.toml").read_text()).get("expect", []):
                self.assertNotIn(entry["reason"], ("", "..."), name)

    def test_an_operation_that_may_be_absent_is_claimed(self):
        for name, framework in self.frameworks.items():
            self.assertLessEqual(set(framework.get("may_lack", [])), set(framework["claims"]), name)

    def test_the_lock_file_names_versions_and_no_host_of_a_registry(self):
        for name in ("package.json", "package-lock.json"):
            self.assertNotIn("registry", (HERE / name).read_text())
            self.assertNotIn("resolved", (HERE / name).read_text())


if __name__ == "__main__":
    unittest.main()
