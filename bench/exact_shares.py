#!/usr/bin/env python3
"""Who is right where nplus1's flows and SimGrid's differ on a random platform (docs/networks.md, "Random platforms").

    bench/exact_shares.py FOLDER|SET.csv...

Each set of messages that bench/random_platforms.py keeps is simulated once more, by a program that shares no code with either:
whenever a flow comes or goes, all links are filled from nothing, by the rules of docs/networks.md, "Flows that share links".
nplus1 is compared with that where times are whole picoseconds, as nplus1's are; SimGrid where they are as they come out, and
where besides a link of which less than 1e-5 is left holds nobody back any more, as in SimGrid (maxmin/precision; 3.32,
maxmin_solve), so that it may be asked for more than it can carry. Two agree where every message takes as long to 1e-8 and
3 ps.
"""
import argparse
import csv
import heapq
import math
import pathlib
import xml.etree.ElementTree

GAMMA = 4194304
ENVELOPE = 16
BACK = 0.05
WEIGHT_S = {"SMPI": 8775, "LV08": 20537, "CM02": 0}
RATE_STEPS = ((0, 0.812084), (257, 0.338112), (732, 0.341987), (1426, 0.608902), (3484, 0.77493), (5776, 1.08739),
              (9376, 0.58729), (15424, 0.697866), (65472, 0.940694))
LATENCY_STEPS = ((0, 2.01467), (257, 1.95341), (732, 1.9503), (1426, 1.61075), (3484, 1.88101), (5776, 2.18796),
                 (9376, 2.59299), (15424, 3.48845), (65472, 11.6436))
PICOSECOND = 1e-12
SIMGRIDS_NOTHING = 1e-5


def step(steps, size):
    value = 1
    for above, factor in steps:
        if size > above:
            value = factor
    return value


def factors(model, size):
    """Of latency and rate, for a message of `size` bytes with its envelope."""
    if model == "SMPI":
        return step(LATENCY_STEPS, size), step(RATE_STEPS, size)
    return (13.01, 0.97) if model == "LV08" else (1, 1)


class Platform:
    """Links: name -> (capacity in bytes per second, fat pipe?). Routes: (from, to) -> names in order, latency in seconds."""

    def __init__(self, file):
        zone = xml.etree.ElementTree.parse(file).find("zone")
        hosts = {host.get("id"): i for i, host in enumerate(zone.iter("host"))}
        self.links, self.latencies, self.routes = {}, {}, {}
        for link in zone.iter("link"):
            policy = link.get("sharing_policy")
            for end in ("_UP", "_DOWN") if policy == "SPLITDUPLEX" else ("",):
                self.links[link.get("id") + end] = (float(link.get("bandwidth").removesuffix("Bps")), policy == "FATPIPE")
                self.latencies[link.get("id") + end] = float(link.get("latency").removesuffix("s"))
        turned = {"UP": "DOWN", "DOWN": "UP", None: None}
        for route in zone.iter("route"):
            way = [(part.get("id"), part.get("direction")) for part in route.iter("link_ctn")]
            source, destination = hosts[route.get("src")], hosts[route.get("dst")]
            self.add(source, destination, way)
            if route.get("symmetrical") != "NO":
                self.add(destination, source, [(name, turned[to]) for name, to in reversed(way)])

    def add(self, source, destination, way):
        names = [name + (f"_{to}" if to else "") for name, to in way]
        latency = 0.0
        for name in names:  # in this order: the last digit matters
            latency += self.latencies[name]
        self.routes[source, destination] = (names, latency)


class Flow:
    """Its weight, bound (bytes per second), and what it takes of each link for each unit of its rate."""

    def __init__(self, platform, model, source, destination):
        way, self.latency = platform.routes[source, destination]
        self.weight = self.latency or 1.0
        self.bound = min(platform.links[name][0] for name in way)
        if self.latency:
            for name in way:
                self.weight += WEIGHT_S[model] / platform.links[name][0]
            self.bound = min(self.bound, GAMMA / (2 * self.latency))
        self.uses = {}
        for names, share in ((way, 1.0), (platform.routes[destination, source][0], BACK)):
            for name in names:
                there = self.uses.get(name, 0.0)
                self.uses[name] = max(there, share) if platform.links[name][1] else there + share


