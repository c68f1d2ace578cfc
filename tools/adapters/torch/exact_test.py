"""The PyTorch systems against exact values (mpmath): `python3 exact_test.py`.

The errors of correct systems are within a bound for f32 arithmetic, those of wrong systems are not.
u = 2^-24.
"""

import importlib
import unittest
from pathlib import Path

import mpmath
import numpy
import torch

import rope
import rope_types
import rotary_library as library
import sinusoidal
from subject import FOLDER, TABLE, UNSCALED

U = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
R = 16
mpmath.mp.prec = 200


def frequency_error(form, base, pair):
    """Bound on the relative error of base^(-2k/R) in f32, with functions accurate to 1 ulp (2u)."""
    log = float(mpmath.log(base))
    return U["f32"] * {
        "pow": log + 3,  # rounding of 2k/R: log(base) u; pow: 2u; reciprocal: u
        "exp_log": 2 * log + 2,  # roundings of the logarithm and of the product
        "power_chain": (2 + log) * pair + 2,  # pow(root, -k) multiplies the error of root by k
    }[form]


def angle_and_error(position, pair, width, base, form):
    angle = position * mpmath.mpf(base) ** (-mpmath.mpf(2 * pair) / width)
    return angle, float(abs(angle)) * (frequency_error(form, base, pair) + U["f32"]) * 1.001


