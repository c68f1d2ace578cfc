#!/usr/bin/python3
"""Simulates how many processes share the parts of a golden, with measured times of parts.

    sextant golden CASES -o NAME/ -j 1            one process of one thread, without a pause
    tools/mpi/simulate.py NAME/ --processes 1000 --parts 240000

The model: each part takes the mean time of the measured ones times a scatter drawn from them. Each
machine is slower than the fastest by up to --machines, evenly. A process asks the first one for its next
part: that takes a message there and back (--message), a wait for the dealer's next look (1 ms, as in
main.cc), and --answer seconds of the dealer, which answers one after the other. At the end the dealer
reads the head of each part (--index seconds), --cores of them at a time. Static shares (--static) ask nobody: each process has the parts
that `--shard` would give it. Printed is the share of the ideal: the work of all parts divided by the time of
the run times the number of processes, each at the speed of its machine.
"""

import argparse
import heapq
import pathlib
import random


def times_of_parts(folder):
    """Seconds between the ends of successive parts, without the first one."""
    ends = sorted(path.stat().st_mtime_ns for path in pathlib.Path(folder).glob("part-*.h5"))
    times = [(b - a) / 1e9 for a, b in zip(ends, ends[1:])]
    if len(times) < 8 or min(times) <= 0:
        raise SystemExit(f"{folder}: expected at least 9 parts that one process wrote")
    return times


def simulate(times, options):
    draw = random.Random(options.seed)
    mean = sum(times) / len(times)
    scatter = [time / mean for time in times]
    slowness = [1 + draw.random() * options.machines for _ in range(options.processes)]
    parts = [mean * draw.choice(scatter) for _ in range(options.parts)]
    if options.static:
        loads = [0.0] * options.processes
        for number, time in enumerate(parts):
            loads[number % options.processes] += time * slowness[number % options.processes]
        end = max(loads)
    else:
        asking = [(0.0, process) for process in range(options.processes)]
        dealer_free = end = 0.0
        for time in parts:
            asked, process = heapq.heappop(asking)
            if process > 0:  # the first one deals to itself without a message
                look = asked + options.message + draw.random() * 0.001
                dealer_free = max(look, dealer_free) + options.answer
                asked = dealer_free + options.message
            done = asked + time * slowness[process]
            end = max(end, done)
            heapq.heappush(asking, (done, process))
    end += options.parts * options.index / options.cores
    speed = sum(1 / slow for slow in slowness)  # parts of mean time per mean time, at best
    return sum(parts) / speed / end, mean


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", help="of a golden that one process of one thread wrote")
    parser.add_argument("--processes", type=int, default=1000)
    parser.add_argument("--parts", type=int, default=240000)
    parser.add_argument("--machines", type=float, default=0.2)
    parser.add_argument("--message", type=float, default=5e-5, help="seconds one way")
    parser.add_argument("--answer", type=float, default=2e-5, help="seconds of the dealer")
    parser.add_argument("--index", type=float, default=1e-2, help="seconds to read a head")
    parser.add_argument("--cores", type=int, default=64, help="of the machine that deals")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--static", action="store_true")
    options = parser.parse_args()
    times = times_of_parts(options.folder)
    share, mean = simulate(times, options)
    worst = max(times) / mean
    print(f"{len(times)} parts measured: {mean:.3g} s each, at most {worst:.2f} times as long")
    print(f"{options.processes} processes, {options.parts} parts: {share:.1%} of the ideal")


if __name__ == "__main__":
    main()
