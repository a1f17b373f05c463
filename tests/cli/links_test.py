"""Platforms' links in view, links changed, and ranks placed, from recordings that nplus1 convert makes without MPI."""
import csv
import ctypes
import json
import os
import pathlib
import random
import struct
import unittest

from command import CommandTest

USAGE, NO_INPUT = 64, 66
US = 1_000_000
# Messages are under way before their receives are posted.
UNASKED = ("--simgrid", "smpi/async-small-thresh:65536")
PLATFORMS = pathlib.Path(__file__).resolve().parents[2] / "platforms"


def recording(ranks, messages):
    """Lines of a program in which each rank sends (eagerly), then receives: `messages` are (from, to, size)."""
    lines = [{"record": "run", "text": "nplus1-events/1", "ranks": ranks},
             {"record": "property", "name": "network", "text": "lsb"},
             {"record": "property", "name": "application", "text": "planned"}]
    ordinal = [0] * ranks

    def event(rank, kind, at, **more):
        lines.append({"record": "event", "rank": rank, "kind": kind, "entry_ps": at * US, "exit_ps": at * US,
                      "ordinal": ordinal[rank], "answer": "exit", "answer_exit_ps": at * US, **more})
        ordinal[rank] += 1

    sequence = {}
    for source, destination, size in messages:
        number = sequence.get((source, destination), 0)
        sequence[source, destination] = number + 1
        event(source, "send", 1, peer=destination, tag=0, size=size, call="MPI_Send", answer_sequence=number)
    sequence = {}
    for source, destination, size in messages:
        number = sequence.get((source, destination), 0)
        sequence[source, destination] = number + 1
        event(destination, "recv", 100, peer=source, tag=0, call="MPI_Recv", answer_source=source, answer_tag=0,
              answer_size=size, answer_sequence=number)
    for rank in range(ranks):
        event(rank, "finalize", 100, call="MPI_Finalize")
    return lines


