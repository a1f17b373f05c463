#!/usr/bin/env python3
"""Writes docs/launchers.md: which launcher starts programs of which MPI library and language under `nplus1 run --`, and what
held. Every row is run when it is written. Needs root, Slurm (Debian: slurm-wlm, munge), Open MPI and python3-mpi4py.

Usage: table.py BUILD [FILE]     FILE: docs/launchers.md
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

SOURCES = pathlib.Path(__file__).resolve().parents[2]
STAGE = SOURCES / "tests/mpi/two_hosts.sh"
SLURM = SOURCES / "tests/mpi/slurm.py"
EXACT = "--network lsb:latency=1e-6,bandwidth=1e9 --compute fixed:1e-6"
HYDRA_FAR = f"-launcher ssh -launcher-exec {STAGE} -hosts ha,hb -iface cable"
ON_TWO_HOSTS = [STAGE]
SLURM_HERE = [SLURM, "--"]
SLURM_FAR = [STAGE, "env", f"SLURM_NEIGHBOUR={STAGE} hb exec", SLURM, "ha=ha=10.77.0.1", "hb=hb=10.77.0.2", "--"]
ROOT = "--allow-run-as-root" if os.geteuid() == 0 else ""
# MPI, launcher, where, what the commands run in, the line, variables before it. Open MPI 4.1 by itself makes no windows over hosts
# without RDMA (MPI_ERR_WIN), and with osc=pt2pt none for threads.
WAYS = [
    ("MPICH 4.0", "mpirun.mpich", "one host", [], "mpirun.mpich -n 4", ""),
    ("MPICH 4.0", "mpiexec.hydra", "two hosts, Hydra's own agent", ON_TWO_HOSTS, f"mpiexec.hydra -n 4 {HYDRA_FAR}", ""),
    ("MPICH 4.0", "srun --mpi=pmi2", "two nodes of one host", SLURM_HERE, "srun --mpi=pmi2 -N 2 -n 4", ""),
    ("MPICH 4.0", "srun --mpi=pmi2", "two hosts", SLURM_FAR, "srun --mpi=pmi2 -N 2 -n 4", ""),
    ("MPICH 4.0", "mpirun.mpich in salloc", "two nodes of one host", [*SLURM_HERE, "salloc", "-Q", "-N2", "-n4"],
     "mpirun.mpich -n 4", ""),
    ("Open MPI 4.1", "mpirun.openmpi", "one host", [], f"mpirun.openmpi {ROOT} --oversubscribe -n 4", ""),
    ("Open MPI 4.1", "srun --mpi=pmix", "one node", SLURM_HERE, "srun --mpi=pmix -N 1 -n 4", ""),
    ("Open MPI 4.1", "srun --mpi=pmix", "two hosts", SLURM_FAR, "srun --mpi=pmix -N 2 -n 4", "OMPI_MCA_osc=ucx"),
    ("Open MPI 4.1", "srun --mpi=pmix", "two hosts", SLURM_FAR, "srun --mpi=pmix -N 2 -n 4", "OMPI_MCA_osc=pt2pt"),
]
# language, program, arguments, what it is about; of all MPI libraries but where one is named
PROGRAMS = [("C", "hello_c", "", "start and end", ""), ("C", "halo", "5 1000", "messages", ""),
            ("C", "waitany", "", "Waitany", ""), ("C++", "hello_cpp", "", "start and end", ""),
            ("mpif.h", "hello_mpifh", "", "start and end", ""), ("use mpi", "hello_mpi", "", "start and end", ""),
            ("use mpi_f08", "hello_f08", "", "start and end", ""), ("C", "launched", "windows", "one-sided", ""),
            ("C", "launched", "files shared.out", "MPI-IO", ""), ("C", "launched", "threads", "MPI_THREAD_MULTIPLE", ""),
            ("C", "launched_session", "", "a session, without MPI_Init", "MPICH"),
            ("Python", "/usr/bin/python3", f"{SOURCES}/tests/launchers/exchange.py", "mpi4py: objects, arrays, a window", "Open")]
HEAD = """# Launchers: what was tried

Written by `tests/launchers/table.py BUILD`, which runs every row: the program by the launcher alone, and with `nplus1 run --` before the same line. Four ranks each, on given compute times. "Times" are the virtual times at which the ranks end: those of the same program under `mpirun.mpich` on one host, to the picosecond (of Python, which Debian has for Open MPI alone, under `mpirun.openmpi`). Two hosts are network namespaces of one machine: they have names, addresses and shared memory names of their own, and nothing but the file system in common. Open MPI 4 has no sessions; over hosts without RDMA it makes windows only where `OMPI_MCA_osc` names a component for that (else MPI_ERR_WIN, bare as well). [cli.md](cli.md) says what a line may hold.

