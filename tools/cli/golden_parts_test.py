"""Tests of goldens in folders of parts: they survive kills, full disks and several processes.

    SEXTANT=build/sextant python3 tools/cli/golden_parts_test.py
    SEXTANT_KILLS=100 SEXTANT=build/sextant python3 tools/cli/golden_parts_test.py Parts.test_kills
"""

import hashlib
import json
import os
import random
import resource
import shutil
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest

KILLS = int(os.environ.get("SEXTANT_KILLS", "3"))
LARGE = "attention H=2 S=700 T=700 D=32 mask=causal dtype=bf16"
SMALL = "softmax N=3 M=5"


class Parts(ProgramTest):
    def golden(self, output, *options):
        return self.run_it("golden", LARGE, SMALL, "--part-size", "0.25", "-o", output, *options)

    def digests(self, folder):
        return {entry.name: hashlib.sha256(entry.read_bytes()).hexdigest()
                for entry in self.path(folder).iterdir()}

    def expect(self, result, status, *texts):
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        for text in texts:
            self.assertIn(text, result.stdout + result.stderr)

    # Whatever is killed at whatever moment, the next run ends with the same bytes.
    def test_kills(self):
        begin = time.monotonic()
        self.expect(self.golden("whole/"), 0, "2 cases in 7 parts")
        seconds = time.monotonic() - begin
        seed = random.randrange(2**32)
        print(f"seed {seed}, {KILLS} kills")
        moments = random.Random(seed)
        kept = killed = 0
        for _ in range(KILLS):
            shutil.rmtree(self.path("killed"), ignore_errors=True)
            command = [PROGRAM, "golden", LARGE, SMALL, "--part-size", "0.25", "-o", "killed/"]
            with subprocess.Popen(command, cwd=self.folder.name, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as program:
                time.sleep(moments.uniform(0, seconds))
                program.kill()
            killed += program.returncode != 0
            before = {}
            if self.path("killed").exists():
                before = {name: self.path(f"killed/{name}").stat().st_mtime_ns
                          for name in os.listdir(self.path("killed")) if name.endswith(".h5")}
            self.expect(self.golden("killed/"), 0)
            self.assertEqual(self.digests("killed"), self.digests("whole"))
            for name, changed in before.items():
                self.assertEqual(self.path(f"killed/{name}").stat().st_mtime_ns, changed, name)
            kept += len(before)
        print(f"{killed} were killed before they ended, {kept} parts kept")

    def test_shards_write_the_same_folder(self):
        self.expect(self.golden("whole/"), 0)
        programs = [subprocess.Popen([PROGRAM, "golden", LARGE, SMALL, "--part-size", "0.25", "-o",
                                      "shards/", "--shard", f"{i}/3"], cwd=self.folder.name,
                                     stdout=subprocess.DEVNULL) for i in (1, 2, 3)]
        self.assertEqual([program.wait() for program in programs], [0, 0, 0])
        self.assertEqual(self.digests("shards"), self.digests("whole"))
        for i in (1, 2):
            self.expect(self.run_it("verify", "shards/", "--shard", f"{i}/2"), 0)

    def test_a_shard_alone_says_what_is_missing(self):
        self.expect(self.golden("g/", "--shard", "1/3"), 0, "not there yet: ")
        self.expect(self.run_it("verify", "g/"), 2, "index.json", "not complete")
        self.expect(self.golden("g/", "--shard", "4/3"), 2, "--shard '4/3'")
        self.expect(self.golden("g/", "--shard", ""), 2, "expected I/N")
        self.expect(self.run_it("golden", SMALL, "-o", "a.h5", "--shard", "1/2"), 2, "FOLDER/")

    def test_what_a_scheduler_offers_is_said_and_not_taken(self):
        result = self.run_it("golden", SMALL, "-o", "a/", env={
            **os.environ, "SEXTANT_SHARD_INDEX": "1", "SEXTANT_SHARD_COUNT": "4"})
        self.expect(result, 0, "--shard 2/4 takes its share", "1 part,")

    def test_verify_reads_a_folder_as_a_file(self):
        self.expect(self.golden("g/"), 0)
        self.expect(self.run_it("golden", LARGE, SMALL, "-o", "g.h5"), 0)
        for path in "g/", "g", "g.h5":
            self.expect(self.run_it("verify", path), 0, "2 cases", "every value proven again")
        part = sorted(self.path("g").iterdir())[3]
        self.expect(self.run_it("verify", f"g/{part.name}"), 5, "only the slice")
        self.expect(self.run_it("verify", "g/", "--shard", "8/8"), 0)
        content = bytearray(part.read_bytes())
        content[len(content) // 2] ^= 1
        part.write_bytes(content)
        self.expect(self.run_it("verify", "g/"), 1, part.name, "error")
        part.unlink()
        self.expect(self.run_it("verify", "g/"), 2, f"{part.name}: is missing")

    def test_merge_gives_the_file_of_one_piece(self):
        self.expect(self.golden("g/"), 0)
        self.expect(self.run_it("golden", LARGE, SMALL, "-o", "one.h5"), 0)
        self.expect(self.run_it("merge", "g/", "-o", "merged.h5"), 0, "2 cases of g/")
        self.assertEqual(self.path("merged.h5").read_bytes(), self.path("one.h5").read_bytes())
        self.expect(self.run_it("merge", "g/"), 2, "needs --output")
        self.expect(self.run_it("merge", "g/", "-o", "g/part-00000-of-00007.h5"), 2,
                    "is in the folder that is read")
        self.expect(self.run_it("merge", "g/", "-o", "g.npz"), 2, "expected .h5")
        self.expect(self.run_it("merge", "one.h5", "-o", "g.h5"), 2, "is one file already")
        self.path("empty").mkdir()
        for command in ("verify", "empty"), ("merge", "empty", "-o", "a.h5"):
            self.expect(self.run_it(*command), 2, "a folder without a golden in parts")
        self.expect(self.run_it("golden", SMALL, "-o", "a.npz", "--part-size", "1"), 2, "HDF5")
        sorted(self.path("g").glob("part-*"))[1].unlink()
        self.expect(self.run_it("merge", "g/", "-o", "none.h5"), 2, "is missing")
        self.assertFalse(self.path("none.h5").exists())

    def test_check_reads_a_folder_as_a_file(self):
        self.expect(self.golden("g/"), 0)
        check = "check", "g/", "--subject", "fast"
        self.expect(self.run_it(*check), 0, "2 cases", "46215 of 46215 elements judged")
        self.expect(self.run_it(*check, "--filter", "softmax"), 0, "1 case: 1")
        part = sorted(self.path("g").glob("part-*"))[3]
        for option in ("--json", "g/index.json"), ("--junit", f"g/{part.name}"):
            self.expect(self.run_it(*check, *option), 2, "is in the folder g/, which is read")
        self.expect(self.run_it("answer", "g/", "--subject", "fast", "-o", f"g/{part.name}"), 2,
                    "is in the folder g/, which is read")
        limits = f"ulimit -n 20; '{PROGRAM}' check g/ --subject fast"
        self.expect(subprocess.run(["bash", "-c", limits.replace("-n", "-Sn")], text=True,
                                   cwd=self.folder.name, capture_output=True), 0)
        self.expect(self.run_it("check", f"g/{part.name}", "--subject", "fast"), 2,
                    "is only the slice H=")
        with part.open("r+b") as file:
            file.seek(part.stat().st_size // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        self.expect(self.run_it(*check), 2, part.name)
        part.unlink()
        self.expect(self.run_it(*check), 2, f"{part.name}: is missing")

    def test_a_case_that_needs_more_memory_is_refused_at_the_start(self):
        block = "decoder_block pairing=half H=2 S=8 M=256 D=64 F=4096"
        golden = "golden", SMALL, block, "-o", "a.h5", "--most-elements", "100000000"
        self.expect(self.run_it(*golden, "--memory", "32"), 2, "decoder_block", "MiB of memory",
                    "more than --memory 32")
        self.assertFalse(self.path("a.h5").exists())
        check = "check", SMALL, block, "--subject", "fast", "--memory"
        result = self.run_it(*check, "32")
        self.expect(result, 2, "decoder_block", "judging it takes about")
        self.assertEqual(result.stdout, "")
        self.expect(self.run_it("check", SMALL, "--subject", "fast", "--memory", "32"), 0)
        self.expect(self.run_it(*check, "0"), 2, "--memory")
        self.expect(self.run_it("golden", SMALL, "-o", "a.h5", "--memory", "32"), 0)
        self.expect(self.run_it("verify", "a.h5", "--memory", "32"), 0)

    # The tensors of large answers stay in their file.
    def test_large_answers_are_judged_where_they_are(self):
        import h5py
        import numpy
        line = "rms_norm N=400 M=2048 dtype=bf16"
        check = "check", line, "--subject", "files:a.h5"
        self.expect(self.run_it("answer", line, "--subject", "fast", "-o", "a.h5"), 0)
        self.expect(self.run_it(*check), 0, "819200 of 819200 elements judged")
        with h5py.File(self.path("a.h5"), "r+") as file:
            y = file["cases/0000/outputs/y"]
            right = y[300, 100]
            y[300, 100] = right * numpy.float32(1 + 2**-20)  # no number of bf16
        self.expect(self.run_it(*check), 3, "y[300,100] is", "expected a value of bf16")
        with h5py.File(self.path("a.h5"), "r+") as file:
            file["cases/0000/outputs/y"][300, 100] = -right
        self.expect(self.run_it(*check), 1, "y[300,100]: got", "1 of 819200 elements")
        with h5py.File(self.path("a.h5"), "r+") as file:
            file["cases/0000/inputs/x"] = numpy.zeros((400, 2048), "f4")
        self.expect(self.run_it(*check), 3, "the answer has other inputs: inputs/x[0,0] is 0")

    # A correct digest does not make a number right.
    def test_verify_finds_wrong_numbers_in_a_part(self):
        self.expect(self.golden("g/"), 0)
        import h5py
        part = sorted(self.path("g").glob("part-*"))[2]
        with h5py.File(part, "r+") as file:
            file["cases/0000/golden/y/high"][0, 0, 20, 3] += 2.0**-30
        result = self.run_it("verify", "g/")
        self.expect(result, 1)
        index = json.loads(self.path("g/index.json").read_text())
        self.assertEqual(index["parts"][2]["file"], part.name)

    def test_another_golden_is_not_overwritten(self):
        self.expect(self.golden("g/"), 0)
        before = self.digests("g")
        self.expect(self.run_it("golden", LARGE, "--part-size", "0.5", "-o", "g/"), 2,
                    "of another golden")
        self.expect(self.run_it("golden", f"{LARGE} seed=2", SMALL, "--part-size", "0.25", "-o",
                                "g/"), 2, "of another golden: case 0 is")
        self.assertEqual(self.digests("g"), before)

    def test_the_second_of_two_runs_is_refused(self):
        for output in "g/", "g.h5":
            command = [PROGRAM, "golden", "linear N=512 M=4096 F=512 dtype=f64", "-o", output]
            with subprocess.Popen(command, cwd=self.folder.name, stdout=subprocess.DEVNULL) as first:
                place = self.path("g" if output == "g/" else "")
                while not (place.exists() and any(".partial-" in name
                                                  for name in os.listdir(place))):
                    time.sleep(0.01)
                second = subprocess.run(command, cwd=self.folder.name, capture_output=True,
                                        text=True)
                first.kill()
            self.expect(second, 2, output.strip("/"), "another process is writing it")

    def test_a_limit_of_file_sizes_is_an_error_and_nothing_is_half(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        result = subprocess.run([PROGRAM, "golden", LARGE, "--part-size", "0.25", "-o", "g/"],
                                cwd=self.folder.name, capture_output=True, text=True,
                                preexec_fn=limit)
        self.assertNotEqual(result.returncode, 0)
        self.assertFalse([name for name in os.listdir(self.path("g"))
                          if name.endswith(".h5")])
        self.expect(self.golden("g/"), 0)
        self.expect(self.run_it("verify", "g/"), 0)

    def test_a_full_disk_is_an_error_and_the_run_goes_on_later(self):
        disk = self.path("disk")
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700k", "none", disk],
                          capture_output=True).returncode:
            self.skipTest("cannot mount a small disk")
        try:
            full = self.golden("disk/g/")
            self.expect(full, 2, "No space left on device")
            self.assertEqual(len(full.stderr.splitlines()), 1)
            there = [name for name in os.listdir(disk / "g")]
            self.assertTrue(there)
            self.assertFalse([name for name in there if "partial" in name])
            subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
            self.expect(self.golden("disk/g/"), 0, f"({len(there)} there before)")
            self.expect(self.run_it("verify", "disk/g/"), 0)
        finally:
            subprocess.run(["umount", disk], check=True)


if __name__ == "__main__":
    unittest.main()
