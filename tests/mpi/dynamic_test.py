"""Dynamic processes (MPI 4.0, chapter 11) are not modelled: the program gets what MPI gives it, the time is measured, and check
and run name the same calls. Debian's MPICH refuses to start processes and to open ports, bare as well; Open MPI's side is in
openmpi_test.py."""
import json
import subprocess
import unittest

from live import LiveTest, NPLUS1, path_of


class Dynamic(LiveTest):
    def kinds(self):
        """What `nplus1 check` says is not modelled."""
        file = self.folder / "check.json"
        subprocess.run([str(NPLUS1), "check", path_of("dynamic"), "--json", str(file)], check=True, capture_output=True)
        return {call["name"]: call["kind"] for call in json.loads(file.read_text())["unmodelled"]}

    def test_are_refused_or_given_as_bare_and_counted_and_check_says_so_before(self):
        kinds = self.kinds()
        for scenario, first in (("spawn", "MPI_Comm_spawn"), ("ports", "MPI_Open_port")):
            with self.subTest(scenario):
                bare = self.bare(3, "dynamic", scenario)
                run = self.observe(3, "dynamic", scenario, code=bare.code)
                self.assertEqual(sorted(run.stdout.splitlines()), sorted(bare.stdout.splitlines()))
                self.assertTrue(run.summary["complete"])
                self.assertEqual(run.summary["ranks"], 3)
                names = {call["name"] for call in run.summary["unmodelled"]["by_name"]}
                self.assertIn(first, names)
                for name in names & set(kinds):
                    self.assertEqual(kinds[name], "spawn")
                self.assertEqual(names - set(kinds) - {"MPI_Send", "MPI_Recv", "MPI_Sendrecv"}, set())
                self.assertGreater(run.summary["unmodelled"]["share"], 0)


if __name__ == "__main__":
    unittest.main()
