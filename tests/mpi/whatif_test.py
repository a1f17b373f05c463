"""What nplus1 whatif predicts from a recording, against the program that was really changed."""
import json
import pathlib
import subprocess
import unittest

from live import NPLUS1, LiveTest

PLATFORMS = pathlib.Path(__file__).resolve().parents[2] / "platforms"
LOGGOPS = "loggops:L=5us,o=1us,g=1us,G=1e-9"
SLOW, FAST = "lsb:latency=50us,bandwidth=1GBps", "lsb:latency=1us,bandwidth=1GBps"
EAGER_BELOW_10K = "lsb:latency=20us,bandwidth=1GBps,eager=10000"
STATED_ERROR = 1e-6  # of the run's time: rounding of balanced intervals; calls cost no computing of their own here


class WhatIf(LiveTest):
    def planted(self, problem, variant, network, ranks=8):
        return self.exact("planted", problem, variant, ranks=ranks, network=network, compute="fixed:0")

    def nplus1(self, *words, code=0):
        done = subprocess.run([str(NPLUS1), *map(str, words)], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def whatif(self, run, *words):
        file = self.folder / "whatif.json"
        self.screen = self.nplus1("whatif", run.folder, "--json", file, *words)
        return json.loads(file.read_text())

    def nplus1_json(self, *words):
        file = self.folder / "asked.json"
        self.nplus1(*words, "--json", file)
        return file.read_text()

    def time_of(self, run):
        return float(run.summary["virtual_time_s"])

    def assert_predicts(self, predicted, mended, planted):
        """The saving: within the stated error, and no small one."""
        saving = self.time_of(planted) - self.time_of(mended)
        self.assertGreater(saving, 0.1 * self.time_of(planted))
        self.assertLess(abs(predicted - self.time_of(mended)), STATED_ERROR * self.time_of(planted))

    def test_identity_is_exact_and_stated(self):
        run = self.planted("imbalance", "planted", FAST)
        found = self.whatif(run, "--network", FAST)
        self.assertEqual(found["before"]["virtual_time_s"], self.time_of(run))
        self.assertEqual(found["after"]["virtual_time_s"], self.time_of(run))
        self.assertEqual(found["before"]["trust"]["identity_error_s"], 0)
        self.assertEqual(found["before"]["trust"]["cores"], run.summary["trust"]["cores"])
        self.assertIn("identity replay exact", self.screen)

    def test_a_planted_imbalance_ranks_first_and_mending_it_saves_what_was_predicted(self):
        run, mended = self.planted("imbalance", "planted", FAST), self.planted("imbalance", "mended", FAST)
        sweep = self.whatif(run, "--sweep")
        first = sweep["candidates"][0]
        self.assertEqual((first["kind"], first["problem"]), ("balance", 1))
        self.assertEqual(len([c for c in sweep["candidates"] if c["kind"] == "balance" and c["leads"]]), 1)
        self.assert_predicts(first["virtual_time_s"], mended, run)
        self.assertTrue(any("planted.c" in c["what"] for c in sweep["candidates"][:2]), sweep["candidates"][:2])
        # What the list says can be asked for by its flags.
        flags = first["flags"].replace("'", "").split(" ", 1)
        self.assertEqual(self.whatif(run, *flags)["after"]["virtual_time_s"], first["virtual_time_s"])

    def test_work_that_is_now_here_now_there_is_evened_each_time_and_not_over_the_run(self):
        run, mended = self.planted("jitter", "planted", FAST), self.planted("jitter", "mended", FAST)
        sweep = self.whatif(run, "--sweep")["candidates"]
        first = sweep[0]
        self.assertTrue(first["kind"] == "balance" and first["what"].endswith("in each step"), first)
        self.assert_predicts(first["virtual_time_s"], mended, run)
        over_the_run = [c for c in sweep if c["what"] == "balance all computation"]
        self.assertEqual(len(over_the_run), 1)
        self.assertLess(over_the_run[0]["saved_s"], 0.5 * first["saved_s"])
        flags = first["flags"].replace("'", "").split(" ", 1)
        self.assertEqual(self.whatif(run, *flags)["after"]["virtual_time_s"], first["virtual_time_s"])

    def swept(self, problem, variant, steps):
        """Measured computing: the asked-for work, and what the host adds."""
        run = self.exact("planted", problem, variant, steps, ranks=8, network=FAST, compute="measured")
        sweep = self.whatif(run, "--sweep")
        return sweep, next(c for c in sweep["candidates"] if c["what"].startswith("balance all computation"))

    def test_of_measured_computing_what_a_rank_has_every_time_is_ranked(self):
        sweep, balance = self.swept("imbalance", "planted", 20)
        first = sweep["candidates"][0]
        self.assertEqual((first["kind"], first["problem"]), ("balance", 1))
        self.assertGreater(balance["systematic_s"], 0.8 * balance["saved_s"])
        self.assertGreater(first["systematic_s"], 0.4 * sweep["before"]["virtual_time_s"])

    def test_of_measured_computing_what_comes_and_goes_is_named_and_not_ranked(self):
        sweep, balance = self.swept("jitter", "planted", 80)
        self.assertGreater(sweep["random_s"], 0.4 * sweep["before"]["virtual_time_s"])
        self.assertLess(balance["systematic_s"], 0.1 * sweep["random_s"])
        noise = [c for c in sweep["candidates"] if c["kind"] == "noise"]
        self.assertTrue(noise and all(c["problem"] is None for c in noise), noise)
        whole = [c["saved_s"] for c in noise if c["what"].endswith("of all computation")]
        self.assertAlmostEqual(whole[0], sweep["random_s"], delta=1e-9)
        # What the list says can be asked for.
        steady = json.loads(self.nplus1_json("whatif", sweep["recording"], "--steady", "all"))
        self.assertAlmostEqual(steady["saved_s"], sweep["random_s"], delta=1e-9)

    def test_of_measured_computing_what_a_step_has_every_time_is_no_imbalance(self):
        sweep, balance = self.swept("imbalance", "mended", 20)
        self.assertLess(balance["systematic_s"], 0.05 * sweep["before"]["virtual_time_s"])

    def test_a_recording_that_stops_before_its_program_does_has_advice(self):
        """At its cap, or with a run that was killed: no rank reaches its end in it, changed or not."""
        run = self.exact("planted", "imbalance", "planted", 400, ranks=8, network=FAST, options=("--record-cap", "20K"))
        sweep = self.whatif(run, "--sweep")
        self.assertLess(sweep["before"]["virtual_time_s"], 0.9 * self.time_of(run))
        self.assertFalse(sweep["before"]["trust"]["finished"])
        first = sweep["candidates"][0]
        self.assertEqual((first["kind"], first["problem"], first["finished"]), ("balance", 1, True))
        self.assertGreater(first["saved_s"], 0.3 * sweep["before"]["virtual_time_s"])

    def test_a_window_behind_the_end_of_the_run_is_told(self):
        run = self.planted("halo", "mended", FAST)
        told = "the timeline is empty: --window begins after the run, which ends after"
        for window, empty in (("100:200", True), ("0:200", False)):
            done = subprocess.run([str(NPLUS1), "report", run.folder, "--window", window], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(told in done.stderr, empty, done.stderr)

    def test_a_sweep_takes_no_other_hypothesis(self):
        run = self.planted("imbalance", "planted", FAST)
        for more in (("--network", SLOW), ("--scale", "factor=0.5"), ("--eager", "1"), ("--compute-scale", "2"), ("--finding", "1")):
            done = subprocess.run([str(NPLUS1), "whatif", run.folder, "--sweep", *more], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (64, ""), more)
            self.assertIn(f"and {more[0]} would have no part in it", done.stderr)
            self.assertIn("--record, then nplus1 whatif THERE --sweep", done.stderr)
        # What it says instead.
        self.nplus1("replay", run.folder, "--network", SLOW, "-o", "there", "--record")
        there = json.loads(self.nplus1_json("whatif", "there", "--sweep"))
        self.assertEqual(there["candidates"][0]["kind"], "balance")
        self.assertGreater(there["before"]["virtual_time_s"], self.time_of(run))

    def test_nothing_of_given_computing_is_noise(self):
        sweep = self.whatif(self.planted("jitter", "planted", FAST), "--sweep")
        self.assertIsNone(sweep["random_s"])
        self.assertTrue(all(c["systematic_s"] is None for c in sweep["candidates"]))

    def test_a_planted_serial_broadcast_ranks_first_and_mpi_bcast_saves_what_was_predicted(self):
        run, mended = self.planted("broadcast", "planted", LOGGOPS), self.planted("broadcast", "mended", LOGGOPS)
        found = self.whatif(run, "--replace", "tag=1,with=bcast")
        self.assert_predicts(found["after"]["virtual_time_s"], mended, run)
        self.assertGreater(found["before"]["wait_states"]["late_sender_s"], 0)
        sweep = self.whatif(run, "--sweep")["candidates"]
        # Nothing is filtered out: bounds, which save more, stand below all advice.
        self.assertIn(sweep[0]["kind"], ("replace", "by_hand"))
        self.assertEqual((sweep[0]["problem"], sweep[0]["bound"]), (1, False))
        self.assertEqual(sweep[0]["virtual_time_s"], found["after"]["virtual_time_s"])
        for c in sweep:
            of_the_network = c["kind"] == "collectives" and "=hardware" in c["flags"]
            self.assertEqual(c["bound"], c["kind"] in ("messages", "network", "storage") or of_the_network, c)
        by_bcast = [c for c in sweep if c["kind"] == "replace" and "MPI_Bcast (all get the same)" in c["what"]]
        self.assertEqual([c["problem"] for c in by_bcast], [1])

    def test_a_replacement_under_given_compute_times_is_what_it_comes_to(self):
        """Calls that go take what they were charged with them; the collective brings its own."""
        for compute in ("fixed:1e-4", "fixed:100us"):
            with self.subTest(compute=compute):
                run, mended = (self.exact("planted", "broadcast", variant, ranks=8, network=LOGGOPS, compute=compute)
                               for variant in ("planted", "mended"))
                found = self.whatif(run, "--replace", "tag=1,with=bcast")["after"]
                self.assertLess(abs(found["virtual_time_s"] - self.time_of(mended)), STATED_ERROR * self.time_of(run))
                self.assertGreater(self.time_of(run), 1.1 * self.time_of(mended))
                self.assertIn(f"computing given, not measured ({compute})", self.screen)

    def exchange_candidates(self, how, compute="fixed:0", network=FAST):
        """Of 20 steps: in fewer, some milliseconds, a host can be busy between calls from the first to the last of them."""
        self.by_calls = {variant: self.exact("exchanges", how, variant, 20, ranks=8, network=network, compute=compute)
                         for variant in ("planted", "mended")}
        self.sweep = self.whatif(self.by_calls["planted"], "--sweep")
        return [c for c in self.sweep["candidates"] if c["kind"] == "exchange"]

    def test_an_exchange_by_blocking_calls_is_tried_and_equals_the_program_with_waitall(self):
        """Long messages wait for their receive: each rank sends and then receives, a chain."""
        for compute in ("fixed:0", "fixed:1e-5"):
            with self.subTest(compute=compute):
                found = self.exchange_candidates("chain", compute, EAGER_BELOW_10K)
                tried = [(c["kind"], c["what"]) for c in self.sweep["candidates"]]
                self.assertEqual(len(found), 1, (tried, self.sweep["not_tried"]))
                self.assertNotIn("(if", found[0]["what"])
                self.assertTrue(found[0]["leads"], found)
                planted, mended = self.by_calls["planted"], self.by_calls["mended"]
                self.assert_predicts(found[0]["virtual_time_s"], mended, planted)
                flags = found[0]["flags"].replace("'", "").split(" ", 1)
                self.assertEqual(self.whatif(planted, *flags)["after"]["virtual_time_s"], found[0]["virtual_time_s"])
                all_of_them = self.whatif(planted, "--nonblocking", "all")["after"]["virtual_time_s"]
                self.assertLess(all_of_them, 0.6 * self.time_of(planted))

    def test_an_exchange_by_sendrecv_is_tried_and_equals_the_program_with_waitall(self):
        """One direction after the other, as halos are most often written."""
        for compute in ("fixed:0", "fixed:1e-5"):
            with self.subTest(compute=compute):
                found = self.exchange_candidates("halo", compute, EAGER_BELOW_10K)
                self.assertIn("(if nothing that is sent depends on what was received just before)", found[0]["what"])
                self.assertTrue(found[0]["leads"], found)
                self.assert_predicts(found[0]["virtual_time_s"], self.by_calls["mended"], self.by_calls["planted"])

    def test_an_exchange_in_the_order_of_ranks_is_tried_under_its_condition(self):
        found = self.exchange_candidates("order")
        best = min(found, key=lambda c: c["virtual_time_s"])
        self.assertIn("if nothing that is sent depends on what was received just before", best["what"])
        self.assert_predicts(best["virtual_time_s"], self.by_calls["mended"], self.by_calls["planted"])

    def test_what_is_sent_on_is_no_exchange(self):
        """Contents show that each rank sends what it has just received, though from another buffer."""
        for c in self.exchange_candidates("forward"):
            self.assertNotIn("(if", c["what"])
        # What is left is a send and the next step's receive.
        run = self.by_calls["planted"]
        times = {self.whatif(run, "--nonblocking", f"post=0,wait=0,dependent={dependent}")["after"]["virtual_time_s"]
                 for dependent in ("yes", "no")}
        self.assertEqual(len(times), 1)

    def test_what_one_line_does_on_several_groups_of_ranks_is_priced_on_all_of_them(self):
        run, mended = (self.exact("exchanges", "rows", variant, ranks=8, network=LOGGOPS) for variant in ("planted", "mended"))
        found = [c for c in self.whatif(run, "--sweep")["candidates"] if c["kind"] == "by_hand"]
        self.assertEqual(len(found), 1, found)
        self.assert_predicts(found[0]["virtual_time_s"], mended, run)
        alone = self.whatif(run, *found[0]["flags"].split())
        self.assertEqual(alone["after"]["virtual_time_s"], found[0]["virtual_time_s"])

    def test_no_broadcast_is_proposed_of_messages_that_differ(self):
        """exchanges chain: each rank sends something else; the contents of a scatter by hand differ as well."""
        run = self.exact("manual_collectives", ranks=6, network=LOGGOPS, compute="fixed:0")
        sweep = self.whatif(run, "--sweep")
        for c in sweep["candidates"]:
            self.assertNotIn("(if all get the same)", c["what"])
        differ = [n for n in sweep["not_tried"] if "are not all the same" in n["reason"]]
        self.assertTrue(differ)
        self.assertFalse(any(n["failed"] for n in sweep["not_tried"]), sweep["not_tried"])
        self.assertTrue(all(n["reason"] for n in sweep["not_tried"]))

    def test_a_sweeps_limits_judge_the_run_after_its_best_change(self):
        run = self.planted("imbalance", "planted", FAST)
        self.nplus1("whatif", run.folder, "--sweep", "-q", "--fail-if", "load_balance<0.9")
        self.nplus1("waitstates", run.folder, "--fail-if", "load_balance<0.9", code=2)
        self.nplus1("whatif", run.folder, "--sweep", "-q", "--fail-if", "load_balance>0.9", code=2)

    def test_a_collective_found_in_the_data_is_tried_and_replacing_it_saves_what_was_predicted(self):
        by_hand = self.exact("manual_collectives", ranks=6, network=LOGGOPS, compute="fixed:0")
        by_library = self.exact("manual_collectives", "library", ranks=6, network=LOGGOPS, compute="fixed:0")
        sweep = self.whatif(by_hand, "--sweep")["candidates"]
        found = [c for c in sweep if c["kind"] == "by_hand"]
        self.assertEqual(len(found), 5)  # the chain, the serial broadcast, scatter, allgather, alltoall
        serial = [c for c in found if "bcast" in c["what"] and "5 times" in c["what"]]
        self.assertEqual(len(serial), 1, found)
        self.assert_predicts(serial[0]["virtual_time_s"], by_library, by_hand)
        alone = self.whatif(by_hand, *serial[0]["flags"].split())
        self.assertEqual(alone["after"]["virtual_time_s"], serial[0]["virtual_time_s"])
        all_of_them = self.whatif(by_hand, *(word for c in found for word in c["flags"].split()))
        self.assertLess(all_of_them["after"]["virtual_time_s"], serial[0]["virtual_time_s"])

    def test_a_latency_bound_halo_gains_by_the_network_what_was_predicted(self):
        run, mended = self.planted("halo", "planted", SLOW), self.planted("halo", "planted", FAST)
        self.assert_predicts(self.whatif(run, "--network", FAST)["after"]["virtual_time_s"], mended, run)
        sweep = self.whatif(run, "--sweep")["candidates"]
        kinds = {c["what"]: c["saved_s"] for c in sweep if c["kind"] == "network"}
        self.assertGreater(kinds["use the network without latency"], 20 * kinds["use the network with unlimited bandwidth"])
        self.assertGreater(kinds["use the network without latency"], 0.5 * self.time_of(run))

    def on(self, platform):
        """The two hosts have two cores each: there the map says that they hold four ranks."""
        (self.folder / "four-each").write_text("host-0*4 host-1*4\n")
        return ("--platform", PLATFORMS / f"{platform}.xml",
                *(("--map", "four-each") if platform == "two_hosts" else ()))

    def test_mending_the_program_and_moving_it_to_a_platform_come_together_as_predicted(self):
        run, here = self.planted("imbalance", "planted", FAST), self.planted("imbalance", "mended", FAST)
        for platform in ("two_hosts", "cluster64", "fat_tree", "torus", "dragonfly"):
            with self.subTest(platform=platform):
                moved = self.observe(8, "planted", "imbalance", "mended",
                                     options=(*self.on(platform), "--compute", "fixed:0"))
                found = self.whatif(run, "--balance", "all", *self.on(platform))
                error = abs(found["after"]["virtual_time_s"] - self.time_of(moved))
                self.assertLess(error, STATED_ERROR * self.time_of(run))
                self.assertNotEqual(self.time_of(moved), self.time_of(here))
                self.assertIn(f"platform {PLATFORMS / platform}.xml", found["hypothesis"])

    def test_where_ranks_are_placed_is_tried_like_any_other_hypothesis(self):
        run = self.planted("halo", "planted", SLOW)
        times = {}
        for name, hosts in (("in turn", "host-0 host-1 " * 4), ("side by side", "host-0*4 host-1*4")):
            (self.folder / "hosts").write_text(hosts + "\n")
            place = ("--platform", PLATFORMS / "two_hosts.xml", "--map", "hosts")
            live = self.observe(8, "planted", "halo", "planted", options=(*place, "--compute", "fixed:0"))
            times[name] = self.time_of(live)
            self.assertEqual(self.whatif(run, *place)["after"]["virtual_time_s"], times[name])
        self.assertGreater(times["in turn"], times["side by side"])  # six of eight neighbours share a host

    def test_ranks_with_threads_are_replayed_and_said_not_to_adapt(self):
        run = self.exact("threads", ranks=2, network=SLOW)
        found = self.whatif(run, "--network", SLOW)
        self.assertEqual(found["after"]["trust"]["threaded_ranks"], 2)
        self.assertIn("2 ranks call MPI from several threads", self.screen)
        self.assertEqual(found["after"]["virtual_time_s"], self.time_of(run))
        faster = self.whatif(run, "--network", FAST)["after"]
        self.assertTrue(faster["trust"]["finished"])
        self.assertLess(faster["virtual_time_s"], self.time_of(run))
        one_thread = self.planted("halo", "planted", SLOW)
        self.assertEqual(self.whatif(one_thread, "--network", FAST)["after"]["trust"]["threaded_ranks"], 0)

    def test_both_sides_are_what_waitstates_finds(self):
        run = self.planted("imbalance", "planted", FAST)
        found = self.whatif(run, "--balance", "all", "-o", "even")
        alone = self.folder / "waitstates.json"
        self.nplus1("waitstates", run.folder, "--json", alone)
        alone = json.loads(alone.read_text())
        for key in ("virtual_time_s", "total", "activities", "efficiencies", "causes"):
            self.assertEqual(found["before"][key], alone[key], key)
        self.assertEqual(found["before"]["wait_states"], alone["total"]["wait_states"])
        self.assertAlmostEqual(found["after"]["efficiencies"]["load_balance"], 1, 6)
        self.assertEqual(json.loads((self.folder / "even" / "whatif.json").read_text())["after"], found["after"])

    def test_a_file_says_what_flags_say(self):
        run = self.planted("imbalance", "planted", FAST)
        (self.folder / "plan.toml").write_text(f'network = "{SLOW}"\n[[balance]]\nbefore = "exchange_borders"\n'
                                               "[[scale]]\nfactor = 0.5\n")
        by_file = self.whatif(run, "--hypothesis", "plan.toml")
        by_flags = self.whatif(run, "--balance", "before=exchange_borders", "--scale", "factor=0.5", "--network", SLOW)
        self.assertEqual(by_file["after"], by_flags["after"])

    def test_diff_compares_a_prediction_with_what_came_of_it(self):
        run, mended = self.planted("imbalance", "planted", FAST), self.planted("imbalance", "mended", FAST)
        self.whatif(run, "--balance", "all", "-o", "even")
        self.assertIn("virtual time", self.nplus1("diff", "even", mended.folder))  # it came out to the last digit
        self.nplus1("diff", "even", run.folder, code=1)
        same = self.nplus1("diff", "even:before", run.folder)
        self.assertNotIn("%  MPI", same)
        self.assertIn("same", same)

    def test_limits_decide_the_exit_code(self):
        run = self.planted("imbalance", "planted", FAST)
        for words in (("waitstates",), ("replay",), ("whatif", "--scale", "factor=1")):
            verb, *more = words
            self.nplus1(verb, run.folder, *more, "--fail-if", "parallel_efficiency<0.01")
            self.nplus1(verb, run.folder, *more, "--fail-if", "parallel_efficiency<0.99", code=2)
        self.nplus1("whatif", run.folder, "--balance", "all", "--fail-if", "load_balance<0.9")


if __name__ == "__main__":
    unittest.main()
