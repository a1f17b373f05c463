"""What the tests of `nplus1 guidelines` share."""
import collections
import csv
import pathlib
import shutil
import subprocess

from live import LiveTest, NPLUS1

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = NPLUS1.parent.parent / "lib"
CATALOGUE = NPLUS1.parent.parent / "share/nplus1/guidelines.json"
VERIFY = NPLUS1.parent / "verify_mock_ups"
PLANTED = NPLUS1.parent / "planted-runner"      # a slow MPI_Reduce, linked
PRELOADED = LIBRARIES / "libplanted-reduce.so"  # the same, to preload


def rows(path):
    with open(path) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def times(path):
    """(test, size) -> its times, of all mpiruns."""
    found = collections.defaultdict(list)
    for row in rows(path):
        found[row["test"], int(row["msize"])].append(float(row["runtime_sec"]))
    return found


class GuidelinesTest(LiveTest):
    def guidelines(self, *words, more=None, code=0):
        done = self.run_command([str(NPLUS1), "guidelines", *map(str, words)], more, timeout=300)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def compiled(self, source, *words, compiler="mpicc.mpich"):
        """A program, or with -shared a library, that is built here as a user would build it."""
        output = self.folder / f"{source.stem}-{compiler}"
        subprocess.run([shutil.which(compiler) or compiler, "-O2", *words, "-o", output, source], check=True, cwd=self.folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return output