| MPI | launcher | where | language | what was run | what held |
|---|---|---|---|---|---|
"""
TAIL = """
**The archive on a Debian that has MPICH alone.** `tests/launchers/bare_debian.sh BUILD` makes a minimal Debian 12 (debootstrap, with the package `mpich`; 270 MiB, no compiler, no Python, nothing that nplus1 is built with), a user in it, and unpacks the archive of `tools/package.sh` as that user. What held, on the first run (70 s, of which 55 for the Debian; load 15): the program's output as bare with 4 of 4 ranks observed, `report`, `patterns`, `waitstates`, `replay` on the archive's torus, `--patterns-only`, `doctor`; and when the folder is deleted no file, process or shared memory is left. The test cli.archive does the same in a folder of files of this machine's.

Not tried: `flux run` and PRRTE's `prun`, of which Debian 12 has no package. Their lines are understood and made (tests/cli/launch_test.py, with stand-ins), as their manuals have them. Nor Open MPI's own mpirun on several hosts: its mpirun hands no environment to other hosts, so that ranks there would not find the simulator; `srun` does. Under `srun` exit codes are srun's: after a deadlock that nplus1 proves, 137 where Hydra's is 86.
"""


def environment():
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NPLUS1", "LD_PRELOAD", "SLURM", "PMI"))}
    return {**kept, "OMPI_MCA_mpi_yield_when_idle": "1"}


def program_of(build, mpi, name):
    folders = ["openmpi-tests"] if mpi.startswith("Open") else ["examples", "mpi-tests"]
    return name if "/" in name else next(p for f in folders if (p := build / "bin" / f / name).exists())


def programs_of(mpi, variables):
    return [program for program in PROGRAMS
            if mpi.startswith(program[-1]) and ("pt2pt" not in variables or program[-2] == "one-sided")]


def run_all(build, mpi, stage, line, variables, folder):
    """[(bare's output, observed output, summary or None)] of all programs, in one go: a Slurm is started once."""
    steps = [f"export {variables}"] if variables else []
    for i, (_, name, arguments, *_) in enumerate(programs_of(mpi, variables)):
        job = f"{line} {program_of(build, mpi, name)} {arguments}"
        steps.append(f"{job} > bare-{i} 2> bare-{i}.err; echo $? >> bare-{i}")
        steps.append(f"{build}/bin/nplus1 run -q -o result-{i} {EXACT} -- {job} > seen-{i} 2> seen-{i}.err; echo $? >> seen-{i}")
    done = subprocess.run([*map(str, stage), "sh", "-c", "\n".join(steps)], cwd=folder, env=environment(), check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"table: {shlex.join(map(str, stage))}: {done.stderr}")
    results = []
    for i in range(len(programs_of(mpi, variables))):
        summary = folder / f"result-{i}" / "summary.json"
        results.append([sorted((folder / f"{kind}-{i}").read_text().splitlines()) for kind in ("bare", "seen")] +
                       [json.loads(summary.read_text()) if summary.exists() else None])
    return results


def verdict(bare, seen, summary, reference):
    said = ["output and exit code as bare" if bare == seen else "**output or exit code differ**"]
    if summary is None:
        return ", ".join([*said, "**no result**"])
    trust = summary["trust"]
    said.append(f"{trust['active_ranks']} of 4 ranks observed over {summary['transport']}")
    if trust["clock_mismatches"]:
        said.append(f"**{trust['clock_mismatches']} clock mismatches**")
    if summary["unmodelled"]["calls"]:
        said.append(f"**{summary['unmodelled']['calls']} calls not modelled**")
    said.append("times" if summary["rank_end_s"] == reference else "**other times**")
    return ", ".join(said)


def main(build, file):
    rows, references = [], {}
    for mpi, launcher, where, stage, line, variables in WAYS:
        with tempfile.TemporaryDirectory(prefix="nplus1-table-") as folder:
            results = run_all(build, mpi, stage, line, variables, pathlib.Path(folder))
        for (language, name, arguments, about, _), (bare, seen, summary) in zip(programs_of(mpi, variables), results):
            reference = references.setdefault((name, arguments), summary and summary["rank_end_s"])
            held = verdict(bare, seen, summary, reference)
            words = " ".join(pathlib.Path(word).name for word in (name, *arguments.split()))
            if bare != seen:
                print(f"bare: {bare}\nseen: {seen}", file=sys.stderr)
            if variables:
                launcher = f"{variables} {line.split(' -N')[0]}"
            rows.append(f"| {mpi} | `{launcher}` | {where} | {language} | `{words}`: {about} | {held} |")
            print(rows[-1], flush=True)
    file.write_text(HEAD + "\n".join(rows) + "\n" + TAIL)
    return 1 if any("**" in row for row in rows) else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else SOURCES / "docs/launchers.md"))