def channels(pairing, pair):
    return (pair, pair + R // 2) if pairing == "half" else (2 * pair, 2 * pair + 1)


def worst_ratio(answer, pairing, position, form="pow", dtype="f32", base=10000.0, seed=1):
    """The largest error of y / bound; the bound has 1 rounding of the table, 2 of the rotation."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(1, 2, len(position), R, generator=generator).to(rope.DTYPES[dtype])
    y = answer(
        x=x.float().numpy(), position=numpy.array([position]), pairing=pairing, base=base,
        scaling=UNSCALED, R=R, offset=0, direction="forward", dtype=dtype,
    )  # fmt: skip
    worst = 0.0
    for s, p in enumerate(position):
        for pair in range(R // 2):
            angle, error = angle_and_error(p, pair, R, base, form)
            i, j = channels(pairing, pair)
            for head in range(2):
                a, b = (mpmath.mpf(x[0, head, s, c].item()) for c in (i, j))
                cos, sin = mpmath.cos(angle), mpmath.sin(angle)
                permitted = float(abs(a) + abs(b)) * (error + U["f32"] + 3 * U[dtype]) * 1.01
                for c, exact in ((i, a * cos - b * sin), (j, a * sin + b * cos)):
                    off = float(abs(y[0, head, s, c].item() - exact))
                    worst = max(worst, off / permitted)
    return worst


class Rope(unittest.TestCase):
    positions = [0, 1, 7, 1000, 2047]

    def ratio(self, name, pairing, **more):
        position = more.pop("position", self.positions)
        return worst_ratio(rope.SYSTEMS[name]["rope"], pairing, position, **more)

    def test_correct_forms_are_within_the_bound(self):
        for name in ("matrix", "elementwise", "complex", "library", "gpt_j"):
            self.assertLess(self.ratio(name, "interleaved"), 1, name)
        for name in ("llama", "llama_cast", "qwen2", "qwen2_cast", "baichuan"):
            self.assertLess(self.ratio(name, "half"), 1, name)
        self.assertLess(self.ratio("rotator", "half", form="power_chain"), 1)

    def test_wrong_forms_exceed_the_bound(self):
        for name in (
            "one_frequency_per_channel", "indexed_from_zero", "gpt_j_table_swapped",
            "gpt_j_by_halves",
        ):  # fmt: skip
            self.assertGreater(self.ratio(name, "interleaved"), 100, name)
        self.assertGreater(self.ratio("mixed_rotate_half", "half"), 100)

    def test_base_of_llama_2_long(self):
        self.assertLess(self.ratio("llama", "half", base=500000.0), 1)

    def test_cache_grows_and_keeps_its_first_rows(self):
        self.assertLess(self.ratio("llama", "half", position=[1, 2047, 2048, 5000]), 1)

    def test_cast_llama_is_within_the_bound_until_its_cache_grows(self):
        self.assertLess(self.ratio("llama_cast", "half", dtype="bf16"), 1)
        grown = self.ratio("llama_cast", "half", dtype="bf16", position=[2047, 2048])
        self.assertGreater(grown, 10)

    def test_qwen2_is_within_the_bound_in_bf16_unless_its_buffer_is_cast(self):
        self.assertLess(self.ratio("qwen2", "half", dtype="bf16"), 1)
        self.assertGreater(self.ratio("qwen2_cast", "half", dtype="bf16"), 10)

    def test_positions_in_the_dtype_must_be_exact_integers(self):
        def ratio(dtype, position):
            name = "library_positions_in_input_dtype"
            return self.ratio(name, "interleaved", dtype=dtype, position=position)

        self.assertLess(ratio("f16", [2047, 2048]), 1)
        self.assertGreater(ratio("f16", [2049]), 10)
        self.assertLess(ratio("bf16", [255, 256]), 1)
        self.assertGreater(ratio("bf16", [257]), 10)

    def test_queries_are_the_last_positions_of_the_cached_keys(self):
        position = [98, 99, 100]
        self.assertLess(self.ratio("library_cached_keys", "interleaved", position=position), 1)
        forgotten = self.ratio("library_cached_keys_forgotten", "interleaved", position=position)
        self.assertGreater(forgotten, 100)
        with self.assertRaises(rope.Unsupported):
            self.ratio("library_cached_keys", "interleaved", position=[1, 3])

    def test_llama_2_long_forgotten_is_correct_only_for_base_10000(self):
        self.assertLess(self.ratio("llama_2_long_forgotten", "half"), 1)
        self.assertGreater(self.ratio("llama_2_long_forgotten", "half", base=500000.0), 100)

    def test_matrix_times_vector_is_the_rotation(self):
        matrix = rope.rope_matrix(
            numpy.array([3]), base=10000.0, scaling=UNSCALED, pairing="interleaved", D=R, dtype="f32"
        )
        self.assertEqual(matrix.shape, (1, R, R))
        self.assertEqual(matrix[0, 0, 0].item(), torch.tensor(3.0).cos().item())
        self.assertEqual(matrix[0, 1, 0].item(), torch.tensor(3.0).sin().item())

    def test_other_channels_are_unchanged(self):
        x = numpy.ones((1, 1, 1, 8), numpy.float32)
        y = rope.SYSTEMS["llama"]["rope"](
            x, position=numpy.array([[1]]), pairing="half", base=10000.0, scaling=UNSCALED, R=2,
            offset=4, direction="transpose", dtype="f32",
        )  # fmt: skip
        changed = (y[0, 0, 0] != 1).tolist()
        self.assertEqual(changed, [False] * 4 + [True] * 2 + [False] * 2)
        # transpose rotates (1, 1) by -1 rad: (cos 1 + sin 1, cos 1 - sin 1)
        self.assertAlmostEqual(y[0, 0, 0, 4].item(), 1.3817732907, places=6)


class Table(unittest.TestCase):
    """systems.toml, the programs and the case files must agree."""

    def test_every_system_is_served_by_its_program(self):
        for file in {system["program"] for system in TABLE.values()}:
            program = importlib.import_module(Path(file).stem)
            listed = {name for name, system in TABLE.items() if system["program"] == file}
            self.assertEqual(listed, set(program.SYSTEMS))

    def test_every_case_file_is_used(self):
        checks = [check for system in TABLE.values() for check in system["checks"]]
        used = {check["cases"] for check in checks if "cases" in check}
        self.assertEqual(used, {path.stem for path in (FOLDER / "cases").iterdir()})


class Empty(unittest.TestCase):
    """Questions without elements get answers without elements."""

    def test_no_rotary_channels_or_no_rows(self):
        empty = numpy.zeros((1, 0), numpy.int64)
        given = dict(base=10000.0, scaling=UNSCALED, offset=0, direction="forward", dtype="f32")
        for name, system in rope.SYSTEMS.items():
            x = numpy.zeros((1, 2, 0, 4), numpy.float32)
            self.assertEqual(system["rope"](x, position=empty, R=4, **given).shape, x.shape, name)
            if "rope_frequencies" in system:
                outputs = system["rope_frequencies"](base=2.0, scaling=UNSCALED, R=0, dtype="f64")
                self.assertEqual(outputs["inv_freq"].shape, (0,), name)
        for name, system in sinusoidal.SYSTEMS.items():
            given = dict(base=10000.0, layout="interleaved", denominator="paper", dtype="f32")
            self.assertEqual(system["sinusoidal"](empty[0], M=6, **given).shape, (0, 6), name)


class Frequencies(unittest.TestCase):
    def frequencies(self, name, width, scaling=UNSCALED):
        answer = rope.SYSTEMS[name]["rope_frequencies"]
        return answer(base=10000.0, scaling=scaling, R=width, dtype="f32")["inv_freq"].tolist()

    def test_power_chain_is_within_its_own_bound_only(self):
        exact = [mpmath.mpf(10000) ** (-mpmath.mpf(2 * k) / 128) for k in range(64)]
        off = [abs(f - e) / e for f, e in zip(self.frequencies("rotator", 128), exact)]
        own = [frequency_error("power_chain", 10000, k) for k in range(64)]
        power = [frequency_error("pow", 10000, k) for k in range(64)]
        self.assertTrue(all(o <= p for o, p in zip(off, own)))
        self.assertTrue(any(o > p for o, p in zip(off, power)))
        self.assertAlmostEqual(float(max(off)), 2.5e-6, delta=0.1e-6)

    def test_llama3_keeps_high_divides_low_blends_between(self):
        plain = self.frequencies("qwen2", 128)
        scaling = {"type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
                   "original_max_position_embeddings": 8192}  # fmt: skip
        for f, g in zip(plain, self.frequencies("qwen2", 128, scaling)):
            rotations = 8192 * f / (2 * mpmath.pi)
            share = min(max((rotations - 1) / 3, 0), 1)
            self.assertLessEqual(abs(g - ((1 - share) * f / 8 + share * f)), 16 * U["f32"] * f)

    def test_linear_divides(self):
        halved = [f / 2 for f in self.frequencies("qwen2", 8)]
        self.assertEqual(self.frequencies("qwen2", 8, {"type": "linear", "factor": 2}), halved)


class RopeTypes(unittest.TestCase):
    """Compares with numbers from the papers and from other programs."""

    dynamic = {"type": "dynamic", "factor": 10, "max_position_embeddings": 2048}
    longrope = {"type": "longrope", "short_factor": [1, 1.5], "long_factor": [2, 40.5],
                "original_max_position_embeddings": 4096, "factor": 32}  # fmt: skip

    def outputs(self, width, scaling, base=10000.0, **more):
        answer = rope.SYSTEMS["qwen2"]["rope_frequencies"]
        return answer(base=base, scaling=scaling, R=width, dtype="f32", **more)

    def test_yarn_keeps_divides_and_amplifies(self):
        scaling = {"type": "yarn", "factor": 4, "original_max_position_embeddings": 4096,
                   "beta_fast": 32, "beta_slow": 1, "truncate": True, "ramp": "index",
                   "attention_factor": None}  # fmt: skip
        given, plain = self.outputs(128, scaling), self.outputs(128, UNSCALED)["inv_freq"]
        ratio = (given["inv_freq"] / plain).tolist()  # limits 20 and 46
        self.assertEqual(ratio[:21], [1] * 21)
        self.assertTrue(all(abs(r - 0.25) < 1e-7 for r in ratio[46:]))
        self.assertAlmostEqual(ratio[33], (1 + 0.25) / 2, places=6)
        self.assertAlmostEqual(given["attention_factor"].item(), 1.1386294, places=6)

    def test_dynamic_grows_the_base(self):
        frequencies = self.outputs(128, self.dynamic, seq_len=16384)["inv_freq"]
        expected = 759702.231148 ** -numpy.linspace(0, 126 / 128, 64)
        self.assertLess(numpy.abs(frequencies / expected - 1).max(), 1e-6)
        plain = self.outputs(128, UNSCALED)["inv_freq"]
        self.assertTrue((self.outputs(128, self.dynamic)["inv_freq"] == plain).all())

    def test_library_rescales_the_base(self):
        frequencies = library.Library(128, 10000.0, {"type": "ntk", "factor": 4}).frequencies.numpy()
        expected = 40889.94243 ** -numpy.linspace(0, 126 / 128, 64)
        self.assertLess(numpy.abs(frequencies / expected - 1).max(), 1e-6)

    def test_longrope_switches_and_amplifies(self):
        short = self.outputs(4, self.longrope, seq_len=4096)
        self.assertAlmostEqual(short["inv_freq"][1].item(), 0.01 / 1.5, places=8)
        self.assertAlmostEqual(short["attention_factor"].item(), 1.190238071, places=6)
        long = self.outputs(4, self.longrope, seq_len=4097)["inv_freq"]
        self.assertEqual(long[0].item(), 0.5)

    def test_length_keeps_frequencies_until_the_sequence_is_short(self):
        length = rope_types.Length(64, 10000.0, self.dynamic)
        first = {n: length.at(n)[0][-1].item() for n in (2048, 4096)}
        self.assertLess(first[4096], first[2048])
        self.assertEqual(length.at(3000)[0][-1].item(), first[4096])  # not yet shorter than 2048
        self.assertEqual(length.at(2047)[0][-1].item(), first[2048])
        self.assertEqual(length.at(4096)[0][-1].item(), first[4096])


class Sinusoidal(unittest.TestCase):
    def ratio(self, name, position, form, width=32):
        y = sinusoidal.SYSTEMS[name]["sinusoidal"](
            numpy.array(position), base=10000.0, layout="interleaved", denominator="paper", M=width,
            dtype="f32",
        )  # fmt: skip
        worst = 0.0
        for s, p in enumerate(position):
            for pair in range(width // 2):
                angle, error = angle_and_error(p, pair, width, 10000.0, form)
                for c, exact in ((2 * pair, mpmath.sin(angle)), (2 * pair + 1, mpmath.cos(angle))):
                    off = float(abs(y[s, c].item() - exact))
                    worst = max(worst, off / (error + U["f32"]))
        return worst

    def test_both_forms_are_within_their_bounds(self):
        self.assertLess(self.ratio("sinusoidal_power", [0, 1, 5, 1023], "pow"), 1)
        self.assertLess(self.ratio("sinusoidal_exp_log", [0, 1, 5, 4999], "exp_log"), 1)

    def test_exp_log_is_less_accurate_than_pow(self):
        width = 512
        even = torch.arange(0, width, 2).float()
        exact = [mpmath.mpf(10000) ** (-mpmath.mpf(i) / width) for i in range(0, width, 2)]
        worst = {}
        for form in (sinusoidal.PowerForm, sinusoidal.ExpLogForm):
            angle = form.angle(None, torch.tensor(1.0), even, width, 10000.0).tolist()
            worst[form] = max(abs(a - e) / e for a, e in zip(angle, exact))
        self.assertAlmostEqual(float(worst[sinusoidal.PowerForm]), 8.2e-8, delta=1e-9)
        self.assertAlmostEqual(float(worst[sinusoidal.ExpLogForm]), 5.7e-7, delta=1e-8)


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