def filled(flows, links, nothing=0.0):
    """The rates of `flows`, in bytes per second. The level (rate times weight) of all rises until a link is full; then its flows
    are done, but if some of them reach their bound below that level, those only; and the others go on. A link of which no more
    than this part is left, `nothing`, holds nobody back."""
    rates, rising, gone = {}, list(flows), set()
    left = {name: capacity for name, (capacity, _) in links.items()}
    while rising:
        levels = {}
        for name, (capacity, pipe) in links.items():
            slopes = [flow.uses[name] / flow.weight for flow in rising if name in flow.uses]
            if slopes and name not in gone:
                levels[name] = capacity / max(slopes) if pipe else left[name] / sum(slopes)
        if not levels:
            return rates | dict.fromkeys(rising, 0.0)
        lowest = min(levels.values())
        full = {name for name, level in levels.items() if level == lowest}
        reached = [flow for flow in rising if full & flow.uses.keys()]
        bounds = [flow.bound * flow.weight for flow in reached if flow.bound * flow.weight < lowest]
        for flow in reached:
            # Equal but for rounding is equal.
            if bounds and abs(flow.bound * flow.weight - min(bounds)) > 1e-12 * min(bounds):
                continue
            rates[flow] = flow.bound if bounds else lowest / flow.weight
            rising.remove(flow)
            for name, share in flow.uses.items():
                left[name] = max(0.0, left[name] - share * rates[flow])
                capacity, pipe = links[name]
                if not pipe and left[name] < nothing * capacity:
                    gone.add(name)
    return rates


def simulate(platform, model, messages, tick=0.0, nothing=0.0):
    """How long each of `messages` (start in seconds, from, to, bytes) takes, in seconds. `tick`: times are whole multiples of it,
    or 0. `nothing`: see filled()."""

    def on_clock(at):
        return round(at / tick) * tick if tick else at

    flows = [Flow(platform, model, source, destination) for _, source, destination, _ in messages]
    latency_ends = [(on_clock(start + flow.latency * factors(model, size + ENVELOPE)[0]), i)
                    for i, (flow, (start, _, _, size)) in enumerate(zip(flows, messages))]
    heapq.heapify(latency_ends)
    left, speed, ends, took, now = {}, {}, {}, {}, 0.0
    while latency_ends or left:
        at = min([*ends.values(), *(end for end, _ in latency_ends[:1])])
        for i in left:
            left[i] = max(0.0, left[i] - speed[i] * (at - now))
        now = at
        for i in [i for i, end in ends.items() if end <= now]:
            took[i] = now - messages[i][0]
            del left[i], speed[i], ends[i]
        while latency_ends and latency_ends[0][0] <= now:
            i = heapq.heappop(latency_ends)[1]
            left[i], speed[i] = float(messages[i][3] + ENVELOPE), 0.0
        rates = filled([flows[i] for i in left], platform.links, nothing)
        for i in left:
            rate = rates[flows[i]] * factors(model, messages[i][3] + ENVELOPE)[1]
            if abs(rate - speed[i]) > 1e-12 * rate:
                speed[i] = rate
                ends[i] = on_clock(now + left[i] / rate) if rate else math.inf
    return [took[i] for i in range(len(messages))]


def apart(times, others):
    """The largest difference beyond 3 ps, relative."""
    return max((abs(a - b) - 3e-12) / b for a, b in zip(times, others))


def judge(file):
    """Of a kept set: messages, and how far apart are the two simulators, nplus1 and filling with whole picoseconds, SimGrid and
    filling, SimGrid and filling with its nothing."""
    model = file.stem.split("-")[1]
    platform = Platform(file.with_suffix(".xml"))
    rows = list(csv.DictReader(file.open()))
    messages = [(int(r["picoseconds"]) * PICOSECOND, int(r["from"]), int(r["to"]), int(r["bytes"])) for r in rows]
    own, simgrid = ([float(r[key]) for r in rows] for key in ("own", "simgrid"))
    return (len(rows), apart(own, simgrid), apart(own, simulate(platform, model, messages, tick=PICOSECOND)),
            apart(simgrid, simulate(platform, model, messages)),
            apart(simgrid, simulate(platform, model, messages, nothing=SIMGRIDS_NOTHING)))


def judge_all(files):
    """A line for each set, and one for all. Whether nplus1 is right in all, and SimGrid's difference explained."""
    verdicts = []
    for file in files:
        count, both, *others = judge(file)
        verdicts.append([other < 1e-8 for other in others])
        print(f"set {file.stem}: {count} messages, nplus1 and SimGrid {both:.2g} apart; from filling: nplus1 {others[0]:.2g}, "
              f"SimGrid {others[1]:.2g}, with its nothing {others[2]:.2g}", flush=True)
    print(f"{len(verdicts)} sets differ by more than 1e-6. nplus1 is as filling with whole picoseconds in "
          f"{sum(own for own, _, _ in verdicts)}; SimGrid as filling in {sum(exact for _, exact, _ in verdicts)} (there it is the "
          f"clock), only with its nothing in {sum(zero and not exact for _, exact, zero in verdicts)}")
    return all(own and (exact or zero) for own, exact, zero in verdicts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=pathlib.Path, nargs="+")
    words = parser.parse_args()
    judge_all([f for place in words.sets for f in (sorted(place.glob("*.csv")) if place.is_dir() else [place])])


if __name__ == "__main__":
    main()
