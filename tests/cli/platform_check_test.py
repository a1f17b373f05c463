"""`nplus1 doctor --platform FILE` says in one line what is wrong with a platform, and in which line of it."""
import re
import unittest

from command import CommandTest

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n'
TAIL = "</platform>\n"
HOST_B = '<host id="b" speed="1Gf"/>'
LINK = '<link id="l" bandwidth="1GBps" latency="1us"/>\n'
ROUTE = '<route src="a" dst="b"><link_ctn id="l"/></route>\n'


def zone(inner, routing="Full", host_b=HOST_B):
    """`inner` begins in line 7, hosts a and b stand in lines 5 and 6."""
    return f'{HEAD}<zone id="z" routing="{routing}">\n<host id="a" speed="1Gf"/>\n{host_b}\n{inner}</zone>\n{TAIL}'


def cluster(topology="TORUS", parameters="2,2,2", radical="0-7", speed="1Gf", bw="1GBps"):
    """In line 4."""
    return (f'{HEAD}<cluster id="c" prefix="n" suffix="" radical="{radical}" speed="{speed}" bw="{bw}" lat="1us" '
            f'topology="{topology}" topo_parameters="{parameters}"/>\n{TAIL}')


def configured(key, value):
    return zone(LINK + ROUTE).replace(HEAD, f'{HEAD}<config>\n<prop id="{key}" value="{value}"/>\n</config>\n')


def link(**changed):
    values = {"id": "l", "bandwidth": "1GBps", "latency": "1us", **changed}
    return "<link " + " ".join(f'{k}="{v}"' for k, v in values.items() if v is not None) + "/>\n"


def with_host_b(attributes):
    return zone(LINK + ROUTE, host_b=f"<host {attributes}/>")


