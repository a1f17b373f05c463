"""`cpack -G DEB`: the package names what it needs, and is installed, runs and is removed again without a trace; and what
packaging/ has for other systems is sound as far as can be seen here."""
import ast
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


def run(*words, **named):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=LIMIT, check=False,
                          stdin=subprocess.DEVNULL, **named)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stdout}{done.stderr}")
    return done


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="nplus1-package-test-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        run("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", cls.folder / "made")
        (cls.package,) = (cls.folder / "made").glob("nplus1_*.deb")

    def test_what_it_depends_on_is_installed_here(self):
        """It was built here, so every package that it names must be."""
        needed = run("dpkg-deb", "-f", self.package, "Depends").stdout
        names = [re.split(r"[ |(]", part.strip())[0] for part in needed.split(",")]
        self.assertIn("mpich", names)
        self.assertIn("libsimgrid3.32", names)
        for name in names:
            status = run("dpkg-query", "-W", "-f", "${db:Status-Status}", name).stdout
            self.assertIn("installed", status, name)

    def test_nothing_in_it_leads_to_where_it_was_built(self):
        listed = run("dpkg-deb", "-c", self.package).stdout
        self.assertIn("./usr/bin/nplus1\n", listed)
        self.assertNotIn(str(BUILD), listed)
        for line in listed.splitlines():
            self.assertRegex(line.split()[5], r"^\./(usr(/.*)?)?$")
            self.assertEqual(line.split()[1], "root/root")

    @unittest.skipUnless(os.geteuid() == 0, "dpkg installs as root")
    def test_it_is_installed_runs_and_goes_without_a_trace(self):
        root = self.folder / "root"
        (root / "var/lib/dpkg/updates").mkdir(parents=True)
        (root / "var/lib/dpkg/info").mkdir()
        for name in ("status", "available"):
            (root / "var/lib/dpkg" / name).touch()
        scripts = self.folder / "scripts"  # what dpkg runs for the package: the loader's cache, and not this machine's
        scripts.mkdir()
        (scripts / "ldconfig").write_text(f"#!/bin/sh\necho called >> {scripts}/log\n")
        (scripts / "ldconfig").chmod(0o755)
        dpkg = ("env", f"PATH={scripts}:{os.environ['PATH']}:/usr/sbin:/sbin", "dpkg", f"--root={root}", "--force-depends",
                "--force-script-chrootless", "--log=/dev/null")
        run(*dpkg, "-i", self.package)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NPLUS1")}
        program = next((root / "usr/lib").glob("**/nplus1/examples/hello_c"))
        done = run(root / "usr/bin/nplus1", "run", "-n", 4, "-o", "out", "--", program, cwd=self.folder, env=environment)
        self.assertEqual(len(done.stdout.splitlines()), 4)
        self.assertIn("4 of 4 ranks observed", done.stderr)
        run(*dpkg, "-r", "nplus1")
        left = [p for p in root.rglob("*") if root / "var" not in (p, *p.parents)]
        self.assertEqual(left, [])
        self.assertEqual((scripts / "log").read_text(), "called\n" * 2)


class Recipes(unittest.TestCase):
    def test_the_spack_recipe_is_python_and_knows_the_version(self):
        recipe = (SOURCES / "packaging/spack/packages/nplus1/package.py").read_text()
        ast.parse(recipe)
        version = re.search(r"project\(nplus1 VERSION (\S+)", (SOURCES / "CMakeLists.txt").read_text()).group(1)
        self.assertIn(f'version("{version}"', recipe)

    def test_all_recipes_install_the_same_packages(self):
        """Those of tools/install_dependencies.sh, which the containers run."""
        for name in ("Dockerfile", "nplus1.def"):
            text = (SOURCES / "packaging" / name).read_text()
            self.assertIn("tools/build.sh", text, name)
            self.assertIn("cmake --install", text, name)

    @unittest.skipUnless(shutil.which("tclsh"), "there is no tclsh")
    def test_the_module_file_sets_what_it_says(self):
        """With the commands of environment-modules replaced by such as print."""
        prefix = self.id()
        script = ("proc module-whatis {t} {}\nproc conflict {n} {}\nproc prepend-path {n v} {puts \"$n=$v\"}\n"
                  "proc puts_help {t} {}\nsource [lindex $argv 0]\n")
        with tempfile.TemporaryDirectory() as folder:
            module = pathlib.Path(folder) / "modules/nplus1"
            module.parent.mkdir()
            shutil.copy(SOURCES / "packaging/modulefile", module)
            probe = pathlib.Path(folder) / "probe.tcl"
            probe.write_text(script)
            said = run("tclsh", probe, module, env={**os.environ, "NPLUS1_PREFIX": prefix}).stdout.splitlines()
        self.assertIn(f"PATH={prefix}/bin", said)
        self.assertIn(f"MANPATH={prefix}/share/man", said)


if __name__ == "__main__":
    unittest.main()
