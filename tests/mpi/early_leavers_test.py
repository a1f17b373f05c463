"""A rank leaves a collective at its own virtual time, although the MPI library would keep it inside until a late peer
has entered: that peer may be waiting for what the leaver sends next. Natively these programs may hang."""
import unittest
from pathlib import Path

from live import LiveTest

RANKS, LARGE = 4, 1 << 20
# How the late peer waits for 4 bytes with tag 9, before it enters the collective.
WAITS = ["recv {0} 4 9", "recv -1 4 9", "irecv {0} 4 9; poll 0; waitall", "irecv -1 4 9; poll 0; waitall",
         "irecv {0} 4 9; testany; waitall", "irecv {0} 4 9; waitany; waitall", "irecv -1 4 9; waitsome; waitall",
         "irecv {0} 4 9; testall", "irecv {0} 4 9; status 0; waitall", "probe {0} 4 9", "iprobe {0} 4 9",
         "iprobe -1 4 9", "mprobe -1 4 9", "improbe {0} 4 9"]
# Collective, who leaves early, who enters late.
CASES = {"Bcast": ("bcast 0 {0}", 0, 1), "Scatter": ("scatter 0 {0}", 0, 1), "Gather": ("gather 0 {0}", 3, 0),
         "Reduce": ("reduce 0 {0}", 3, 0), "Scan": ("scan {0}", 0, 1), "Alltoallv": ("spread 0 {0}", 0, 1)}
OPTIONS = ("--collectives", "scan=linear,reduce=binomial")  # MPICH's own choices keep the leavers inside


class EarlyLeavers(LiveTest):
    def scripts(self, collective, leaver, late):
        scripts = []
        for rank in range(RANKS):
            script = ""
            for wait in WAITS:
                if rank == leaver:
                    script += f"{collective}; send {late} 4 9; recv {late} 4 8; "
                elif rank == late:
                    script += f"{wait.format(leaver)}; {collective}; send {leaver} 4 8; "
                else:
                    script += f"{collective}; "
            scripts.append(script)
        return scripts

    def check(self, name, bytes_, *options):
        collective, leaver, late = CASES[name]
        scripts = self.scripts(collective.format(bytes_), leaver, late)
        return self.exact(*scripts, options=(*OPTIONS, *options)).summary["rank_end_s"]

    def check_all(self, name):
        for bytes_ in (4, LARGE):
            direct = self.check(name, bytes_)
            self.assertEqual(self.check(name, bytes_, "--direct", "off"), direct)
            self.assertEqual(self.check(name, bytes_, "--transport", "tcp"), direct)

    def test_a_nonblocking_broadcast_lets_its_root_go_too(self):
        """The root completes its Ibcast and changes its buffer while the peer has not entered."""
        self.exact("ibcast 0 1048576; waitall; send 1 4 9", "recv 0 4 9; ibcast 0 1048576; waitall",
                   "ibcast 0 1048576; waitall")


class LargeMessages(LiveTest):
    def test_a_large_eager_send_does_not_wait_for_a_rank_that_receives_something_else_first(self):
        self.exact(f"send 1 {LARGE} 1; send 1 4 2", f"recv 0 4 2; recv 0 {LARGE} 1")
        self.exact(f"isend 1 {LARGE} 1; waitall; send 1 4 2", f"recv 0 4 2; recv 0 {LARGE} 1")

    def test_large_sends_to_each_other_complete(self):
        self.exact(f"send 1 {LARGE}; recv 1 {LARGE}", f"send 0 {LARGE}; recv 0 {LARGE}")

    def test_many_large_messages_taken_in_the_opposite_order(self):
        sends = "; ".join(f"send 1 {LARGE} {tag}" for tag in range(8))
        receives = "; ".join(f"recv 0 {LARGE} {tag}" for tag in reversed(range(8)))
        self.exact(sends, receives)

    def test_all_send_large_messages_to_all_before_anybody_receives(self):
        scripts = []
        for rank in range(4):
            others = [peer for peer in range(4) if peer != rank]
            scripts.append("; ".join([f"send {peer} {LARGE}" for peer in others] +
                                     [f"recv {peer} {LARGE}" for peer in others]))
        self.exact(*scripts)


class UnderContention(LiveTest):
    """Natively MPI keeps everybody in a large Bcast until the last has entered, who polls for what a rank does that has
    left the simulated one. On a platform each decision waits for all ranks that run: none may be forced."""
    PLATFORM = Path(__file__).resolve().parents[2] / "platforms" / "fat_tree.xml"
    RANKS = 8  # from here on MPICH broadcasts 1 MiB by scatter and ring

    def run_on_platform(self, collective, *options):
        scripts = [f"{collective}; "] * self.RANKS
        scripts[1] += f"send {self.RANKS - 1} 4 9"
        scripts[-1] = f"irecv 1 4 9; testall; {collective}"
        run = self.observe(self.RANKS, "script", *scripts,
                           options=("--platform", str(self.PLATFORM), "--compute", "fixed:0", *options))
        self.assertTrue(run.summary and run.summary["complete"], run.stderr)
        self.assertEqual(run.summary["trust"]["forced_decisions"], 0)
        self.assertEqual(run.summary["trust"]["order_inversions"], 0)
        return run.summary["rank_end_s"]

    def test_a_broadcast_lets_a_rank_go_before_the_last_has_entered(self):
        for algorithm in ("binomial", "linear"):
            options = ("--collectives", f"bcast={algorithm}")
            ends = self.run_on_platform("bcast 0 1048576", *options)
            self.assertLess(ends[1], ends[-1])  # it left first: the last one polled until it had sent
            self.assertEqual(self.run_on_platform("bcast 0 1048576", *options), ends)
            self.assertEqual(self.run_on_platform("ibcast 0 1048576; waitall", *options), ends)

    def test_a_scatter_does_so_too(self):
        ends = self.run_on_platform("scatter 0 1048576", "--collectives", "scatter=linear")
        self.assertLess(ends[1], ends[-1])


def add_cases():
    for name in CASES:
        setattr(EarlyLeavers, f"test_{name}_at_4_bytes_and_1_MiB", lambda self, name=name: self.check_all(name))


add_cases()

if __name__ == "__main__":
    unittest.main()
