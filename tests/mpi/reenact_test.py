"""nplus1 replay --reenact: a recording performed again. What the re-enactment sends is recorded independently: the
re-enacting program is an MPI program, and nplus1 run observes it."""
import json
import os
import subprocess
import unittest
from collections import Counter

from live import NPLUS1
from recorded import RecordedTest

REENACT = NPLUS1.parent / "nplus1-reenact"
# Under a simulation with given compute times: nothing takes long.
EXAMPLES = [(2, "ping_pong", 20, 3000), (4, "halo", 10, 20000), (4, "master_worker", 20, 10), (4, "waitany", 4, 10),
            (4, "wavefront", 5), (4, "imbalance", 2, 1), (3, "hello_c"), (4, "waitany_order", 2), (3, "wildcards")]
COLLECTIVE = (11, 12)


def messages(recording):
    return Counter((e["rank"], e["peer"], e["tag"], e["size"]) for e in recording.sends() if e["peer"] >= 0)


def collectives(recording, size):
    """(rank, operation, bytes) of those that are no synchronisation; of the whole job, as the program makes them."""
    synchronise = 18
    return Counter((e["rank"], e["operation"], e["size"]) for e in recording.events
                   if e["kind"] in COLLECTIVE and e["operation"] not in (0, synchronise))


class Reenactment(RecordedTest):
    def performed(self, folder, *options, code=0):
        file = self.folder / "reenact.json"
        done = self.run_command([str(NPLUS1), "replay", str(folder), "--reenact", "-q", "--json", str(file), *options])
        self.assertEqual(done.returncode, code, done.stderr)
        self.stdout, self.stderr = done.stdout, done.stderr
        return json.loads(file.read_text()) if code == 0 else None

    def test_every_example_sends_what_was_recorded(self):
        for ranks, *words in EXAMPLES:
            for options in ((), ("--deterministic",)):
                with self.subTest(words, options=options):
                    original, run = self.record(ranks, *words, options=("--compute", "fixed:1e-6"))
                    again, observed = self.record(ranks, str(REENACT), run.folder, "--result", "/dev/null", *options)
                    self.assertEqual(observed.code, 0)
                    self.assertEqual(messages(again), messages(original))
                    if sum(collectives(original, ranks).values()):
                        missing = collectives(original, ranks) - collectives(again, ranks)
                        self.assertEqual(missing, Counter())

    def test_the_verb_says_what_it_performed(self):
        _, run = self.record(2, "ping_pong", 20, 3000)
        result = self.performed(run.folder)
        self.assertEqual(result["messages"], 40)
        self.assertEqual(result["message_bytes"], 40 * 3000)
        self.assertEqual(result["skipped_calls"] + result["gave_up"], 0)
        self.assertIn("performed again by 2 processes", self.stdout)

    def test_computing_takes_as_long_as_it_did(self):
        """first_come computes 0.3 s, natively and again; twice as long with --compute-scale 2."""
        _, run = self.record(3, "first_come", options=("--native", "--record", "full"))
        once = self.performed(run.folder)
        self.assertGreaterEqual(once["makespan_s"], 0.29)
        twice = self.performed(run.folder, "--compute-scale", "2")
        self.assertGreaterEqual(twice["makespan_s"], 0.59)
        self.assertTrue(once["recorded_natively"])
        self.assertEqual(once["other_messages"], 0)

    def test_what_is_stuck_is_ended_and_told_what_to_do(self):
        """Without the computing of rank 1, its message is the first, and nobody sends what comes next."""
        _, run = self.record(3, "first_come", options=("--compute", "fixed:0"))
        options = ("--scale", "region=slow,factor=0", "--patience", "1")
        self.performed(run.folder, *options, code=69)
        self.assertIn("stuck", self.stderr)
        self.assertIn("--deterministic", self.stderr)
        result = self.performed(run.folder, *options, "--deterministic")
        self.assertEqual(result["messages"], 2)
        self.assertLess(result["makespan_s"], 0.29)

    def test_what_the_user_preloads_is_in_its_processes(self):
        """On more processes than cores, too, where they get a library of ours."""
        ranks = min(os.cpu_count() + 1, 16)
        source, seen, library = self.folder / "seen.c", self.folder / "seen", self.folder / "seen.so"
        source.write_text("""#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void) {
  const char* file = getenv("SEEN");
  if (file == NULL || strcmp(program_invocation_short_name, "nplus1-reenact") != 0) return;
  const int descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (write(descriptor, ".", 1) != 1) abort();
  close(descriptor);
}
""")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
        _, run = self.record(ranks, "master_worker", 20, 10, options=("--compute", "fixed:1e-6"))
        done = self.run_command([str(NPLUS1), "replay", str(run.folder), "--reenact", "-q"],
                                {"LD_PRELOAD": library, "SEEN": seen})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(seen.read_text(), "." * ranks)

    def test_a_hypothesis_changes_what_is_performed(self):
        _, run = self.record(2, "ping_pong", 20, 3000)
        result = self.performed(run.folder, "--resize", "all,factor=2")
        self.assertEqual(result["message_bytes"], 40 * 6000)

    def test_a_message_above_2_gib_is_sent_whole(self):
        _, run = self.record(2, "ping_pong", 1, 3000)
        large = 2**31 + 8
        result = self.performed(run.folder, "--resize", f"from=0,bytes={large}", "--patience", "300")
        self.assertEqual(result["message_bytes"], large + 3000)
        self.assertEqual(result["skipped_calls"], 0)

    def test_a_collective_above_2_gib_is_refused_by_name(self):
        _, run = self.record(2, "ping_pong", 1, 3000)
        self.performed(run.folder, "--replace", "from=0,with=bcast,bytes=3GiB", code=66)
        self.assertIn("a collective operation of 3221225472 bytes cannot be performed again", self.stderr)
        self.assertIn("nothing was re-enacted", self.stderr)

    def test_a_wrong_number_of_processes_is_an_error(self):
        _, run = self.record(2, "ping_pong", 1, 10)
        done = self.run_command(["mpirun.mpich", "-np", "1", str(REENACT), str(run.folder)])
        self.assertEqual(done.returncode, 64)
        self.assertIn("the recording has 2 ranks, not 1", done.stderr)

    def test_several_threads_are_an_error_that_says_so(self):
        _, run = self.record(2, "threads")
        self.performed(run.folder, code=66)
        self.assertIn("several threads", self.stderr)

    def test_options_of_simulations_are_refused(self):
        done = subprocess.run([str(NPLUS1), "replay", "x", "--reenact", "--network", "lsb"], capture_output=True, text=True,
                              check=False)
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