SOUND = zone(LINK + ROUTE)
# What is wrong, the file, the line (None: a file without lines has none), and what must be mentioned.
MALFORMED = [
    ("a link that is not there", zone(ROUTE), 7, "Link not found: l"),
    ("no route", zone(LINK), "5|6", "no route from"),
    ("hosts without links to their star's centre", zone("", routing="Vivaldi").replace('"a" speed', '"a" coordinates="1 2 3" speed')
     .replace('"b" speed', '"b" coordinates="5 2 3" speed'), "5|6", "no route from"),
    ("a wifi link", zone(link(sharing_policy="WIFI") + ROUTE), 7, "link 'l' is wifi"),
    ("a wifi zone", f'{HEAD}<zone id="w" routing="Wifi">\n<prop id="access_point" value="ap"/>\n<host id="a" speed="1Gf"/>\n'
     f'{HOST_B}\n<router id="ap"/>\n{link(sharing_policy="WIFI", latency="0ms")}</zone>\n{TAIL}', 9, "link 'l' is wifi"),
    ("a route that is missing among others", zone('<host id="c" speed="1Gf"/>\n' + LINK + ROUTE), "5|6|7", "no route from"),
    ("a route to nowhere", zone(LINK + ROUTE.replace('"b"', '"c"')), 8, "dst='c'"),
    ("an unknown element", zone(LINK + "<lnk/>\n" + ROUTE), 8, ""),
    ("an unknown attribute", zone(link(color="red") + ROUTE), 7, "color"),
    ("an attribute that is missing", zone(link(bandwidth=None) + ROUTE), 7, "bandwidth"),
    ("an unknown routing", zone(LINK + ROUTE, routing="Fully"), 4, "routing of a zone"),
    ("a split duplex of bandwidth 0", zone(link(bandwidth="0", sharing_policy="SPLITDUPLEX")
     + ROUTE.replace('id="l"', 'id="l" direction="UP"')), 7, "bandwidth of link 'l_"),
    ("a torus of infinite bandwidth", cluster(bw="inf"), 4, "bandwidth of link 'c_"),
    ("a flat cluster of infinite bandwidth", cluster(bw="inf").replace('topology="TORUS" topo_parameters="2,2,2"', ""), 4,
     "bandwidth of link 'c_"),
    ("an unknown unit", zone(link(bandwidth="1Parsec") + ROUTE), 7, "Parsec"),
    ("a host twice", zone('<host id="a" speed="1Gf"/>\n' + LINK + ROUTE), 7, "'a'"),
    ("a link twice", zone(LINK + LINK + ROUTE), 8, "'l'"),
    ("a route twice", zone(LINK + ROUTE + ROUTE), 9, "already exists"),
    ("a zone twice", f'{HEAD}<zone id="w" routing="Full">\n' + '<zone id="z" routing="Full"/>\n' * 2 + f"</zone>\n{TAIL}", 6, "'z'"),
    ("a speed of 0", with_host_b('id="b" speed="0"'), 6, "'b'"),
    ("a negative speed", with_host_b('id="b" speed="-1Gf"'), 6, "'b'"),
    ("a speed that is no number", with_host_b('id="b" speed="nan"'), 6, "'b'"),
    ("a speed in words", with_host_b('id="b" speed="fast"'), 6, "fast"),
    ("a host without cores", with_host_b('id="b" speed="1Gf" core="0"'), 6, "core"),
    ("cores in words", with_host_b('id="b" speed="1Gf" core="many"'), 6, "many"),
    ("a host without a name", with_host_b('speed="1Gf"'), 6, "id"),
    ("a profile that is not there", with_host_b('id="b" speed="1Gf" speed_file="none.txt"'), 6, "none.txt"),
    ("a bandwidth of 0", zone(link(bandwidth="0") + ROUTE), 7, "bandwidth of link 'l'"),
    ("a negative bandwidth", zone(link(bandwidth="-1GBps") + ROUTE), 7, "bandwidth of link 'l'"),
    ("a negative latency", zone(link(latency="-1us") + ROUTE), 7, "latency of link 'l'"),
    ("a link of two directions without one", zone(link(sharing_policy="SPLITDUPLEX") + ROUTE), 8, "l"),
    ("a cluster of speed 0", cluster(speed="0f"), 4, "speed of host 'n0'"),
    ("a cluster of bandwidth 0", cluster(bw="0"), 4, "bandwidth"),
    ("a fat tree with too few hosts", cluster("FAT_TREE", "2;4,4;1,4;1,1"), 4, "radical"),
    ("a fat tree with too many hosts", cluster("FAT_TREE", "2;2,2;1,2;1,1"), 4, ""),
    ("a fat tree without its lists", cluster("FAT_TREE", "2;4"), 4, "Fat tree"),
    ("a fat tree in words", cluster("FAT_TREE", "two;4,2;1,2;1,1"), 4, "two"),
    ("a fat tree without parameters", cluster("FAT_TREE", ""), 4, "Fat tree"),
    ("a torus with too few hosts", cluster(parameters="2,2,3"), 4, "radical"),
    ("a torus with too many hosts", cluster(parameters="2,2"), 4, "8 hosts"),
    ("a torus of ever so many hosts", cluster(parameters="100,1000,1000", radical="0-99999999"), 4, "too many hosts"),
    ("a torus of more hosts than numbers", cluster(radical="0-99999999999999999999"), 4, "too many hosts"),
    ("a torus of ever so many switches", cluster(parameters="100000,100000"), 4, "too many hosts or switches"),
    ("a fat tree of ever so many switches", cluster("FAT_TREE", "2;4,2;1,99999999;1,1"), 4, "too many hosts or switches"),
    ("a dragonfly of ever so many switches", cluster("DRAGONFLY", "99999,1;9999,1;4,1;2"), 4, "too many hosts or switches"),
    ("a torus of extent 0", cluster(parameters="0,8"), 4, "> 0"),
    ("a torus in words", cluster(parameters="x,y"), 4, "number"),
    ("a torus without parameters", cluster(parameters=""), 4, "number"),
    ("a dragonfly with too few hosts", cluster("DRAGONFLY", "4,1;2,1;4,1;2"), 4, "radical"),
    ("a dragonfly with too many hosts", cluster("DRAGONFLY", "2,1;1,1;1,1;2"), 4, "8 hosts"),
    ("a dragonfly without its lists", cluster("DRAGONFLY", "4;2;4"), 4, "Dragonfly"),
    ("a dragonfly in words", cluster("DRAGONFLY", "a,1;2,1;4,1;2"), 4, "groups"),
    ("an unknown topology", cluster("HYPERCUBE", "3"), 4, "topology"),
    ("a radical in words", cluster(radical="0-x"), 4, "x"),
    ("a radical backwards", cluster(radical="7-0"), 4, ""),
    ("an option that does not exist", configured("network/nonsense", "1"), 6, "network/nonsense"),
    ("a cost of calls in words", configured("smpi/os", "zzz"), 5, "zzz"),
    ("factors in words", configured("smpi/lat-factor", "zzz"), 5, "factor"),
    ("an include", f'{HEAD}<include file="nothere.xml"/>\n{TAIL}', 4, "include"),
    ("an actor", SOUND.replace(TAIL, f'<actor host="a" function="f"/>\n{TAIL}'), 10, "'f'"),
    ("a version of long ago", SOUND.replace("4.1", "3"), 3, "TOO OLD"),
    ("a version of the future", SOUND.replace("4.1", "9"), 3, "FUTURE"),
    ("no version", SOUND.replace(' version="4.1"', ""), 3, "ancient"),
    ("no hosts", f'{HEAD}<zone id="z" routing="Full"/>\n{TAIL}', r"\d", "no hosts"),
    ("no zone", HEAD + TAIL, r"\d", "no hosts"),
    ("an element that does not end", SOUND.replace(HOST_B, HOST_B.replace("/>", ">")), r"\d+", ""),
    ("half a file", SOUND[:len(SOUND) // 2], r"\d+", ""),
    ("another root", "<html>\n<body/>\n</html>\n", 1, ""),
    ("no XML", "hello world\n", 1, ""),
    ("bytes", "\0\1\2\x7fELF", 1, ""),
    ("blank lines", "\n\n", r"\d", ""),
    ("nothing", "", None, "empty"),
]


class PlatformCheck(CommandTest):
    def check(self, *words):
        return self.nplus1("doctor", "--platform", "p.xml", *words)

    def test_a_sound_platform(self):
        self.write("p.xml", SOUND)
        done = self.check("-n", "2")
        self.assertEqual((done.returncode, done.stdout), (0, "ok    p.xml: 2 hosts, 2 links, 2 routes looked up\n"))

    def test_each_malformed_file_gets_one_line_with_file_and_line(self):
        for what, text, line, mention in MALFORMED:
            self.write("p.xml", text)
            done = self.check()
            with self.subTest(what):
                self.assertEqual((done.returncode, done.stderr), (1, ""))
                lines = done.stdout.splitlines()
                self.assertEqual(len(lines), 2, done.stdout)
                place = "p.xml" if line is None else f"p.xml:({line})"
                self.assertRegex(lines[0], rf"^FAIL  {place}: .*{re.escape(mention)}")
                self.assertLess(len(lines[0]), 300)
                self.assertTrue(lines[1].startswith("      next: "))

    def test_a_run_and_a_replay_say_the_same_and_start_nothing(self):
        self.write("r.jsonl", '{"record": "run", "text": "nplus1-events/1", "ranks": 2}\n')
        self.assertEqual(self.nplus1("convert", "r.jsonl", "-o", "r.n1r").returncode, 0)
        for text, line, mention in ((zone(link(bandwidth="0") + ROUTE), 7, "bandwidth of link 'l' is not above 0"),
                                    (zone(link(sharing_policy="WIFI") + ROUTE), 7, "link 'l' is wifi"),
                                    (zone(LINK), "[56]", "there is no route from")):
            self.write("p.xml", text)
            for words in (("run", "-n", "2", "--platform", "p.xml", "--", "./app"), ("replay", "r.n1r", "--platform", "p.xml"),
                          ("whatif", "r.n1r", "--platform", "p.xml", "--balance", "all"), ("map", "r.n1r", "--platform", "p.xml")):
                with self.subTest(mention, verb=words[0]):
                    done = self.nplus1(*words)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertEqual(done.stdout, "")
                    cause, so, following = done.stderr.splitlines()
                    self.assertRegex(cause, rf"^nplus1: .*p\.xml:{line}: .*{re.escape(mention)}")
                    self.assertTrue(so.startswith("  so:") and following.startswith("  next:"), done.stderr)

    def test_what_is_no_file(self):
        (self.folder / "p.xml").mkdir()
        self.assertIn("FAIL  p.xml: is a directory", self.check().stdout)
        (self.folder / "p.xml").rmdir()
        self.assertIn("FAIL  p.xml: No such file", self.check().stdout)

    def test_too_few_hosts_for_the_ranks(self):
        self.write("p.xml", SOUND)
        self.assertIn("FAIL  p.xml: the platform has 2 hosts with 2 cores for 3 ranks", self.check("-n", "3").stdout)
        self.write("map", "a b\nx\n")
        self.assertIn("map:2: the platform has no host 'x'", self.check("-n", "3", "--map", "map").stdout)

    def test_options_that_are_wrong_have_no_line(self):
        self.write("p.xml", SOUND)
        done = self.check("-n", "2", "--simgrid", "network/nonsense:1")
        self.assertRegex(done.stdout, r"^FAIL  p.xml: .*network/nonsense")


if __name__ == "__main__":
    unittest.main()
