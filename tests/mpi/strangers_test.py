"""Processes that are not of the job attack it, as another user (where the test is root) and as the same one who does not
know the job's key: it runs as if they were not there, and the results are all there."""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import time
import unittest
import warnings

from live import LIMIT, LiveTest, NPLUS1, descendants, environment, wait_until

NOBODY = 65534
# All wait for each other again and again, for about a second.
SCRIPT = "repeat 20 {{ delay 0.05; barrier; send {0} 1000; recv -1 1000 }}"
RANKS = 3
# A greeting as it would be believed if words were enough: version, rank, ranks, pid.
CLAIM = [number.to_bytes(4, "little") for number in (4, 2, RANKS, 1)]
ABSURD = [b"\xff" * 16, CLAIM[0] + b"\xff\xff\xff\x7f" * 3, CLAIM[0] + bytes(12), os.urandom(4096), b"GET / HTTP/1.1\r\n\r\n"]


def unix_names():
    """Abstract sockets of simulators, as anybody can read them."""
    names = {line.split()[-1] for line in pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]}
    return {"\0" + name[1:] for name in names if name.startswith("@nplus1-")}


def connect(place):
    family = socket.AF_UNIX if isinstance(place, str) else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM)
    connection.settimeout(1)
    connection.connect(place)
    return connection


def listening_ports(process):
    """The TCP ports that a process of ours listens on."""
    inodes = set()
    for descriptor in pathlib.Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):
            inodes.add(os.readlink(descriptor).removeprefix("socket:[").removesuffix("]"))
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in inodes:
                ports.add(int(words[1].split(":")[1], 16))
    return ports


# Each is called again and again with a connection.

def claims_a_rank_and_leaves(connection):
    connection.sendall(b"".join(CLAIM))
    connection.close()


def says_absurd_things(connection):
    connection.sendall(ABSURD[time.monotonic_ns() % len(ABSURD)])
    connection.close()


def asks_for_memory(connection):
    """Exits with 1 if it gets anything with a descriptor."""
    connection.sendall(b"".join(CLAIM) + bytes(4))
    with contextlib.suppress(OSError):
        for _ in range(3):
            data, descriptors, _, _ = socket.recv_fds(connection, 65536, 8)
            if descriptors:
                os._exit(1)
            if not data:
                break


held = []


def sits_there(connection):
    held.append(connection)
    time.sleep(0.01 if len(held) < 30 else 0.5)


def sends_a_byte_now_and_then(connection):
    if len(held) < 20:
        held.append(connection)
    for one in held:
        with contextlib.suppress(OSError):
            one.send(CLAIM[0][:1])
    time.sleep(0.2)


class Strangers(LiveTest):
    def attack(self, deed, places, user):
        """A process of `user` that does `deed` to all places, until it is killed."""
        child = os.fork()
        if child:
            self.addCleanup(self.end, child)
            return child
        warnings.simplefilter("ignore", ResourceWarning)  # connections are left open on purpose
        try:
            if user:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            while True:
                for place in places():
                    with contextlib.suppress(OSError):
                        deed(connect(place))
                time.sleep(0.001)
        finally:
            os._exit(3)

    def end(self, child):
        with contextlib.suppress(ChildProcessError, ProcessLookupError):
            os.kill(child, signal.SIGKILL)
            return os.waitpid(child, 0)[1]

    def users(self):
        return [NOBODY, 0] if os.geteuid() == 0 else [0]

    def job(self, options=(), more=None):
        folder = self.folder / f"result-{self.runs}"
        self.runs += 1
        command = self.command(RANKS, "script", *(SCRIPT.format((r + 1) % RANKS) for r in range(RANKS)), output=folder,
                               options=("--compute", "fixed:0", *options))
        return folder, subprocess.Popen(command, cwd=self.folder, env=environment(more), text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)

    def simulator_of(self, job):
        return wait_until(lambda: [p for p, name in descendants(job.pid).items() if name == "nplus1-simnode"])[0]

    def check(self, folder, job):
        try:
            out, err = job.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            job.terminate()
            job.communicate()
            self.fail("the job hangs")
        self.assertEqual(job.returncode, 0, err)
        self.assertTrue((folder / "summary.json").exists(), err)
        summary = json.loads((folder / "summary.json").read_text())
        self.assertTrue(summary["complete"])
        self.assertEqual(summary["trust"]["active_ranks"], RANKS)
        self.assertEqual(summary["point_to_point"]["messages"], [[0, 20, 0], [0, 0, 20], [20, 0, 0]])
        return summary

    def attacked(self, deed):
        """On the unix socket from the first moment on, then on the TCP port."""
        for user in self.users():
            with self.subTest(user=user or "same", over="unix"):
                before = unix_names()
                child = self.attack(deed, lambda: unix_names() - before, user)
                self.check(*self.job())
                self.assertEqual(self.end(child) & 0xff, signal.SIGKILL, "it got what it wanted")
            with self.subTest(user=user or "same", over="tcp"):
                folder, job = self.job(options=("--transport", "tcp"))
                simulator = self.simulator_of(job)
                ports = wait_until(lambda: listening_ports(simulator))
                child = self.attack(deed, lambda: [("127.0.0.1", port) for port in ports], user)
                self.check(folder, job)
                self.assertEqual(self.end(child) & 0xff, signal.SIGKILL, "it got what it wanted")

    def test_who_only_says_that_he_is_a_rank_is_not_believed(self):
        self.attacked(claims_a_rank_and_leaves)

    def test_nobody_else_gets_the_memory(self):
        self.attacked(asks_for_memory)

    def test_who_sits_there_and_says_nothing_holds_nobody_up(self):
        self.attacked(sits_there)

    def test_who_sends_a_byte_now_and_then_holds_nobody_up(self):
        self.attacked(sends_a_byte_now_and_then)

    def test_absurd_greetings_end_nothing(self):
        self.attacked(says_absurd_things)

    def test_the_simulators_name_cannot_be_taken_first(self):
        """Whatever can be computed from outside: process ids and start times of the process manager."""
        slow = self.folder / "slow"
        slow.write_text(f'#!/bin/sh\nsleep 0.5\nexec "{NPLUS1.parent}/nplus1-simnode" "$@"\n')
        slow.chmod(0o755)
        for user in self.users():
            with self.subTest(user=user or "same"):
                folder, job = self.job(more={"NPLUS1_SIMNODE": slow})
                proxy = wait_until(lambda: [p for p, n in descendants(job.pid).items() if n == "hydra_pmi_proxy"])[0]
                started = pathlib.Path(f"/proc/{proxy}/stat").read_text().rsplit(")", 1)[1].split()[19]
                taken = socket.socket(socket.AF_UNIX)
                taken.bind(f"\0nplus1-{proxy}-{started}")
                taken.listen()
                self.check(folder, job)
                taken.close()

    def test_on_one_host_nothing_listens_on_the_network(self):
        folder, job = self.job()
        simulator = self.simulator_of(job)
        wait_until(lambda: not listening_ports(simulator), 1)
        time.sleep(0.3)
        self.assertEqual(listening_ports(simulator), set())
        self.check(folder, job)

    def test_who_was_turned_away_is_in_the_results(self):
        before = unix_names()
        self.attack(claims_a_rank_and_leaves, lambda: unix_names() - before, 0)
        self.assertRegex(" ".join(self.check(*self.job())["notes"]), "connections? (was|were) refused")


if __name__ == "__main__":
    unittest.main()
