"""tools/package.sh: who has MPICH and nothing else of what nplus1 is built with unpacks the archive and gets a report, as an
ordinary user. The system is a folder that holds MPICH, its libraries, a shell and the loader; nothing of nplus1's build."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["NPLUS1_BUILD"])
SOURCES = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 300
NOBODY = 65534
PROGRAM = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int rank, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 100; ++i) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\\n", sum);
  MPI_Finalize();
  return 0;
}
"""
# What a shell script of a user's would call, and MPICH's own programs.
TOOLS = ["/bin/sh", "/bin/bash", "/bin/cat", "/bin/ls", "/usr/bin/env", "/usr/bin/mpirun.mpich", "/usr/bin/mpiexec.hydra",
         "/usr/bin/hydra_pmi_proxy", "/usr/bin/hydra_nameserver"]


def libraries(file):
    listed = subprocess.run(["ldd", file], capture_output=True, text=True, check=False).stdout
    return set(re.findall(r"(/\S+) \(0x", listed))


@unittest.skipUnless(os.geteuid() == 0, "only root may change the root folder")
class Archive(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="nplus1-archive-test-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name) / "root"
        for folder in ("tmp", "home", "dev/shm", "proc", "sys", "usr/bin", "usr/lib", "usr/lib64"):
            (self.root / folder).mkdir(parents=True)
        for link in ("bin", "lib", "lib64"):
            (self.root / link).symlink_to(f"usr/{link}")
        for folder in (self.root.parent, self.root, self.root / "home"):
            folder.chmod(0o755)
        for folder in ("tmp", "dev/shm"):
            (self.root / folder).chmod(0o1777)
        os.chown(self.root / "home", NOBODY, NOBODY)

    def bring(self, file):
        """The file and what the loader needs for it, where they are outside."""
        for path in {file, *libraries(file)}:
            inside = self.root / path.lstrip("/")
            if inside.exists():
                continue
            inside.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, inside)

    def as_nobody(self, command):
        """In the folder as its root, with /proc and /dev of this machine, as a user without rights."""
        mounts = ("mount -t proc proc proc && mount --rbind /sys sys && mount --bind /dev/shm dev/shm && touch dev/null dev/urandom dev/zero && "
                  "mount --bind /dev/null dev/null && mount --bind /dev/urandom dev/urandom && mount --bind /dev/zero dev/zero")
        inside = f"cd /home && export HOME=/home PATH=/usr/bin:/bin && {command}"
        return subprocess.run(["unshare", "--mount", "--", "sh", "-c",
                               f'cd "$0" && {mounts} && exec chroot --userspec={NOBODY}:{NOBODY} . /bin/sh -c "$1"', self.root, inside],
                              capture_output=True, text=True, timeout=LIMIT, check=False, stdin=subprocess.DEVNULL,
                              env={"PATH": os.environ["PATH"]})

    def test_it_needs_mpich_and_no_rights(self):
        made = subprocess.run([SOURCES / "tools/package.sh", BUILD], capture_output=True, text=True, timeout=LIMIT, check=True)
        archive = pathlib.Path(made.stdout.split()[-1])
        archive = archive if archive.is_absolute() else SOURCES / archive
        self.addCleanup(archive.unlink)
        for tool in TOOLS:
            if pathlib.Path(tool).exists():
                self.bring(tool)
        shutil.copy(shutil.which("mpirun.mpich"), self.root / "usr/bin/mpirun")
        (self.root / "program.c").write_text(PROGRAM)
        subprocess.run(["mpicc.mpich", "-g", "-o", self.root / "home/app", self.root / "program.c"], check=True)
        for library in libraries(self.root / "home/app"):
            self.bring(library)
        nothing = self.as_nobody("mpirun -np 2 ./app")
        if "mount" in nothing.stderr and nothing.returncode != 0:
            self.skipTest("mount is not allowed here")
        self.assertEqual((nothing.returncode, nothing.stdout), (0, "sum 1\n"), nothing.stderr)
        subprocess.run(["tar", "-xzf", archive, "-C", self.root / "home"], check=True)
        folder = archive.name.removesuffix(".tar.gz")
        # Nothing of ours was there before: what ours load must come from the archive.
        for name in ("libfmt.so.9", "libsimgrid.so.3.32", "libopen-trace-format2.so.10"):
            self.assertEqual(list((self.root / "usr").rglob(name)), [])
        run = self.as_nobody(f"{folder}/bin/nplus1 run -n 4 -o out -- ./app && ls out")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.splitlines()[0], "sum 6")
        self.assertIn("report.html", run.stdout)
        self.assertIn("4 of 4 ranks observed", run.stderr)
        torus = self.as_nobody(f"{folder}/bin/nplus1 replay out --platform {folder}/share/nplus1/platforms/torus.xml")
        self.assertEqual(torus.returncode, 0, torus.stderr)
        self.assertIn("torus.xml", torus.stdout)
        otf2 = self.as_nobody(f"{folder}/bin/nplus1 convert out --to otf2 -o trace && ls trace")
        self.assertEqual(otf2.returncode, 0, otf2.stderr)
        self.assertIn("traces.otf2", otf2.stdout)


if __name__ == "__main__":
    unittest.main()
