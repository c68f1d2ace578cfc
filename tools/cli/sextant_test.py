"""Tests of the program: its output and exit statuses.

    SEXTANT=build/sextant python3 tools/cli/sextant_test.py
"""

import json
import re
import resource
import subprocess
import unittest
from fractions import Fraction
from pathlib import Path

import h5py
import numpy

from program import ONE_CASE, PROGRAM, ProgramTest


class Program(ProgramTest):
    def test_eval_is_incomplete_if_nothing_is_specified(self):
        result = self.run_it("eval", "rms_norm", "N=1", "M=64", "@x=nonfinite", "--json")
        self.assertEqual(result.returncode, 5)
        self.assertEqual(set(json.loads(result.stdout)["outputs"]["y"]["value"]), {"nan"})
        self.assertIn("nothing is proven", result.stderr)

    def test_eval_says_why_nothing_is_specified(self):
        result = self.run_it("eval", "rms_norm", "N=1", "M=64", "@x=nonfinite")
        self.assertIn("a NaN or an infinity in the inputs", result.stderr)
        result = self.run_it("eval", "attention", "S=2", "H=1", "D=2", "key_length=[0]")
        self.assertEqual(result.returncode, 5)
        self.assertIn("specifies no element", result.stderr)
        self.assertNotIn("in the inputs", result.stderr)

    def test_eval_is_complete_if_something_is_proven(self):
        result = self.run_it("eval", "rms_norm", "N=8", "M=2", "@x=nonfinite", "--json")
        values = json.loads(result.stdout)["outputs"]["y"]["value"]
        self.assertEqual(result.returncode, 0)
        self.assertIn("nan", values)
        self.assertLess({"nan"}, set(values))

    def test_both_engines_prove_the_same_numbers(self):
        question = ("eval", "softmax", "N=3", "M=7", "--json")
        by_default = self.run_it(*question).stdout
        self.assertEqual(self.run_it(*question, "--engine", "ladder").stdout, by_default)
        self.assertEqual(self.run_it(*question, "--engine", "mpfr").stdout, by_default)
        wrong = self.run_it(*question, "--engine", "fast")
        self.assertEqual(wrong.returncode, 2)
        self.assertRegex(wrong.stderr, "--engine: fast not in {ladder,mpfr}")

    def test_verify_proves_files_of_layout_1_again(self):
        path = Path(__file__).parents[2] / "fixtures/store/layout_1.h5"
        result = self.run_it("verify", str(path))
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("layout version 1: permitted errors were derived in another way",
                      result.stdout)

    def test_eval_prints_a_table_and_json_on_request(self):
        question = ("eval", "rms_norm", "N=1", "M=2", "eps=0", "@x=1,7", "@weight=1,1")
        table = self.run_it(*question).stdout
        self.assertRegex(table, r"\ny\[0,1\] +1\.4 +1\.4 ")
        self.assertLess(max(map(len, table.splitlines())), 100)
        result = json.loads(self.run_it(*question, "--json").stdout)
        y = result["outputs"]["y"]
        self.assertEqual(y["high"], [0.2, 1.4])
        self.assertLess(abs(Fraction(y["high"][0]) + Fraction(y["low"][0]) - Fraction(1, 5)),
                        Fraction(1, 2**76))
        result = self.run_it(*question, "--json", "-o", "a.h5")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--output excludes --json", result.stderr)

    def test_a_lack_of_memory_names_the_case_and_its_size(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        if self.run_it("--version", preexec_fn=limit).returncode != 0:
            self.skipTest("the sanitizer needs more address space")
        case = "rms_norm", "N=1000000000", "M=4"
        for command in (("eval", *case), ("golden", " ".join(case), "-o", "a.npz"),
                        ("inputs", " ".join(case), "-o", "a.h5"),
                        ("check", " ".join(case), "--subject", "fast"),
                        ("check", "rms_norm N=1 M=4 @x=1,2,3,4", "--subject", "fast", "--with",
                         "N=1000000000")):
            result = self.run_it(*command, preexec_fn=limit)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("sextant: out of memory: the tensors of this case have 8000000004 elements and "
                          "need at least 64000000032 bytes: rms_norm ", result.stderr)
        self.assertEqual(self.files(), [])

    def test_messages_about_lists_name_what_was_expected(self):
        result = self.run_it("eval", *"attention S=2 H=1 D=2 key_length=1,2".split())
        self.assertIn("attribute key_length: '1,2' is not a list, expected [1,2]", result.stderr)
        result = self.run_it("eval", *"attention S=2 H=1 D=2 key_length=a".split())
        self.assertIn("attribute key_length: 'a' is not an integer", result.stderr)
        result = self.run_it("eval", *"rms_norm N=2 M=2 @x=1".split())
        self.assertIn("@x lists 1 number, expected 2 ", result.stderr)

    def test_a_list_of_one_number_may_lack_its_brackets(self):
        result = self.run_it("eval", *"attention mask=causal S=1 T=9 H=1 D=2 query_offset=8".split())
        self.assertEqual(result.returncode, 0)
        self.assertIn(" query_offset=[8] ", result.stdout)

    def test_describe_says_that_a_query_offset_replaces_align(self):
        text = self.run_it("describe", "attention").stdout
        self.assertRegex(text, r"\n  align +bottom_right: .*; neither of them\n +if query_offset is set\n")

    def test_describe_lists_optional_inputs(self):
        text = self.run_it("describe", "attention").stdout
        self.assertIn("\n  with=(unset)   optional inputs: bias sink q_scale k_scale v_scale\n", text)

    def test_a_former_name_is_one_error_with_the_line_of_today(self):
        for command, today in (("describe attention_sink", "attention with=sink"),
                               ("eval attention_bias scale_bias=false H=1 S=1 D=2",
                                "attention with=bias H=1 S=1 D=2")):
            result = self.run_it(*command.split())
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertRegex(result.stderr, f"^sextant: .* any longer, expected: {today}\n$")

    def test_help_and_version_are_commands_too(self):
        for words, same in (("help check", "check --help"), ("help", "--help"), ("version", "--version"),
                            ("help help", "--help"), ("help version", "--version")):
            result = self.run_it(*words.split())
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual(result.stdout, self.run_it(*same.split()).stdout)

    def test_a_shell_completes_commands_and_options(self):
        for words, expected in (("aud", "audit-suite"), ("check --fil", "--filter"),
                                ("check rope_c", "rope_cos_sin rope_complex"),
                                ("check real/softm", "real/softmax"), ("eval softm", "softmax"),
                                ("check rope --subject ''", "fast recipe: defect: files: lib: exec:"),
                                ("check rope --subject recipe : f32", "f32_compute"),
                                ("check rope --subject lib : ''", ""), ("check rope --subject lib :", ""),
                                ("check rope --subject recipe :", "native f32_compute all_native exact "
                                                                  "exact_table exp_log power_chain iterated"),
                                ("check rope --subject = re", "recipe:"),
                                ("check rope --subject =", "fast recipe: defect: files: lib: exec:"),
                                ("check rope --subject = recipe : exa", "exact exact_table"),
                                ("check rope --json rope_r", ""), ("golden rope -o rope_r", ""),
                                ("eval --json softm", "softmax"), ("eval rope pairing =", ""),
                                ("check rope --recipe exact", "exact exact_table"), ("completion z", "zsh")):
            script = (f'set -u; eval "$({PROGRAM} completion bash)"; COMP_WORDS=(sextant {words}); '
                      f'COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _sextant; echo "${{COMPREPLY[@]}}"')
            result = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
            self.assertEqual((result.stdout.strip(), result.stderr), (expected, ""))
        script = self.run_it("completion", "fish").stdout
        for words in "-l filter -r\n", "-l subject -r -a 'fast recipe: ":
            self.assertIn(f"complete -c sextant -n '__fish_seen_subcommand_from check' {words}", script)
        self.assertRegex(script, r"__fish_seen_subcommand_from check' -a '[^']* real/softmax")
        self.assertTrue(self.run_it("completion", "zsh").stdout.startswith("autoload "))
        self.assertEqual(self.run_it("completion", "csh").returncode, 2)

    def test_mistyped_names_have_a_suggestion(self):
        for words, message in (("chek", "there is no command 'chek' (did you mean 'check'?)"),
                               ("help chek", "there is no command 'chek' (did you mean 'check'?)"),
                               ("describe sofmax", "there is no operation 'sofmax' (did you mean 'softmax'?)"),
                               ("eval rope pairng=half", "no attribute 'pairng' (did you mean 'pairing'?)"),
                               ("hepl", "there is no command 'hepl' (did you mean 'help'?)"),
                               ("help hepl", "there is no command 'hepl' (did you mean 'help'?)"),
                               ("check softmax --subject fast --filtr a",
                                "sextant: there is no option '--filtr' (did you mean '--filter'?)\n"),
                               ("check softmax --subjct fast",
                                "sextant: there is no option '--subjct' (did you mean '--subject'?)\n"),
                               ("--versio", "sextant: there is no option '--versio' (did you mean '--version'?)\n"),
                               ("check softmax --subject fast --filter --foo --timeout abc",
                                "sextant: Could not convert: --timeout = abc\n"),
                               ("list --foo", "sextant: there is no option '--foo'\n"),
                               ("check real/ --subject fast",
                                "sextant: real/: there is no such file or operation\n"),
                               ("check softmax --subject fast --verbos", "run sextant check --help for help")):
            result = self.run_it(*words.split())
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(message, result.stderr)

    def test_aliases_are_words_of_every_command(self):
        self.assertIn("activation kind=swish beta=1 F=2 N=1 dtype=bf16",
                      self.run_it("eval", *"silu N=1 F=2 dtype=bfloat16".split()).stdout)
        self.assertEqual(self.run_it("describe", "silu").stdout, self.run_it("describe", "activation").stdout)
        self.assertIn("window=[3,0]", self.run_it(
            "eval", *"attention S=1 T=6 H=1 head_dim=2 sliding_window=4".split()).stdout)

    def test_every_command_says_once_how_aliases_are_called(self):
        line = "rms_norm N=1 M=2 dtype=float32"
        self.path("a.cases").write_text(f"{line}\n{line} seed=2\n")
        for command, *options in (("answer", "--subject", "fast", "-o", "a.h5"), ("audit-suite",),
                                  ("check", "--subject", "fast"), ("golden", "-o", "a.h5"),
                                  ("inputs", "-o", "a.h5"), ("profile", "--subject", "fast"),
                                  ("recipe", "--subject", "fast")):
            self.assertEqual(self.run_it(command, "a.cases", *options).stderr,
                             "sextant: dtype=float32 is called dtype=f32 here\n", command)
        for command, *options in ("ask", "--subject", "fast"), ("eval", "--json"):
            self.assertEqual(self.run_it(command, line, *options).stderr,
                             "sextant: dtype=float32 is called dtype=f32 here\n", command)

    def test_describe_lists_dimensions_and_their_defaults(self):
        for name, dimensions in (("rope", "B=1 D_(required) H_(required) R=D S_(required)"),
                                 ("rope_frequencies", "R_(required)"),
                                 ("attention", "B=1 D_(required) E=D H_(required) K=H S_(required) T=S"),
                                 ("rope_shift", "B=1 D_(required) K_(required) R=D T_(required)"),
                                 ("rope_sections", "A=(length_of_sections) B=1 D_(required) H_(required) "
                                                   "R=D S_(required)")):
            text = self.run_it("describe", name).stdout.split("dimensions:\n")[1].split("steps:")[0]
            self.assertEqual([line.strip().replace(" ", "_") for line in text.splitlines()],
                             dimensions.split())

    def test_list_aligns_signatures(self):
        lines = self.run_it("list").stdout.splitlines()
        self.assertEqual(len({len(line) - len(line.split(maxsplit=1)[1]) for line in lines}), 1)

    def test_part_and_layer_require_a_configuration(self):
        for option in "--part", "--layer":
            for command in (("eval", *ONE_CASE.split()), ("golden", ONE_CASE, "-o", "a.h5"),
                            ("check", ONE_CASE, "--subject", "fast")):
                result = self.run_it(*command, option, "text_config")
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(f"{option} requires --config", result.stderr)
        result = self.run_it("models", "--part", "vision_config")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("--part requires configurations", result.stderr)

    def test_verify_counts_what_a_second_library_confirmed(self):
        self.run_it("golden", "rms_norm N=64 M=64", ONE_CASE, "-o", "a.h5")
        output = self.run_it("verify", "a.h5").stdout
        self.assertEqual(output, "a.h5: 2 cases, digests right, every value proven again; "
                                 "Boost.Multiprecision confirms 256 of 4098 elements "
                                 "(--confirm asks for all)\n")
        output = self.run_it("verify", "a.h5", "--confirm").stdout
        self.assertIn("again; Boost.Multiprecision confirms 4098 of 4098 elements\n", output)

    # Answers of other programs may have other dtypes and other names of cases.
    def test_compare_matches_golden_values_with_answers(self):
        line = "rms_norm N=1 M=2 dtype=bf16"
        self.run_it("golden", ONE_CASE, line, "-o", "golden.h5")
        with h5py.File(self.path("golden.h5")) as golden, \
                h5py.File(self.path("answer.h5"), "w") as answers:
            value = golden["cases/0001/golden/y/value"][()]
            answers["cases/mine/outputs/y"] = value
            answers["cases/mine"].attrs["case"] = line
        self.run_it("golden", line, "-o", "one.h5")
        result = self.run_it("compare", "one.h5", "answer.h5")
        self.assertEqual((result.returncode, result.stdout),
                         (0, "1 datasets in both, 0 differ, 0 in only one file\n"))
        result = self.run_it("compare", "one.h5", "golden.h5")  # golden.h5 has another case too
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertRegex(result.stdout, r", 0 differ, [1-9]\d* in only one file\n$")
        with h5py.File(self.path("answer.h5"), "r+") as answers:
            answers["cases/mine/outputs/y"][0, 0] = float(value[0, 0]) + 2.0**-5
        result = self.run_it("compare", "answer.h5", "golden.h5")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/cases/mine/outputs/y against /cases/0001/golden/y/value: 1 of 2 elements "
                      "differ", result.stdout)

    def test_compare_names_the_places_of_the_largest_differences(self):
        for name, values in ("a.h5", (2.0**-90, 1.0)), ("b.h5", (2.0**-89, 1.25)):
            with h5py.File(self.path(name), "w") as file:
                file["y"] = numpy.array(values, "f4")
        output = self.run_it("compare", "a.h5", "b.h5").stdout
        self.assertIn("y: 2 of 2 elements differ; all within [0..1]; at most ", output)
        self.assertRegex(output, r"ulps, at \[0\], and 0\.25, at \[1\]\n")

    def test_properties_are_incomplete_if_one_was_skipped(self):
        example = Path(__file__).resolve().parents[1] / "adapters/python/example.py"
        result = self.run_it("properties", "rms_norm", "softmax", "--count", "2", "--seed", "1",
                             "--subject", f"exec:/usr/bin/python3 -B {example}")
        self.assertIn("holds", result.stdout)
        self.assertEqual(result.returncode, 5, result.stdout)

    def test_a_subject_that_does_not_answer_hello_gives_status_3(self):
        result = self.run_it("check", ONE_CASE, "--subject", "exec:/bin/false")
        self.assertEqual(result.returncode, 3)
        self.assertIn("the subject could not be run", result.stderr)

    # The outputs of a case with N=0 have no elements.
    def test_nothing_to_do_if_no_case_has_an_element(self):
        for cases, status in (("rms_norm N=0 M=2",), 4), (("rms_norm N=0 M=2", ONE_CASE), 0):
            result = self.run_it("check", *cases, "--subject", "fast", "--json", "a.json")
            self.assertEqual(result.returncode, status, result.stdout)
            self.assertEqual(json.loads(self.path("a.json").read_text())["exit_status"], status)

    def test_commands_give_status_4_if_there_is_nothing_to_do(self):
        empty = "rms_norm N=0 M=2"
        for why, *command in (
            *(("no case was selected", command, "/dev/null", *options) for command, *options in (
                ("answer", "--subject", "fast", "-o", "a.h5"), ("ask", "--subject", "fast"), ("audit-suite",),
                ("check", "--subject", "fast"), ("golden", "-o", "a.h5"), ("inputs", "-o", "a.h5"),
                ("profile", "--subject", "fast"), ("recipe", "--subject", "fast"))),
            ("every case has more elements than --most-elements", "golden", ONE_CASE, "-o", "a.h5",
             "--most-elements", "1"),
            ("no output has an element", "check", empty, "--subject", "fast"),
            ("no output has an element", "eval", *empty.split()),
            ("no output has an element", "golden", empty, "-o", "a.h5"),
            ("no output has an element", "verify", "a.h5"),
        ):
            result = self.run_it(*command)
            self.assertEqual((result.returncode, result.stderr),
                             (4, f"sextant: nothing to do: {why}\n"), command)

    # 1.0000001 * 3 is a tie in f32 whose rounding no precision decides, because of the root.
    def test_verify_is_incomplete_if_a_value_is_only_enclosed(self):
        case = ("rms_norm N=1 M=9 eps=0 @x=1,0,0,0,0,0,0,0,0 "
                "@weight=0x1.000002p+0,1,1,1,1,1,1,1,1")
        self.run_it("golden", case, "-o", "a.h5")
        result = self.run_it("verify", "a.h5")
        self.assertEqual(result.returncode, 5, result.stdout)
        self.assertIn("except 1, which are only enclosed", result.stdout)

    def test_comparing_files_without_datasets_is_nothing(self):
        for name in "ab":
            h5py.File(self.path(name + ".h5"), "w").close()
        self.assertEqual(self.run_it("compare", "a.h5", "b.h5").returncode, 4)

    def test_verify_proves_by_the_recipe_of_the_case(self):
        command = "eval", "rms_norm", "N=1", "M=64", "dtype=bf16", "--recipe"
        for recipe in "f32_compute", "native store=bf16", "native":
            self.assertEqual(self.run_it(*command, recipe, "-o", "a.h5").returncode, 0)
            with h5py.File(self.path("a.h5")) as file:
                stored = file["cases/0000"].attrs.get("recipe", b"native")
                self.assertEqual(stored.decode(), recipe)
            result = self.run_it("verify", "a.h5")
            self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.run_it(*command, "f32_compute", "-o", "a.h5")
        with h5py.File(self.path("a.h5"), "r+") as file:
            del file["cases/0000"].attrs["recipe"]
        result = self.run_it("verify", "a.h5")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, "golden/y/permitted.* is .*, expected ")

    def test_describe_explains_an_unset_seq_len(self):
        for name in "rope_frequencies", "rope", "rope_matrix", "rope_attention", "decoder":
            text = self.run_it("describe", name).stdout
            self.assertRegex(text, "tokens of the sequence, for dynamic and longrope; unset")
            self.assertEqual(text.count("model was trained on"), 1)

    def test_describe_prefers_explanations_of_operations_in_the_formula(self):
        text = self.run_it("describe", "decoder").stdout  # whose text has an embedding_scale
        self.assertRegex(text, r"key_length=\(unset\)\n +\[n\]: tokens from n on are padding")
        self.assertRegex(text, r"is aligned with key s\n  segments=")
        self.assertNotIn("unset: T", text)
        self.assertIn("  scale=(unset)\n      unset: D^-1/2\n", text)

    def test_describe_prints_all_files_of_every_operation(self):
        root = Path(__file__).parents[2]
        folders = {"formula": "reference/", "kernel": "fast/", "properties and defects": "oracle/",
                   "measurements": "oracle/", "cases": "fixtures/cases/", "golden": "fixtures/golden/",
                   "in mpmath": "fixtures/mpmath/", "in numpy": "tools/adapters/native/"}
        for name in [line.split()[0] for line in self.run_it("list").stdout.splitlines()]:
            lines = self.run_it("describe", name).stdout.split("\nfiles:\n")[1].splitlines()
            files = {line[2:24].strip(): line[24:].split() for line in lines}
            tests = files.pop("tests and benchmarks", [])
            self.assertEqual(list(files), list(folders))
            for kind, paths in files.items():
                for path in paths:
                    self.assertTrue(path.startswith(folders[kind]), path)
                    self.assertNotRegex(path, "_(test|bench)[.]")
            for path in sum(files.values(), tests):
                self.assertTrue((root / path).exists(), path)
            for kind in "in mpmath", "in numpy":
                (path,) = files.pop(kind)
                self.assertRegex((root / path).read_text(), rf'\n(def {name}\(|    "{name}": ")')
            (measured,) = files.pop("measurements")
            self.assertEqual(measured, str(Path(*files["properties and defects"]).parent) + "/measured/")
            named = {str(path.relative_to(root)) for room in ("reference", "fast", "oracle", "fixtures")
                     for pattern in (f"*/{name}*", f"*/real/{name}*")
                     for path in (root / room).glob(pattern)
                     if re.fullmatch(r"(-inl|_test|_bench)?\.(h|cc|cases|h5)", path.name[len(name):])}
            self.assertEqual(set(sum(files.values(), tests)), named)

    def test_golden_inputs_and_check_complete_cases_from_a_configuration(self):
        config = {"model_type": "qwen2_vl", "hidden_size": 32, "num_attention_heads": 2,
                  "num_key_value_heads": 2, "rope_theta": 500.0,
                  "rope_scaling": {"type": "mrope", "mrope_section": [4, 2, 2]}}
        self.path("config.json").write_text(json.dumps(config))
        self.path("some.cases").write_text("rope_sections H=1 S=2  # why\n")
        complete = ("rope_sections sections=[4,2,2] order=contiguous pairing=half base=500 "
                    "H=1 S=2 D=16")
        for command in "golden", "inputs":
            line = self.run_it(command, complete, "-o", "line.h5")
            file = self.run_it(command, "some.cases", "--config", "config.json", "-o", "file.h5")
            self.assertEqual((line.returncode, file.returncode), (0, 0), file.stderr)
            self.assertEqual(self.path("line.h5").read_bytes(), self.path("file.h5").read_bytes())
        result = self.run_it("check", "some.cases", "--config", "config.json", "--subject",
                             "defect:rope_sections/order=interleaved")
        self.assertEqual(result.returncode, 1)
        self.assertIn("base=500 ", result.stdout)
        result = self.run_it("check", "line.h5", "--config", "config.json", "--subject", "fast")
        self.assertEqual(result.returncode, 2)
        self.assertIn("the cases of line.h5 are complete", result.stderr)

    def test_golden_leaves_out_cases_with_more_elements(self):
        small, large = ONE_CASE, "rms_norm N=1 M=3"  # 6 and 9 elements
        self.assertEqual(self.run_it("golden", small, large, "--most-elements", "6", "-o", "a.h5").stdout,
                         "a.h5: 1 case, 2 elements proven\n")
        result = self.run_it("golden", small, large, "--most-elements", "5", "-o", "b.h5")
        self.assertEqual((result.returncode, self.files()), (4, ["a.h5"]))

    def test_golden_counts_unspecified_elements(self):
        lines = "rms_norm N=1 M=2\nrms_norm N=1 M=64 @x=nonfinite\n"
        self.path("some.cases").write_text(lines)
        result = self.run_it("golden", "some.cases", "-o", "a.h5")
        self.assertEqual(result.stdout, "a.h5: 2 cases, 2 elements proven, 64 unspecified\n")
        self.assertEqual(result.returncode, 5)
        result = self.run_it("golden", *reversed(lines.splitlines()), "-o", "a.h5")
        self.assertEqual(result.returncode, 5)

    def test_seeds_are_unsigned_64_bit_integers(self):
        command = ("properties", "rms_norm", "--subject", "fast", "--count", "1", "--seed")
        self.assertIn("(seed 18446744073709551615)", self.run_it(*command, str(2**64 - 1)).stdout)
        for seed in ("-1", str(2**64), "1.5", "one"):
            result = self.run_it(*command, seed)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("expected an integer from 0 to 2^64 - 1", result.stderr)

    def test_properties_draw_a_seed_and_say_it(self):
        command = ("properties", "rms_norm", "--subject", "defect:rms_norm/eps_missing")
        first, second = self.run_it(*command).stdout, self.run_it(*command).stdout
        self.assertNotEqual(first, second)
        seed = re.search(r"\(seed (\d+)\)\n$", first)[1]
        self.assertEqual(self.run_it(*command, "--seed", seed).stdout, first)


if __name__ == "__main__":
    unittest.main()
