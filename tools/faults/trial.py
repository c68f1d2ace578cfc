"""Runs a command with a fault, and says what is wrong afterwards.

A Trial runs its command without a fault first: for the calls, and for the right bytes of its files.
"""

import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ADAPTER = f"/usr/bin/python3 {HERE.parent / 'adapters/python/example.py'}"
SECONDS = 120  # a run that takes longer hangs
WRITES = ("write", "pwrite64", "writev", "pwritev")
# A file system may also report errors of these as EINTR: see their manual pages.
INTERRUPTIBLE = (*WRITES, "open", "openat", "ftruncate", "fallocate", "fsync", "fdatasync", "close")
TAKES_SPACE = (*INTERRUPTIBLE, "mkdir", "mkdirat", "rename", "renameat", "renameat2", "link", "linkat")
# What is to be removed anyway may stay, if the right file is there in the end.
REMOVALS = ("unlink", "unlinkat", "rmdir")


def may_fail(call):
    """A close() reports failed writes (of NFS, for example), if it is the first one after them. It does
    not matter of a file without a name."""
    return call.name != "close" or call.follows_write and not call.path.endswith(" (deleted)")


FAULTS = {  # which calls can have the fault
    "ENOSPC": lambda call: call.name in TAKES_SPACE and may_fail(call),
    "FULL": lambda call: call.name in WRITES,
    "EIO": may_fail,
    "EINTR": lambda call: call.name in INTERRUPTIBLE and may_fail(call),
    "SHORT": lambda call: call.name in WRITES and call.bytes > 1,
    "TERM": lambda call: True,
    "KILL": lambda call: True,
}
REASONS = {"ENOSPC": "No space left on device", "FULL": "No space left on device",
           "EIO": "Input/output error", "EINTR": "Interrupted system call"}  # fmt: skip
SIGNALS = {"TERM": signal.SIGTERM, "KILL": signal.SIGKILL}


@dataclasses.dataclass
class Call:
    name: str
    bytes: int
    path: str
    follows_write: bool  # to its file, since that was closed last


@dataclasses.dataclass
class Run:
    status: int | None  # of the exit; None: it hangs, or was ended by a signal
    signal: int | None
    errors: list  # lines of standard error
    calls: list
    faulty: list  # the calls that had the fault
    left: list  # names of children
    files: dict  # path -> bytes; of a folder None