class Links(CommandTest):
    def record(self, name, ranks, messages):
        self.write(f"{name}.jsonl", "".join(json.dumps(line) + "\n" for line in recording(ranks, messages)))
        done = self.nplus1("convert", f"{name}.jsonl", "-o", f"{name}.n1r")
        self.assertEqual(done.returncode, 0, done.stderr)
        return f"{name}.n1r"

    def ok(self, *words):
        done = self.nplus1(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def replayed(self, source, platform, *more):
        out = f"out{len(list(self.folder.iterdir()))}"
        self.ok("replay", source, "--platform", PLATFORMS / f"{platform}.xml", "-o", out, "--quiet", *more)
        return self.folder / out

    def opened(self, file, *words):
        """How often the command and its children open `file`, by inotify(7): at least, as equal events in a row may be one."""
        libc, event = ctypes.CDLL(None), struct.Struct("iIII")
        in_open, in_close = 0x20, 0x10
        with os.fdopen(libc.inotify_init1(os.O_NONBLOCK), "rb", buffering=0) as events:
            self.assertGreaterEqual(libc.inotify_add_watch(events.fileno(), os.fsencode(file), in_open | in_close), 0)
            self.ok(*words)
            return sum(mask == in_open for _, mask, _, _ in event.iter_unpack(events.read(1 << 20) or b""))

    def test_a_search_for_what_to_fix_loads_the_platform_once_for_all_it_tries(self):
        source = self.record("ring", 16, [(r, (r + 1) % 16, 1000 + r) for r in range(16) for _ in range(3)])
        platform = self.folder / "platform.xml"
        platform.write_text((PLATFORMS / "torus.xml").read_text())
        self.ok("replay", source, "--platform", platform, *UNASKED, "--record", "-o", "recorded", "--quiet")
        once = self.opened(platform, "whatif", "recorded", "--balance", "all", "--json", "one.json")
        sweep = self.opened(platform, "whatif", "recorded", "--sweep", "--json", "sweep.json")
        found = json.loads((self.folder / "sweep.json").read_text())
        self.assertGreaterEqual(len(found["candidates"]), 3)
        self.assertGreater(once, 0)
        self.assertLessEqual(sweep, once)

    def test_a_search_for_a_placement_loads_the_platform_once(self):
        source = self.record("pairs", 16, [(a, (a + 8) % 16, 60000) for a in range(16)] * 5)
        platform = self.folder / "platform.xml"
        platform.write_text((PLATFORMS / "torus.xml").read_text())
        once = self.opened(platform, "replay", source, "--platform", platform, "-o", "replayed", "--quiet")
        search = self.opened(platform, "map", source, "--platform", platform, "--replays", "30", "--json", "map.json")
        self.assertGreaterEqual(json.loads((self.folder / "map.json").read_text())["replays"], 30)
        self.assertGreater(once, 0)
        self.assertLessEqual(search, once)

    def makespan(self, source, platform, *more):
        return json.loads((self.replayed(source, platform, *more) / "summary.json").read_text())["virtual_time_s"]

    def test_bytes_of_links_are_those_of_messages_times_links_crossed(self):
        everybody = [(a, b, 1000 + 10 * a + b) for a in range(16) for b in range(16) if a != b]
        source = self.record("transpose", 16, everybody)
        apart = lambda a, b: sum(min((x - y) % 4, (y - x) % 4) for x, y in ((a % 4, b % 4), (a // 4, b // 4)))
        for platform, hops in (("cluster64", lambda a, b: 2), ("fat_tree", lambda a, b: 2 if a // 8 == b // 8 else 4),
                               ("torus", apart), ("dragonfly", None)):
            with self.subTest(platform=platform):
                folder = self.replayed(source, platform)
                found = json.loads((folder / "links.json").read_text())
                carried = sum(link["bytes"] for link in found["links"])
                if hops:
                    self.assertEqual(carried, sum(size * hops(a, b) for a, b, size in everybody))
                self.assertEqual(found["messages"], len(everybody))
                self.assertEqual(sum(site["bytes"] for site in found["sites"]), sum(m[2] for m in everybody))
                in_all = round(found["held_up_s"] * 1e12)
                self.assertGreater(in_all, 0)
                for of in (found["links"], found["sites"], [s for link in found["links"] for s in link["sites"]]):
                    self.assertEqual(sum(round(row["held_up_s"] * 1e12) for row in of), in_all)
                with open(folder / "links.csv", encoding="utf-8") as table:
                    self.assertEqual(sum(int(row["bytes"]) for row in csv.DictReader(table)), carried)
                self.assertIn("held up", (folder / "summary.txt").read_text())
                self.assertIn("data-links", (folder / "report.html").read_text())
                nodes = found["drawing"]["nodes"]
                self.assertEqual(sorted(r for n in nodes for r in n["ranks"]), list(range(16)))

    def test_what_the_drawing_knows_of_switches(self):
        source = self.record("transpose", 16, [(a, b, 10) for a in range(16) for b in range(16) if a != b])
        drawing = lambda p: json.loads((self.replayed(source, p) / "links.json").read_text())["drawing"]
        cluster, tree, torus = drawing("cluster64"), drawing("fat_tree"), drawing("torus")
        switches = lambda d: [n["level"] for n in d["nodes"] if n["host"] is None]
        self.assertEqual(switches(cluster), [1])
        self.assertEqual(sorted(set(switches(tree))), [1, 2])  # two leaves, and the roots that are used
        self.assertEqual(switches(tree).count(1), 2)
        self.assertEqual(switches(torus), [])
        self.assertTrue(cluster["layered"] and tree["layered"])
        self.assertFalse(torus["layered"])

    def test_where_the_topology_changes_nothing_it_says_why(self):
        folder = self.replayed(self.record("one", 4, [(0, 1, 5000)]), "cluster64")
        text = (folder / "summary.txt").read_text()
        self.assertIn("of 1 message 0.0 % met others on a link", text)
        self.assertIn("no two messages were ever on one link", text)

    def test_contention_is_a_wait_state_and_states_add_up(self):
        source = self.record("incast", 9, [(a, 0, 60000) for a in range(1, 9)])
        out = self.replayed(source, "cluster64", "--record", *UNASKED)
        self.ok("waitstates", out, "--json", "w.json")
        total = json.loads((self.folder / "w.json").read_text())["total"]
        states = {key: t for key, t in total["wait_states"].items() if key != "wrong_order_s"}
        # The first of the eight takes eight times as long as alone, of which the receiver waits for seven eighths.
        alone = 60016 / 1.25e9
        self.assertGreater(states["contention_s"], 5 * alone)
        self.assertAlmostEqual(sum(states.values()) + total["transfer_s"], total["waiting_s"] + total["polling_s"], delta=1e-12)
        self.assertGreaterEqual(total["transfer_s"], 0)

    def test_a_link_twice_as_fast_and_one_that_fails(self):
        source = self.record("incast", 9, [(a, 0, 60000) for a in range(1, 9)])
        out = self.replayed(source, "cluster64", "--record", *UNASKED)
        (worst, *_) = json.loads((out / "links.json").read_text())["links"]
        self.assertTrue(worst["name"].endswith("_DOWN"), worst["name"])
        self.ok("whatif", out, "--link", f"{worst['name']}=x2", "--json", "faster.json")
        faster = json.loads((self.folder / "faster.json").read_text())
        before, after = (faster[side]["virtual_time_s"] for side in ("before", "after"))
        self.assertLess(after, 0.75 * before)
        self.assertEqual(faster["hypothesis"], [f"link {worst['name']}=x2"])
        unused = "cluster64_link_63"  # of a host without ranks
        self.ok("whatif", out, "--link", f"{unused}=off", "--json", "unused.json")
        self.assertEqual(json.loads((self.folder / "unused.json").read_text())["saved_s"], 0)
        done = self.nplus1("whatif", out, "--link", f"{worst['name']}=off", "-o", "failed")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"link {worst['name']} has failed", done.stderr)
        for word, mention in (("nobody=x2", "no link 'nobody'"), ("a=2", "a=2"), ("a=x0", "a=x0")):
            done = self.nplus1("whatif", out, "--link", word, "-o", "failed")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(mention, done.stderr)
        done = self.nplus1("replay", source, "--link", "a=x2")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("--link", done.stderr)

    def test_jitter_is_the_same_for_the_same_seed(self):
        source = self.record("ring", 8, [(a, (a + 1) % 8, 5000) for a in range(8)] * 20)
        words = [self.makespan(source, "cluster64", "--jitter", f"exponential/20us/{seed}") for seed in (1, 1, 2)]
        self.assertEqual(words[0], words[1])
        self.assertNotEqual(words[0], words[2])
        self.assertGreater(words[0], self.makespan(source, "cluster64"))

    def test_bursts_are_the_same_for_the_same_seed(self):
        source = self.record("ring", 8, [(a, (a + 1) % 8, 500000) for a in range(8)] * 20)
        words = [self.makespan(source, "cluster64", "--link", f"*=bursts/0.5/1ms/1ms/{seed}") for seed in (1, 1, 2)]
        self.assertEqual(words[0], words[1])
        self.assertNotEqual(words[0], words[2])
        self.assertGreater(words[0], self.makespan(source, "cluster64"))

    def mapped(self, *words):
        self.ok("map", *words)
        return json.loads((self.folder / "map.json").read_text())

    def test_partners_are_brought_together(self):
        """Eight pairs across a fat tree whose uplinks are shared: ranks are given the numbers that part them."""
        source = self.record("pairs", 16, [(a, (a + 8) % 16, 60000) for a in range(16)] * 5)
        platform = PLATFORMS / "fat_tree.xml"
        found = self.mapped(source, "--platform", platform, "--replays", "20", "--json", "map.json", "-o", "placed")
        best = found["placements"][found["best"]]
        start = found["placements"][0]
        self.assertLess(best["time_s"], start["time_s"])
        self.assertLess(best["hop_bytes"], start["hop_bytes"])
        self.assertEqual(sorted(best["hosts"]), sorted(start["hosts"]))
        self.assertEqual(self.makespan(source, "fat_tree", "--map", self.folder / "placed" / "map"), best["time_s"])
        self.assertEqual((self.folder / "placed" / "hostfile.slurm").read_text().split(), best["hosts"])
        ranks = (self.folder / "placed" / "rankfile.openmpi").read_text().splitlines()
        self.assertEqual(ranks[3], f"rank 3={best['hosts'][3]} slot=0")
        machines = (self.folder / "placed" / "machinefile.mpich").read_text().splitlines()
        self.assertEqual(machines, [f"{host}:1" for host in best["hosts"]])
        order = (self.folder / "placed" / "MPICH_RANK_ORDER").read_text().splitlines()[1].split(",")
        self.assertEqual([best["hosts"][int(rank)] for rank in order], start["hosts"])

    def test_the_same_seed_finds_the_same_and_never_worse_than_the_start(self):
        draw = random.Random(5)
        source = self.record("random", 12, [(a, (a + 1 + draw.randrange(11)) % 12, draw.randrange(1, 60000))
                                            for a in range(12) for _ in range(20)])
        for platform in ("torus", "dragonfly"):
            words = (source, "--platform", PLATFORMS / f"{platform}.xml", "--replays", "30", "--json", "map.json")
            first = self.mapped(*words, "--jobs", "1")
            again = self.mapped(*words, "--jobs", "2")
            self.assertEqual(first, again)
            times = [p["time_s"] for p in first["placements"]]
            self.assertEqual(times[first["best"]], min(times))

    def test_several_ranks_on_a_host(self):
        source = self.record("near", 4, [(0, 2, 60000), (2, 0, 60000), (1, 3, 60000), (3, 1, 60000)] * 5)
        self.write("start", "node-0 node-0\nnode-1 node-1\n")
        found = self.mapped(source, "--platform", PLATFORMS / "cluster64.xml", "--start", "start", "--replays", "12",
                            "--json", "map.json", "-o", "placed")
        best = found["placements"][found["best"]]["hosts"]
        self.assertEqual(best[0], best[2])
        self.assertEqual(best[1], best[3])
        machines = (self.folder / "placed" / "machinefile.mpich").read_text().splitlines()
        self.assertEqual(len(machines), 4)

    def test_bad_input(self):
        source = self.record("one", 4, [(0, 1, 5000)])
        platform = PLATFORMS / "cluster64.xml"
        self.write("short", "node-0\n")
        self.write("wrong", "node-0 node-1 node-2 node-9\n")
        for words, mention in (((source, "--platform", "absent.xml"), "absent.xml"),
                               (("absent", "--platform", platform), "absent"),
                               ((source, "--platform", platform, "--also", "short"), "1 of 4"),
                               ((source, "--platform", platform, "--also", "wrong"), "node-9"),
                               ((source, "--platform", platform, "--model", "IB"), "SimGrid itself")):
            done = self.nplus1("map", *words, "-o", "out")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(mention, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), len(set(done.stderr.strip().splitlines())))
            self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main()
