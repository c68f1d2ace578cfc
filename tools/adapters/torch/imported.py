"""Starts subjects from a process that has imported torch, which takes longer than most checks.

  with Imported() as imported:
      imported.command(program, name)    the command of a subject, instead of python3 PROGRAM NAME

The process forks for every subject. The command, `imported.py SOCKET PROGRAM NAME`, passes its
standard input, output and error to the fork, and exits after the subject with the same exit status.
"""

import os
import runpy
import signal
import socket
import sys
import tempfile
import traceback
from pathlib import Path


class Imported:
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "subjects"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.path))
        listener.listen()
        sys.stdout.flush()
        self.process = os.fork()
        if self.process == 0:
            start_subjects(listener)
        listener.close()
        return self

    def __exit__(self, *_):
        os.kill(self.process, signal.SIGTERM)
        os.waitpid(self.process, 0)
        self.folder.cleanup()

    def command(self, program, name):
        return f"/usr/bin/python3 {Path(__file__).resolve()} {self.path} {program} {name}"


def start_subjects(listener):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the forks
    while True:
        connection, _ = listener.accept()
        words, streams, _, _ = socket.recv_fds(connection, 4096, 3)
        if os.fork() == 0:
            listener.close()
            os._exit(run(connection, streams, words.decode().split("\0")))
        for stream in [connection.detach(), *streams]:
            os.close(stream)


def run(connection, streams, words):
    """Runs the program words[0] with these arguments and streams; returns its exit status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for standard, stream in enumerate(streams):
        os.dup2(stream, standard)
        os.close(stream)
    sys.argv, status = words, 0
    try:
        runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        status = 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    connection.sendall(bytes([status]))
    return status


def main(path, *words):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, ["\0".join(words).encode()], [0, 1, 2])
        status = connection.recv(1)
    return status[0] if status else 1  # no status: the fork was killed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