class Injector:
    """The compiled inject.c, in a temporary folder."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.program = pathlib.Path(self.folder.name) / "inject"
        subprocess.run(["cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror",
                        HERE / "inject.c", "-o", self.program], check=True)  # fmt: skip
        self.inputs = pathlib.Path(self.folder.name) / "inputs"
        self.inputs.mkdir()

    def run(self, command, folder, fault="NONE", number=0):
        log = pathlib.Path(self.folder.name) / "log"
        words = [str(word).replace("{inputs}", str(self.inputs))
                 .replace("{adapter}", ADAPTER) for word in command.words]  # fmt: skip
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("GITHUB_", "SEXTANT_", "SLURM_"))}  # fmt: skip
        environment |= {"LC_ALL": "C.UTF-8", **command.environment}
        out = open(folder / command.stdout, "wb") if command.stdout else subprocess.DEVNULL
        process = subprocess.Popen([self.program, log, fault, str(number), *words], cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                                   env=environment, start_new_session=True)  # fmt: skip
        try:
            errors = process.communicate(timeout=SECONDS)[1]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            errors = process.communicate()[1]
        if command.stdout:
            out.close()
        return run_of(log.read_text(errors="replace"), errors.decode(errors="replace"), files_in(folder))


def run_of(log, errors, files):
    run = Run(None, None, errors.splitlines(), [], [], [], files)
    written = set()  # paths
    for line in log.splitlines():
        kind, *rest = line.split(" ", 4)
        if kind in ("call", "fault"):
            call = Call(rest[1], int(rest[2]), rest[3], rest[3] in written)
            (written.add if call.name in WRITES else written.discard)(call.path)
            run.calls.append(call)
            if kind == "fault":
                run.faulty.append(call)
        elif kind == "left":
            run.left.append(" ".join(rest))
        elif kind == "exited":
            run.status = int(rest[0])
        elif kind == "killed":
            run.signal = int(rest[0])
    return run


def files_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
            for path in sorted(folder.rglob("*"))}  # fmt: skip


class Trial:
    """A command in a folder that has the files `before` of an earlier run."""

    def __init__(self, injector, command, before):
        self.injector, self.command, self.before = injector, command, before
        self.right, again = self.run_in_new_folder()[0], self.run_in_new_folder()[0]
        if self.right.status is None or self.right.left or not self.right.files:
            raise SystemExit(f"{command.name}: does not work without a fault: {self.right}")
        if (again.files, again.status) != (self.right.files, self.right.status):
            raise SystemExit(f"{command.name}: a second run writes other bytes")
        self.names = {path.split("/")[0] for path in self.right.files}
        if command.stdout:
            self.names = {"standard output"}
        self.last = self.right.files if command.last == ("*",) else command.last

    def places(self):
        """(fault, number of the call) of all places."""
        return [(fault, number) for number, call in enumerate(self.right.calls, 1)
                for fault, applies in FAULTS.items() if applies(call)]  # fmt: skip

    def run_in_new_folder(self, fault="NONE", number=0, use=lambda run, folder: None):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for path, data in self.before.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                if data is None:
                    (folder / path).mkdir()
                else:
                    (folder / path).write_bytes(data)
            run = self.injector.run(self.command, folder, fault, number)
            return run, use(run, folder)

    def attempt(self, fault, number):
        """The outcome, and what is wrong."""
        run, after = self.run_in_new_folder(fault, number, self.what_the_next_run_leaves)
        if not run.faulty:
            return "not reached", ["the place is not reached: " + "; ".join(run.errors)]
        outcome = self.outcome_of(run)
        wrong = self.wrong_end(run, outcome, fault) + self.wrong_files(run, fault) + after
        if run.left:
            wrong.append("leaves a child: " + ", ".join(run.left))
        return outcome, [f"{self.where(run)}: {what}" for what in wrong]

    def where(self, run):
        call = run.faulty[0]
        return f"{call.name} of {pathlib.Path(call.path).name}"

    def outcome_of(self, run):
        if run.signal is not None:
            return "ended"
        return "right" if run.status == self.right.status else "refused"

    def wrong_end(self, run, outcome, fault):
        if outcome == "ended" or fault in SIGNALS:
            expected = SIGNALS.get(fault)
            return [] if run.signal == expected else [f"ended by {run.signal}, expected {expected}"]
        if run.status is None:
            return [f"hangs: takes more than {SECONDS} s"]
        if outcome == "right":
            missed = fault in ("ENOSPC", "FULL", "EIO") and run.faulty[0].name not in REMOVALS
            return [f"status {run.status} as if nothing had failed"] if missed else []
        return self.wrong_errors(run, fault)

    def wrong_errors(self, run, fault):
        lines = [line for line in run.errors if line not in self.right.errors]
        text = " / ".join(lines)
        if run.status == 0 or len(lines) != 1:
            return [f"status {run.status} and {len(lines)} errors, expected one: {text}"]
        wrong = []
        if not any(re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) for name in self.names):
            wrong.append(f"the error does not name {' or '.join(sorted(self.names))}: {text}")
        # The reason of a failed write to standard output is lost, if the next write does not fail, too.
        if REASONS.get(fault, "") not in text and not self.command.stdout:
            wrong.append(f"the error does not say '{REASONS[fault]}': {text}")
        if "Success" in text:
            wrong.append(f"the error gives a wrong reason: {text}")
        return wrong

    def wrong_files(self, run, fault):
        right = self.right.files
        wrong = [self.wrong_file(path, data, fault) for path, data in run.files.items()]
        lacks = [path for path in right if path not in run.files]
        shown = [path for path in self.last if path in run.files and path not in self.before]
        if self.outcome_of(run) == "right" and run.files != right:
            wrong.append(f"status {run.status}, but not the right files: {' '.join(run.files)}")
        if lacks and shown:
            wrong.append(f"{shown[0]} is there without {lacks[0]}")
        return [what for what in wrong if what]

    def wrong_file(self, path, data, fault):
        """Each file is the right one or the earlier one. Temporary ones are left by signals only."""
        if data in (self.right.files.get(path, 0), self.before.get(path, 0)):
            return ""
        if path not in self.right.files:
            return "" if fault in SIGNALS else f"leaves {path}"
        if path == self.command.stdout:
            data = data.removesuffix(b"\n")  # of the write that asks for the reason
        if path in self.command.streams and self.right.files[path].startswith(data):
            return ""
        return f"{path} has {len(data)} bytes, neither the right ones nor the earlier ones"

    def what_the_next_run_leaves(self, run, folder):
        """The next run in the folder must end as if nothing had been."""
        if self.outcome_of(run) == "right" or self.command.appends:
            return []
        if self.command.older is None:  # it refuses to replace its files
            for path in self.right.files:
                (folder / path).unlink(missing_ok=True)
        again = self.injector.run(self.command, folder)
        if (again.status, again.files) == (self.right.status, self.right.files):
            return []
        others = dict(again.files.items() ^ self.right.files.items())
        return [f"the next run ends with {again.status}, and other files {' '.join(sorted(others))}: "
                f"{' / '.join(again.errors)}"]  # fmt: skip
