"""Recordings whose checksums hold and whose claims do not: no verb crashes, goes on for ever, takes memory that the file
is not worth, or calls bad input a bug of ours."""
import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ["NPLUS1_BUILD"]) / "bin"
VERBS = {
    "convert-otf2": lambda source, out: ["convert", source, "-o", out / "a.otf2"],
    "convert-csv": lambda source, out: ["convert", source, "-o", out / "a.csv"],
    "convert-goal": lambda source, out: ["convert", source, "-o", out / "a.goal"],
    "patterns": lambda source, out: ["patterns", source],
    "collectives": lambda source, out: ["collectives", source],
    "waitstates": lambda source, out: ["waitstates", source, "--no-ideal"],
    "replay": lambda source, out: ["replay", source, "--network", "lsb"],
    "guidelines": lambda source, out: ["guidelines", "check", measured(out), "--application", source],
    "report": lambda source, out: ["report", source, "-o", out / "page.html"],
}
MEMORY = 3 << 30  # of addresses: the largest case is a file of some hundred bytes
SECONDS = 100     # on a busy machine; each takes well below a second of its own


def measured(folder):
    rows = "".join(f"{run},{test},2,0,8,{time}e-6,\n" for run in range(10) for test, time in (("Scan", 3), ("Scan_with_Exscan_Reduce_local", 1)))
    (folder / "measurements.csv").write_text("mpirun,test,p,nrep_index,msize,runtime_sec,runtime_without_copies_sec\n" + rows)
    return folder


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class HostileRecordings(unittest.TestCase):
    def test_end_in_a_message(self):
        with tempfile.TemporaryDirectory(prefix="nplus1-hostile-") as scratch:
            folder = pathlib.Path(scratch)
            names = subprocess.run([BIN / "write_hostile", folder], capture_output=True, text=True, check=True).stdout
            for name in names.split():
                for verb, words in VERBS.items():
                    with self.subTest(recording=name, verb=verb):
                        out = folder / f"{name}-{verb}"
                        out.mkdir()
                        self.give(words(folder / name, out))

    def give(self, words):
        result = subprocess.run([os.environ["NPLUS1"], *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, timeout=SECONDS, check=False, preexec_fn=limit_memory)
        if result.returncode == 69 and words[0] == "convert":  # an OTF2 archive has files for each of its ranks
            self.assertIn("there is not enough memory for what was asked", result.stderr)
        else:
            self.assertIn(result.returncode, (0, 65, 66), result.stderr)
        self.assertNotIn("report it", result.stderr)


if __name__ == "__main__":
    unittest.main()
