#!/usr/bin/env python3
"""Starts jobs and, at a random moment, kills the simulator, a rank, the keeper (Open MPI has none), mpirun or `nplus1 run`, calls
MPI_Abort, or lets the disk be full. (Without Hydra's proxy the ranks run on, bare too.) Without `nplus1 run` the job goes on to its
end.
Afterwards no process of the job and no new file in /dev/shm may be left, and the recording must open: whole where the
simulator lived, up to the last second before the kill where it did not, and with its reason where the disk was full.
Seeded.

    random_kills.py [--kills N] [--seed S] [--mpi mpich|openmpi]
                              with NPLUS1, NPLUS1_TEST_PROGRAMS and NPLUS1_OPENMPI_TEST_PROGRAMS as in live.py and openmpi_test.py
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

from live import (alive_below, descendants, environment, hangs_in_open_mpi, left_in_shared_memory, path_of, NPLUS1, shared_files,
                  wait_until)
from recorded import Recording

VICTIMS = ["simulator", "rank", "keeper", "mpirun", "abort", "disk", "nplus1"]
GONE_WITHIN = 20
MOST_LOST_S = 1.0
FOREVER = 1000000


def script(victim):
    """Messages, wildcards and collectives without end, or up to an abort or a normal end."""
    steps = random.randint(1, 5000) if victim == "abort" else 3000 if victim in ("disk", "nplus1") else FOREVER
    end = "; abort 7" if victim == "abort" else ""
    return [f"repeat {steps} {{ send 1 100; recv -1 100; allreduce 8 }}",
            f"repeat {steps} {{ recv 0 100; send 0 100; allreduce 8 }}{end}",
            f"repeat {steps} {{ allreduce 8 }}"]


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


def choose(victim, job, processes, mpi):
    """A process id of that kind, or None while there is none."""
    names = {"simulator": "nplus1-simnode", "mpirun": f"mpirun.{mpi}", "rank": "script", "keeper": "nplus1-keeper"}
    if victim == "nplus1":
        return job if names["rank"] in processes.values() and names["simulator"] in processes.values() else None
    try:
        fitting = [p for p, name in sorted(processes.items())
                   if name == names[victim] and state_and_parent(p)[0] != "Z"]
    except OSError:  # it has ended meanwhile
        return None
    # Before the keepers have their name they look like ranks.
    begun = names["keeper" if mpi == "mpich" else "rank"] in processes.values()
    return random.choice(fitting) if fitting and begun else None


def program(mpi):
    return path_of("script") if mpi == "mpich" else str(pathlib.Path(os.environ["NPLUS1_OPENMPI_TEST_PROGRAMS"]) / "script")


def full_disk(folder):
    """A simulator whose files may not grow beyond a random size."""
    program = folder / "simulator"
    program.write_text(f'#!/bin/bash\nulimit -f {random.randint(0, 200)}\nexec "{NPLUS1.parent}/nplus1-simnode" "$@"\n')
    program.chmod(0o755)
    return {"NPLUS1_SIMNODE": program}


def kill(victim, job, mpi, folder):
    """Kills one process of the job; when, in nanoseconds since 1970, and what is known of it."""
    if mpi == "openmpi" and random.random() < 0.8:  # whose jobs take longer to begin than the moment would
        wait_until(lambda: (folder / "recording").exists())
    moment = random.uniform(0, 3 if victim == "simulator" else 0.8)
    time.sleep(moment)
    process = wait_until(lambda: choose(victim, job.pid, descendants(job.pid), mpi), 5)
    when = time.time_ns()
    if process:
        os.kill(process, signal.SIGKILL)
    time.sleep(0.2)
    if victim in ("simulator", "keeper"):  # the job goes on, rightly, and would for long
        if job.poll() is not None:
            return when, f"pid {process} after {moment:.2f} s, and the job with it"
        job.send_signal(signal.SIGTERM)
    return when, f"pid {process} after {moment:.2f} s"


def recording_problems(victim, folder, when, full):
    """What is wrong with the recording, and what it holds."""
    if not (folder / "recording").exists():
        return [], "no recording yet"
    if (folder / "recording" / "events.n1r").stat().st_size == 0 and (full or victim == "simulator"):
        return [], "an empty recording"
    try:
        recording = Recording(folder)
    except AssertionError as error:
        return ([], "a recording without a header") if full else ([str(error)], "")
    coverage, problems = recording.coverage, []
    told = f"{coverage['events']} events, {coverage['text']}"
    if victim == "simulator":
        last = max((e["detail"]["wall_entry_ns"] for e in recording.events), default=None)
        first = (folder / "recording").stat().st_ctime_ns
        if when - (last or first) > MOST_LOST_S * 1e9:
            problems.append(f"the last {(when - (last or first)) / 1e9:.2f} s are not in the recording")
    elif full:
        if not coverage["complete"] and not (coverage["error"] or coverage["stopped"] or not coverage["closed"]):
            problems.append(f"incomplete without a reason: {told}")
    elif not coverage["complete"]:
        problems.append(f"not closed: {told}")
    return problems, told


def one_job(number, scratch, mpi):
    victims = [v for v in VICTIMS if mpi == "mpich" or v != "keeper"]
    victim = victims[number % len(victims)]
    mark = f"kill-{os.getpid()}-{number}"
    files = shared_files()
    folder = scratch / str(number)
    more = full_disk(scratch) if victim == "disk" else {}
    job = subprocess.Popen([str(NPLUS1), "run", "-q", "-n", "3", "-o", str(folder), "--", program(mpi),
                            *script(victim)], cwd=scratch, env=environment({"KILL_MARK": mark, **more}),
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    when, how = (time.time_ns(), "by itself") if victim in ("abort", "disk") else kill(victim, job, mpi, folder)
    problems = ["the job ended"] if "the job with it" in how else []
    try:
        code = job.wait(3 * GONE_WITHIN)
        if victim == "disk" and code != 0:
            problems.append(f"exit code {code}")
    except subprocess.TimeoutExpired:
        if hangs_in_open_mpi(job.pid):
            job.terminate()
        else:
            problems.append(f"hangs: {alive_below(job.pid)}")
    patience = GONE_WITHIN if victim != "nplus1" else 3 * GONE_WITHIN  # the job goes on to its end
    left = wait_until(lambda: not marked(mark.encode()), patience) or marked(mark.encode())
    # Hydra and MPICH name their own files after the job's processes and leave them when killed, without us too.
    ours = left_in_shared_memory(files)
    if left is not True:
        problems.append(f"processes {left}")
        for p in left:
            os.kill(p, signal.SIGKILL)
    if ours:
        problems.append(f"files {ours}")
    job.poll() is None and job.kill()
    job.wait()
    more_problems, told = recording_problems(victim, folder, when, victim == "disk")
    problems += more_problems
    if victim == "nplus1" and "pid None" not in how and not (folder / "summary.json").exists():
        problems.append("no result")
    print(f"{number:3}: {victim:9} ({how}): {', '.join(problems) or 'nothing left'}; {told}", flush=True)
    return not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mpi", choices=("mpich", "openmpi"), default="mpich")
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory(prefix="nplus1-kills-") as folder:
        clean = [one_job(i, pathlib.Path(folder), options.mpi) for i in range(options.kills)]
    print(f"{sum(clean)} of {len(clean)} without a finding")
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
