"""What the program as a whole says to the shell: exit statuses, files that it replaces.

    SEXTANT=build/sextant python3 tools/cli/sextant_test.py
"""

import hashlib
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy

PROGRAM = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve()
ONE_CASE = "rms_norm N=1 M=2"
ADAPTER = pathlib.Path(__file__).resolve().parents[1] / "adapters/python"

# Answers rightly, and says one word more when its input ends.
TALKS_ON = """
import json, struct, sys
def say(words, body=b"", **tensors):
    header = json.dumps({"__metadata__": words, **tensors}).encode()
    sys.stdout.buffer.write(struct.pack("<Q", len(header)) + header + body)
    sys.stdout.buffer.flush()
while size := sys.stdin.buffer.read(8):
    header = json.loads(sys.stdin.buffer.read(struct.unpack("<Q", size)[0]))
    words = header.pop("__metadata__")
    body = sys.stdin.buffer.read(max([t["data_offsets"][1] for t in header.values()], default=0))
    reply = {"id": words["id"], "status": "ok"}
    if words["operation"] == "hello":
        say({**reply, "name": "a", "version": "1", "recipe": "native", "operations": '["rms_norm"]'})
    else:
        x = struct.unpack("<2f", body[slice(*header["x"]["data_offsets"])])
        weight = struct.unpack("<2f", body[slice(*header["weight"]["data_offsets"])])
        root = (sum(v * v for v in x) / 2 + 1e-5) ** 0.5
        y = struct.pack("<2f", *(v / root * w for v, w in zip(x, weight)))
        say(reply, y, y={"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]})
sys.stdout.write("surplus")
"""

