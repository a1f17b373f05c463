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

OPEN_MPI = shutil.which("mpirun.openmpi") and (NPLUS1.parent / "nplus1-guidelines-runner-openmpi").exists()
ALLOW_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1}
TUNED = ("Allgather_with_Gather_Bcast", "Allreduce_with_Reduce_Bcast", "Alltoall_with_Alltoallv",
         "Bcast_with_Scatter_Allgather", "Gather_with_Allgather", "Reduce_with_Reduce_scatter_block_Gather",
         "Reduce_scatter_with_Allreduce", "Reduce_scatter_block_with_Reduce_Scatter", "Scan_with_Exscan_Reduce_local",
         "Scatter_with_Bcast")


def all_replaced(folder, ranks, template="libnplus1-tuned.so"):
    """A library whose profile replaces every function at every size."""
    profile = "".join(f"{m.split('_with_')[0]} {ranks} 0 1000000 {m}\n" for m in TUNED)
    library = folder / f"all-{ranks}.so"
    library.write_bytes((LIBRARIES / template).read_bytes() + profile.encode() +
                        b"%019d\n# nplus1 guidelines profile\n" % len(profile))
    return library


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
