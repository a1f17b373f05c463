#!/usr/bin/env python3
"""A Slurm of its own, for tests: munged, slurmctld and two slurmd of this machine, with private ports and all files in a
folder. Nothing of it stays. Slurm's daemons need root.

Usage: slurm.py [NODE=HOST=ADDRESS...] -- COMMAND...
Runs COMMAND with SLURM_CONF set and returns its exit code; nodes are n0 and n1 on this host unless they are named: the
first on this host, the second where SLURM_NEIGHBOUR, a command, leads to. Exit code 77 where Slurm is not installed, or
does not come up.
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sinfo")
PATIENCE = 60  # seconds until the nodes are idle
SKIPPED = 77
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"

CONFIGURATION = """ClusterName=nplus1
SlurmctldHost={control}
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n.spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
SlurmdParameters=config_overrides
TmpFS={folder}/%n.tmp
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SchedulerType=sched/builtin
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=5
PartitionName=all Nodes=ALL Default=YES OverSubscribe=YES MaxTime=INFINITE State=UP
"""


def why_not():
    """Why Slurm cannot be started here; empty if nothing is known against it."""
    missing = [p for p in PROGRAMS if shutil.which(p, path=PATH) is None]
    if missing:
        return f"{', '.join(missing)} not installed (Debian: slurm-wlm, munge)"
    return "" if os.geteuid() == 0 else "Slurm's daemons need root"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class NotUp(Exception):
    """What its logs say."""


class Slurm:
    """`with Slurm(folder) as slurm:` and slurm.environment has what srun needs. Raises NotUp."""

    def __init__(self, folder, nodes=None):
        self.folder = pathlib.Path(folder)
        nodes = nodes or [("n0", "localhost", "127.0.0.1"), ("n1", "localhost", "127.0.0.1")]
        ports = free_ports(1 + len(nodes))
        self.nodes = [name for name, _, _ in nodes]
        self.daemons = []
        self.environment = {"SLURM_CONF": f"{self.folder}/slurm.conf"}
        text = CONFIGURATION.format(control=nodes[0][1], ports=ports, folder=self.folder)
        for port, (name, host, address) in zip(ports[1:], nodes):
            text += f"NodeName={name} NodeHostname={host} NodeAddr={address} Port={port} CPUs=8 State=UNKNOWN\n"
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "cgroup.conf").write_text("")
        for name in ["state"] + [f"{node}.{kind}" for node in self.nodes for kind in ("tmp", "spool")]:
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)

    def start(self, *words):
        with open(self.folder / "daemons.log", "a", encoding="utf-8") as log:
            self.daemons.append(subprocess.Popen(words, env={**os.environ, **self.environment, "PATH": PATH}, stdout=log,
                                                 stderr=log, stdin=subprocess.DEVNULL, start_new_session=True))

    def state(self):
        done = subprocess.run(["sinfo", "-h", "-N", "-o", "%T"], env={**os.environ, **self.environment}, text=True,
                              capture_output=True, check=False)
        return done.stdout.split()

    def __enter__(self):
        try:
            munge = self.folder / "munge"
            self.start("munged", "-F", "-f", f"--socket={munge}.socket", f"--key-file={munge}.key",
                       f"--log-file={munge}.log", f"--pid-file={munge}.pid", f"--seed-file={munge}.seed")
            self.start("slurmctld", "-D", "-f", self.environment["SLURM_CONF"])
            neighbour = os.environ.get("SLURM_NEIGHBOUR", "").split()
            for node in self.nodes:
                far = neighbour if node != self.nodes[0] else []
                self.start(*far, "slurmd", "-D", "-N", node, "-f", self.environment["SLURM_CONF"])
            until = time.monotonic() + PATIENCE
            while self.state() != ["idle"] * len(self.nodes):
                if time.monotonic() > until or any(daemon.poll() is not None for daemon in self.daemons):
                    raise NotUp((self.folder / "daemons.log").read_text())
                time.sleep(0.2)
            return self
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons = []


def main(words):
    at = words.index("--")
    if why_not():
        print(f"slurm: {why_not()}", file=sys.stderr)
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="nplus1-slurm-") as folder:
        try:
            with Slurm(folder, [tuple(word.split("=")) for word in words[:at]] or None) as slurm:
                return subprocess.run(words[at + 1:], env={**os.environ, **slurm.environment}, check=False).returncode
        except NotUp as log:
            print(f"slurm: it does not come up:\n{log}", file=sys.stderr)
            return SKIPPED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