# A function for the adapter for Python; two lines stand before it.
BROKEN = """
import sextant_adapter
def rms_norm(**given): 1 / 0
sextant_adapter.serve({"rms_norm": rms_norm}, name="a", version="1", recipe="native")
"""


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_it(self, *arguments, **options):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder.name, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, **options)

    def path(self, name):
        return pathlib.Path(self.folder.name) / name

    def test_eval_is_incomplete_if_nothing_is_specified(self):
        result = self.run_it("eval", "rms_norm", "N=1", "M=64", "@x=nonfinite", "--json")
        self.assertEqual(result.returncode, 5)
        self.assertEqual(set(json.loads(result.stdout)["outputs"]["y"]["value"]), {"nan"})
        self.assertIn("nothing is proven", result.stderr)

    def test_eval_tells_why_nothing_is_specified(self):
        result = self.run_it("eval", "rms_norm", "N=1", "M=64", "@x=nonfinite")
        self.assertIn("NaN or infinity of the inputs", result.stderr)
        result = self.run_it("eval", "attention", "S=2", "H=1", "D=2", "key_length=[0]")
        self.assertEqual(result.returncode, 5)
        self.assertIn("specifies no element", result.stderr)
        self.assertNotIn("of the inputs", result.stderr)

    def test_eval_is_complete_if_something_is_proven(self):
        result = self.run_it("eval", "rms_norm", "N=8", "M=2", "@x=nonfinite", "--json")
        values = json.loads(result.stdout)["outputs"]["y"]["value"]
        self.assertEqual(result.returncode, 0)
        self.assertIn("nan", values)
        self.assertLess({"nan"}, set(values))

    def test_eval_prints_a_table_and_json_on_request(self):
        question = ("eval", "rms_norm", "N=1", "M=2", "eps=0", "@x=1,7", "@weight=1,1")
        table = self.run_it(*question).stdout
        self.assertRegex(table, r"\ny\[0,1\] +1\.4 +1\.4 ")
        self.assertLess(max(map(len, table.splitlines())), 100)
        told = json.loads(self.run_it(*question, "--json").stdout)
        self.assertEqual(told["outputs"]["y"]["high"], [0.2, 1.4])
        result = self.run_it(*question, "--json", "-o", "a.h5")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--output excludes --json", result.stderr)

    def test_list_aligns_signatures(self):
        lines = self.run_it("list").stdout.splitlines()
        self.assertEqual(len({len(line) - len(line.split(maxsplit=1)[1]) for line in lines}), 1)

    def test_parts_and_layers_are_of_a_configuration(self):
        for option in "--part", "--layer":
            for command in (("eval", *ONE_CASE.split()), ("golden", ONE_CASE, "-o", "a.h5"),
                            ("check", ONE_CASE, "--subject", "fast")):
                result = self.run_it(*command, option, "text_config")
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(f"{option} requires --config", result.stderr)
        result = self.run_it("models", "--part", "vision_config")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("--part requires configurations", result.stderr)

    def test_names_of_files_may_have_spaces(self):
        self.path("my cases").write_text(f"{ONE_CASE}\n")
        self.assertEqual(self.run_it("check", "my cases", "--subject", "fast").returncode, 0)
        for name in "your cases.cases", "your answers.h5", "a folder/your questions":
            result = self.run_it("check", name, "--subject", "fast")
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, f"{name}.*(cannot be|does not exist)")
        result = self.run_it("check", "rms_norm N=1 @x=a/b.npy#0", "--subject", "fast")
        self.assertNotIn("a/b.npy#0: ", result.stderr)  # a case line, which lacks M

    def test_verify_says_what_a_second_library_confirmed(self):
        self.run_it("golden", "rms_norm N=64 M=64", ONE_CASE, "-o", "a.h5")
        told = self.run_it("verify", "a.h5").stdout
        self.assertEqual(told, "a.h5: 2 cases, digests right, every value proven again; "
                               "Boost.Multiprecision confirms 256 of 4098 elements "
                               "(--confirm asks for all)\n")
        told = self.run_it("verify", "a.h5", "--confirm").stdout
        self.assertIn("again; Boost.Multiprecision confirms 4098 of 4098 elements\n", told)

    # Another program stores what it likes: numbers in f32, a case under another name.
    def test_compare_takes_golden_values_and_answers(self):
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
                         (0, "1 datasets in both, 0 differ, 0 in one alone\n"))
        with h5py.File(self.path("answer.h5"), "r+") as answers:
            answers["cases/mine/outputs/y"][0, 0] = float(value[0, 0]) + 2.0**-5
        result = self.run_it("compare", "answer.h5", "golden.h5")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/cases/mine/outputs/y against /cases/0001/golden/y/value: 1 of 2 elements "
                      "differ", result.stdout)

    # Where there is no /proc, nobody lists the children of a process.
    def test_check_says_that_it_cannot_end_every_process(self):
        without = ["unshare", "--map-root-user", "--mount", "sh", "-c",
                   'mount -t tmpfs none /proc && exec "$@"', "sh"]
        if subprocess.run([*without, "true"], capture_output=True).returncode != 0:
            self.skipTest("no namespaces here")
        command = [*without, PROGRAM, "check", ONE_CASE, "--subject", "exec:exit 3"]
        told = subprocess.run(command, capture_output=True, text=True).stderr
        self.assertEqual(told.count("may outlive it"), 1, told)
        self.assertNotIn("may outlive it", subprocess.run(command[len(without):],
                                                          capture_output=True, text=True).stderr)

    # An empty answer has a shape and no number.
    def test_nothing_to_do_if_no_case_has_an_element(self):
        for cases, status in (("rms_norm N=0 M=2",), 4), (("rms_norm N=0 M=2", ONE_CASE), 0):
            result = self.run_it("check", *cases, "--subject", "fast", "--json", "a.json")
            self.assertEqual(result.returncode, status, result.stdout)
            self.assertEqual(json.loads(self.path("a.json").read_text())["exit_status"], status)

    def test_commands_answer_alike_if_there_is_nothing_to_do(self):
        empty = "rms_norm N=0 M=2"
        for why, *command in (
            ("no case was selected", "check", "/dev/null", "--subject", "fast"),
            ("no case was selected", "golden", "/dev/null", "-o", "a.h5"),
            ("no case was selected", "inputs", "/dev/null", "-o", "a.h5"),
            ("no output has an element", "check", empty, "--subject", "fast"),
            ("no output has an element", "eval", *empty.split()),
            ("no output has an element", "golden", empty, "-o", "a.h5"),
            ("no output has an element", "verify", "a.h5"),
        ):
            result = self.run_it(*command)
            self.assertEqual((result.returncode, result.stderr),
                             (4, f"sextant: nothing to do: {why}\n"), command)

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

    def test_no_file_is_written_in_another_format_than_its_name_says(self):
        for name in "x.npz", "x.safetensors", "x.NPY", "x.json":
            for command in (("eval", *ONE_CASE.split()), ("golden", ONE_CASE), ("inputs", ONE_CASE)):
                result = self.run_it(*command, "-o", name)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(f"{name} would be an HDF5 file, the only format that is written: "
                              "expected a name that ends with .h5", result.stderr)
        self.assertEqual(list(pathlib.Path(self.folder.name).iterdir()), [])

    # A limit of 8 KiB is met when a case ends, or the file; one of 0 at once.
    def test_a_limit_of_file_sizes_is_told_as_a_full_disk_is(self):
        large = "rms_norm N=64 M=64"
        for size in 0, 8192:
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            for command in (("golden", large, "-o", "a"), ("inputs", large, "-o", "a"),
                            ("eval", *large.split(), "-o", "a"),
                            ("check", *(f"{large} seed={i}" for i in range(20)), "--subject", "fast",
                             "--json", "a"),
                            ("check", *(f"{large} seed={i}" for i in range(20)), "--subject",
                             "defect:rms_norm/mean_subtracted", "--junit", "a")):
                result = self.run_it(*command, preexec_fn=limit)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertRegex(result.stderr, r"^sextant: a\b.*File too large")
                self.assertEqual(result.stderr.count("\n"), 1)
                self.assertEqual(list(pathlib.Path(self.folder.name).iterdir()), [])

    # The limit is then the program's own again, whose death by it is told.
    def test_a_limit_of_file_sizes_ends_a_subject(self):
        subject = "exec:ulimit -f 1; exec head -c 100000 /dev/zero >big"
        result = self.run_it("check", ONE_CASE, "--subject", subject)
        self.assertEqual(result.returncode, 3)
        self.assertIn("was killed by SIGXFSZ", result.stderr)

    def test_what_a_subject_writes_after_its_last_answer_counts(self):
        self.path("subject.py").write_text(TALKS_ON)
        result = self.run_it("check", ONE_CASE, "--subject", "exec:/usr/bin/python3 subject.py",
                             "--json", "a.json", "--junit", "a.xml")
        self.assertEqual(result.returncode, 3, result.stdout)
        self.assertIn("misbehaved: it wrote 'surplus' after its answer", result.stdout)
        report = json.loads(self.path("a.json").read_text())
        self.assertEqual(report["exit_status"], 3)
        self.assertIn("surplus", report["parting_words"])
        self.assertRegex(self.path("a.xml").read_text(), 'errors="1"')

    def test_what_a_subject_wrote_to_stderr_is_shown_with_its_error(self):
        self.path("subject.py").write_text(f"import sys\nsys.path.append({str(ADAPTER)!r})\n" + BROKEN)
        result = self.run_it("check", ONE_CASE, "--subject", "exec:/usr/bin/python3 subject.py")
        self.assertEqual(result.returncode, 3)
        self.assertIn("it reported an error: ZeroDivisionError", result.stdout)
        self.assertIn("its last words: ", result.stdout)
        self.assertIn('subject.py", line 5, in rms_norm', result.stdout)

    def test_describe_says_what_an_unset_seq_len_is(self):
        for name in "rope_frequencies", "rope", "rope_matrix", "rope_attention", "decoder":
            told = self.run_it("describe", name).stdout
            self.assertRegex(told, "tokens of the sequence, for dynamic and longrope; unset")
            self.assertEqual(told.count("model was trained on"), 1)

    def test_describe_explains_first_by_what_the_formula_names(self):
        for name in "decoder", "decoder_block_normed":
            told = self.run_it("describe", name).stdout
            self.assertRegex(told, r"key_length=\(unset\)\n +\[n\]: tokens from n on are padding")
            self.assertRegex(told, r"stands at place s\n  segments=")
            self.assertNotIn("unset: T", told)
        decoder = self.run_it("describe", "decoder").stdout  # whose text has an embedding_scale
        self.assertIn("  scale=(unset)\n      unset: D^-1/2\n", decoder)

    def test_configurations_complete_the_lines_of_golden_inputs_and_check(self):
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
        self.assertIn("line.h5 are complete", result.stderr)

    def test_golden_counts_what_is_unspecified(self):
        lines = "rms_norm N=1 M=2\nrms_norm N=1 M=64 @x=nonfinite\n"
        self.path("some.cases").write_text(lines)
        result = self.run_it("golden", "some.cases", "-o", "a.h5")
        self.assertEqual(result.stdout, "a.h5: 2 cases, 2 elements proven, 64 unspecified\n")
        self.assertEqual(result.returncode, 5)

    def test_audit_suite_reads_inputs_that_are_files(self):
        numpy.save(self.path("x.npy"), numpy.array([[1, 7]], "f4"))
        digest = hashlib.sha256(self.path("x.npy").read_bytes()).hexdigest()
        self.path("some.cases").write_text(f"{ONE_CASE} @x=x.npy#{digest}\n")
        self.assertEqual(self.run_it("check", "some.cases", "--subject", "fast").returncode, 0)
        result = self.run_it("audit-suite", "some.cases")
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        self.assertIn("caught   rms_norm/(one element pushed)", result.stdout)

    # At position 0 no rotation shows, at position 1 its direction does.
    def test_audit_suite_tells_which_case_catches_what(self):
        lines = [f"rope pairing=half H=2 D=8 @position={p}" for p in (0, 1, 2)]
        self.path("some.cases").write_text("".join(f"{line}  # why\n" for line in lines))
        result = self.run_it("audit-suite", "some.cases", "--minimal", "--json", "a.json")
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        self.assertIn("caught   rope/rotates_backwards  by  2 3\n", result.stdout)
        self.assertRegex(result.stdout, r"\nrope: \d of 3 cases catch all \d+ defects that are "
                                        r"caught, no fewer do\n  case ")
        report = json.loads(self.path("a.json").read_text())
        self.assertFalse(report["passed"])
        self.assertEqual([case["number"] for case in report["cases"]], [1, 2, 3])
        by = {defect["name"]: defect["caught_by"] for defect in report["defects"]}
        self.assertEqual(by["rotates_backwards"], [2, 3])
        self.assertEqual(by["positions_of_first_batch"], [])
        missing = {defect["name"]: defect["missing"] for defect in report["defects"]}
        self.assertEqual([one["dtype"] for one in missing["rotates_backwards"]],
                         ["bf16", "f16", "f64"])
        self.assertIn("dtype=bf16", missing["rotates_backwards"][0]["would_be_caught_by"])
        self.assertIn("SURVIVES rope/rotates_backwards in bf16  (", result.stdout)
        (minimal,) = report["minimal"]
        self.assertTrue(minimal["is_smallest"])
        for numbers in by.values():
            self.assertTrue(not numbers or set(numbers) & set(minimal["cases"]))

    # What is suggested closes what survives: appended, it leaves nothing to suggest.
    def test_audit_suite_suggests_the_cases_that_are_missing(self):
        path = self.path("some.cases")
        path.write_text("rms_norm N=2 M=3  # why\n")
        for _ in range(4):
            result = self.run_it("audit-suite", "some.cases", "--suggest")
            lines = [line for line in result.stdout.splitlines() if "  # catches " in line]
            if not lines:
                break
            with path.open("a") as file:
                file.writelines(line + "\n" for line in lines)
        self.assertGreater(len(path.read_text().splitlines()), 4)
        survivors = [line for line in result.stdout.splitlines() if line.startswith("SURVIVES")]
        unknown = [line for line in result.stdout.splitlines() if line.startswith("no case was")]
        self.assertEqual(len(survivors), len(unknown))

    def test_check_counts_the_cases_that_a_cause_explains(self):
        result = self.run_it("check", "rms_norm N=1 M=2", "rms_norm N=2 M=3", "--subject",
                             "defect:rms_norm/mean_subtracted")
        self.assertIn("\n2 of 2 that fail: as if defect:rms_norm/mean_subtracted\n", result.stdout)

    # The worst case of a sum of 1024 squares permits that eps is missing; likely errors do not.
    def test_check_names_causes_of_what_is_only_unlikely(self):
        case = "rms_norm N=1 M=1024 @x=uniform(0,1)", "--subject", "defect:rms_norm/eps_missing"
        for options, status, word in ((), 0, "unlikely "), (("--strict",), 1, "FAILS "):
            result = self.run_it("check", *case, *options, "--json", "a.json")
            self.assertEqual(result.returncode, status, result.stdout)
            self.assertTrue(result.stdout.startswith(word), result.stdout)
            self.assertIn("\n  as if: eps_missing (", result.stdout)
            (judged,) = json.loads(self.path("a.json").read_text())["cases"]
            self.assertEqual((judged["status"], judged["grade"]), ("conforms", "unlikely"))
            self.assertIn("eps_missing", " ".join(judged["causes"]))

    def test_files_that_links_lead_to_are_replaced(self):
        for name, *command in (
            ("a.h5", "golden", ONE_CASE, "-o"),
            ("a.json", "check", ONE_CASE, "--subject", "fast", "--json"),
            ("a.xml", "check", ONE_CASE, "--subject", "fast", "--junit"),
        ):
            self.path(name).write_text("old")
            self.path("link").symlink_to(name)
            self.assertEqual(self.run_it(*command, "link").returncode, 0)
            self.assertEqual(os.readlink(self.path("link")), name)
            self.assertNotEqual(self.path(name).read_bytes(), b"old")
            self.path("link").unlink()

    # A pipe stands for what is no file: a program that failed here would replace a real device.
    def test_pipes_are_not_replaced(self):
        os.mkfifo(self.path("pipe"))
        self.path("link").symlink_to("pipe")
        for command in (("golden", ONE_CASE, "-o"), ("eval", *ONE_CASE.split(), "-o"),
                        ("check", ONE_CASE, "--subject", "fast", "--json")):
            for name in ("pipe", "link"):
                result = self.run_it(*command, name)
                self.assertEqual(result.returncode, 2)
                self.assertIn(f"sextant: {name}: is no regular file", result.stderr)
                self.assertTrue(self.path("pipe").is_fifo())
                self.assertTrue(self.path("link").is_symlink())

    # Whatever comes next (an input that is not there, a subject that says it was started) is not met.
    def test_files_that_cannot_be_written_are_known_at_once(self):
        missing = ONE_CASE + " @x=missing.npy#" + 64 * "0"
        mark = ("--subject", "exec:touch mark")
        for command in (("eval", *missing.split(), "-o"), ("golden", missing, "-o"),
                        ("inputs", missing, "-o"), ("audit-suite", missing, "--json"),
                        ("check", ONE_CASE, *mark, "--json"), ("check", ONE_CASE, *mark, "--junit")):
            result = self.run_it(*command, "nowhere/a")
            self.assertEqual(result.returncode, 2)
            self.assertIn("sextant: nowhere/a: cannot be written", result.stderr)
        result = self.run_it("check", ONE_CASE, *mark, "--json", "a", "--junit", "a")
        self.assertIn("sextant: a: cannot be written: it is being written already", result.stderr)
        self.assertEqual(list(pathlib.Path(self.folder.name).iterdir()), [])

    def test_files_need_a_name(self):
        for option, *command in (("-o", "eval", *ONE_CASE.split()), ("-o", "golden", ONE_CASE),
                                 ("-o", "inputs", ONE_CASE), ("--json", "audit-suite", ONE_CASE),
                                 ("--json", "check", ONE_CASE, "--subject", "fast"),
                                 ("--junit", "check", ONE_CASE, "--subject", "fast"),
                                 ("--config", "eval", *ONE_CASE.split())):
            result = self.run_it(*command, option, "")
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("expected the name of a file", result.stderr)

    def test_seeds_are_numbers_of_64_bits(self):
        command = ("properties", "rms_norm", "--subject", "fast", "--count", "1", "--seed")
        self.assertIn("(seed 18446744073709551615)", self.run_it(*command, str(2**64 - 1)).stdout)
        for seed in ("-1", str(2**64), "1.5", "one"):
            result = self.run_it(*command, seed)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("expected an integer from 0 to 2^64 - 1", result.stderr)

    def test_cases_come_through_pipes_and_from_any_editor(self):
        command = [PROGRAM, "check", "/dev/stdin", "--subject", "fast"]
        for text in (f"{ONE_CASE}\n", f"\ufeff{ONE_CASE}\r\n"):
            result = subprocess.run(command, input=text.encode(), capture_output=True)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            self.assertIn(b" 1 cases,", result.stdout)
        result = self.run_it("check", "", "--subject", "fast")
        self.assertEqual((result.returncode, result.stderr), (2, "sextant: an empty line is no case\n"))

    # A stranger's file may say anything, but not to the terminal.
    def test_escape_sequences_are_not_printed(self):
        result = self.run_it("check", "rms_norm \x1b[2J=1", "--subject", "fast")
        self.assertEqual(result.returncode, 2)
        self.assertIn("rms_norm has no attribute '?[2J'", result.stderr)
        with h5py.File(self.path("a.h5"), "w") as file:
            file["cases/\x1b[2J"] = 1
            file["cases/0/inputs/\x1b[2J"] = 1
            file["cases/0"].attrs["case"] = "\x1b[2J"
        with h5py.File(self.path("b.h5"), "w") as file:
            file["cases/\x1b[2J"] = 2
        for command in ("verify", "a.h5"), ("compare", "a.h5", "b.h5"), ("compare", "b.h5", "a.h5"):
            result = self.run_it(*command)
            self.assertEqual(result.returncode, 1)
            self.assertIn("?[2J", result.stdout)
            self.assertNotIn("\x1b", result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
