"""What bash, zsh and fish complete after `nplus1` is what --help lists, verb by verb."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

NPLUS1 = os.environ["NPLUS1"]
SCRIPTS = pathlib.Path(os.environ["NPLUS1_BUILD"]) / "completions"
LIMIT = 60


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=LIMIT, check=True)
    assert not done.stderr, done.stderr
    return done.stdout


def verbs_in(text):
    listed = text.split("Verbs:")[1] if "Verbs:" in text else ""
    return [line.split()[0] for line in listed.splitlines() if re.match(r"  \w", line)]


def options_in(text):
    """Those that an option's line begins with; not those that descriptions mention."""
    words = set()
    for line in text.splitlines():
        if re.match(r"  -", line):
            words |= set(re.findall(r"(?:^|,)(--?[\w-]+)", line.split()[0]))
    return words


def all_paths():
    paths = [()]
    for verb in verbs_in(run(NPLUS1, "--help")):
        paths.append((verb,))
        paths += [(verb, sub) for sub in verbs_in(run(NPLUS1, verb, "--help"))]
    return paths


class Completions(unittest.TestCase):
    def bash(self, *words):
        script = ('source "$0"; COMP_WORDS=(nplus1 "$@"); COMP_CWORD=$#; _nplus1; '
                  '[ ${#COMPREPLY[@]} = 0 ] || printf "%s\\n" "${COMPREPLY[@]}"')
        return run("bash", "-c", script, SCRIPTS / "nplus1", *words).split()

    def fish(self, *words):
        line = " ".join(("nplus1", *words))
        return [row.split("\t")[0] for row in run("fish", "-c", f"source {SCRIPTS}/nplus1.fish; complete -C '{line}'").splitlines()]

    def test_bash_completes_verbs_and_options(self):
        for path in all_paths():
            with self.subTest(path=path):
                text = run(NPLUS1, *path, "--help")
                options = options_in(text)
                self.assertGreater(len(options), 1)
                self.assertEqual(set(self.bash(*path, "-")), options)
                for verb in verbs_in(text):
                    self.assertIn(verb, self.bash(*path, verb[:2]))

    def test_fish_completes_verbs_and_options(self):
        for path in ((), ("run",), ("guidelines", "run"), ("overlap", "measure"), ("whatif",)):
            with self.subTest(path=path):
                text = run(NPLUS1, *path, "--help")
                long_options = {word for word in options_in(text) if word.startswith("--")}
                self.assertLessEqual(long_options, set(self.fish(*path, "--")))
        self.assertNotIn("--nrep", self.fish("run", "--"))  # of guidelines run
        self.assertIn("guidelines", self.fish("gui"))

    def test_zsh_reads_its_script_which_has_every_word(self):
        run("zsh", "-n", SCRIPTS / "_nplus1")
        text = (SCRIPTS / "_nplus1").read_text()
        for path in all_paths():
            shown = run(NPLUS1, *path, "--help")
            for word in (*verbs_in(shown), *options_in(shown)):
                self.assertRegex(text, rf"(?m)^ +'?{re.escape(word)}:")

    def test_after_two_dashes_and_in_other_places_files_are_completed(self):
        self.assertEqual(self.bash("run", "-n", "4", "--", "-"), [])
        self.assertIn("completions_test.py", self.bash("report", "completions_te"))

    def test_installing_puts_them_where_the_shells_look(self):
        self.assertTrue(all(shutil.which(shell) for shell in ("bash", "zsh", "fish")))
        install = (SCRIPTS.parent / "cli/cmake_install.cmake").read_text()
        for place in ("bash-completion/completions", "zsh/site-functions", "fish/vendor_completions.d"):
            self.assertIn(place, install)


if __name__ == "__main__":
    unittest.main()
