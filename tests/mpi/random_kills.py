#!/usr/bin/env python3
"""Starts jobs and kills, at a random moment, the simulator, a rank, the keeper or mpirun. (Without Hydra's proxy the
ranks run on, bare too.)
Afterwards no process of the job and no new file in /dev/shm may be left. Seeded.

    random_kills.py [--kills N] [--seed S]      with NPLUS1 and NPLUS1_TEST_PROGRAMS as in live.py
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from live import descendants, environment, path_of, NPLUS1, wait_until

VICTIMS = ["simulator", "rank", "keeper", "mpirun"]
SCRIPT = ["repeat 100000 { send 1 100; recv -1 100; allreduce 8 }", "repeat 100000 { recv 0 100; send 0 100; allreduce 8 }",
          "repeat 100000 { allreduce 8 }"]
GONE_WITHIN = 20


def shared_files():
    return set(os.listdir("/dev/shm"))


def marked(mark):
    """Processes of the job: they inherited its mark."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark in (entry / "environ").read_bytes():
                found[int(entry.name)] = (entry / "comm").read_text().strip()
        except OSError:
            pass
    return found


def state_and_parent(process):
    state, parent = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[:2]
    return state, int(parent)


def choose(victim, processes):
    """A process id of that kind, or None while there is none."""
    names = {"simulator": "nplus1-simnode", "mpirun": "mpirun.mpich", "rank": "script"}
    try:
        simulators = [p for p, name in processes.items() if name == names["simulator"]]
        keepers = [state_and_parent(p)[1] for p in simulators]
        if victim == "keeper":
            return keepers[0] if keepers else None
        fitting = [p for p, name in sorted(processes.items())
                   if name == names[victim] and p not in keepers and state_and_parent(p)[0] != "Z"]
    except OSError:  # it has ended meanwhile
        return None
    # Before the keeper has its simulator it looks like a rank.
    return random.choice(fitting) if fitting and keepers else None


def kill_one(number, folder):
    victim = VICTIMS[number % len(VICTIMS)]
    mark = f"kill-{os.getpid()}-{number}"
    files = shared_files()
    job = subprocess.Popen([str(NPLUS1), "run", "-q", "-n", "3", "-o", f"{folder}/{number}", "--", path_of("script"), *SCRIPT],
                           cwd=folder, env=environment({"KILL_MARK": mark}), stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    moment = random.uniform(0, 0.6)
    time.sleep(moment)
    process = wait_until(lambda: choose(victim, descendants(job.pid)), 5)
    if process:
        os.kill(process, signal.SIGKILL)
    time.sleep(0.2)
    if victim == "simulator":  # the job goes on, rightly, and would for long
        job.send_signal(signal.SIGTERM)
    try:
        job.wait(GONE_WITHIN)
    except subprocess.TimeoutExpired:
        pass
    left = wait_until(lambda: not marked(mark.encode()), GONE_WITHIN) or marked(mark.encode())
    new_files = {f for f in shared_files() - files if not str(f).startswith("sem.")}
    problems = []
    if left is not True:
        problems.append(f"processes {left}")
        for p in left:
            os.kill(p, signal.SIGKILL)
    # Hydra and MPICH name their own files after the job's processes and leave them when killed, without us too.
    ours = {f for f in new_files if "nplus1" in f}
    if ours:
        problems.append(f"files {sorted(ours)}")
    job.poll() is None and job.kill()
    job.wait()
    print(f"{number:3}: {victim:9} (pid {process}) after {moment:.2f} s: {', '.join(problems) or 'nothing left'}",
          flush=True)
    return not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory(prefix="nplus1-kills-") as folder:
        clean = [kill_one(i, folder) for i in range(options.kills)]
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
