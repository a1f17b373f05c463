#!/usr/bin/env python3
"""Result folders of runs that never were, of any size, with numbers that can be computed by hand.

Usage: synthetic.py FOLDER RANKS [stencil|dense]. Stencil: a row of ranks; each sends 10 * (r + 1) messages of 1000
bytes to r + 1, and 5 of 8 bytes to (r + n/2) mod n; 3 broadcasts from rank 0. Dense: everybody to everybody, one message of
r + d + 1 bytes. Every rank computes 1 ms, odd ones 2 ms, and waits for the rest of 3 ms.
"""
import json
import pathlib
import sys

UPPER = [16 * 4**k for k in range(12)] + [None]
END = 0.003
BINS = 150


def sizes(counts):
    """A size object (docs/formats/patterns.md) from {size: count}."""
    buckets = [{"upper": upper, "count": 0} for upper in UPPER]
    for size, count in counts.items():
        next(b for b in buckets if b["upper"] is None or size <= b["upper"])["count"] += count
    exact = sorted(counts.items())
    return {"buckets": buckets, "exact": exact[:1024], "others": sum(c for _, c in exact[1024:]), "least": min(counts, default=None),
            "most": max(counts, default=None), "sum": sum(s * c for s, c in counts.items())}


def layer(name, entries):
    """entries: (source, destination, messages, bytes of each)."""
    rows, counts = {}, {}
    for source, destination, messages, size in entries:
        row = rows.setdefault(source, {})
        before = row.get(destination, (0, 0))
        row[destination] = (before[0] + messages, before[1] + messages * size)
        counts[size] = counts.get(size, 0) + messages
    matrix = [{"source": s, "destinations": sorted(row), "messages": [row[d][0] for d in sorted(row)], "bytes": [row[d][1] for d in sorted(row)]}
              for s, row in sorted(rows.items())]
    result = {"name": name, "messages": sum(sum(r["messages"]) for r in matrix), "bytes": sum(sum(r["bytes"]) for r in matrix),
              "rows": matrix, "sizes": sizes(counts)}
    if name == "point_to_point":
        result["elements"] = sizes({max(1, s // 8): c for s, c in counts.items()} if len(counts) < 10 else {1: result["messages"]})
    return result


def point_to_point(ranks, kind):
    if kind == "dense":
        return [(s, d, 1, s + d + 1) for s in range(ranks) for d in range(ranks) if s != d]
    return [(r, r + 1, 10 * (r + 1), 1000) for r in range(ranks - 1)] + [(r, (r + ranks // 2) % ranks, 5, 8) for r in range(ranks)]


def columns(ranks, entries):
    rank = {key: [0] * ranks for key in ("messages_sent", "bytes_sent", "messages_received", "bytes_received")}
    to, source = [set() for _ in range(ranks)], [set() for _ in range(ranks)]
    for s, d, messages, size in entries:
        rank["messages_sent"][s] += messages
        rank["bytes_sent"][s] += messages * size
        rank["messages_received"][d] += messages
        rank["bytes_received"][d] += messages * size
        to[s].add(d)
        source[d].add(s)
    rank["compute_s"] = [0.002 if r % 2 else 0.001 for r in range(ranks)]
    rank["mpi_s"] = [END - c for c in rank["compute_s"]]
    rank["waiting_s"] = [0.9 * m for m in rank["mpi_s"]]
    rank["end_s"] = [END] * ranks
    rank["collective_calls"] = [3] * ranks
    rank.update(destinations=[len(x) for x in to], sources=[len(x) for x in source], partners=[len(a | b) for a, b in zip(to, source)])
    return rank


def over_time(ranks):
    per_row = max(1, -(-ranks // 256))
    rows = -(-ranks // per_row)
    busy = [[1.0 if b < (50 if r % 2 == 0 else 100) else 0.0 for b in range(BINS)] for r in range(rows)]
    share = [sum(1 for r in range(ranks) if b < (100 if r % 2 else 50)) for b in range(BINS)]
    width = END / BINS
    return {"bin_s": width, "messages": [b % 17 * ranks for b in range(BINS)], "bytes": [b % 17 * ranks * 900 for b in range(BINS)],
            "collective_calls": [ranks if b in (10, 80, 140) else 0 for b in range(BINS)], "compute_s": [s * width for s in share],
            "mpi_s": [(ranks - s) * width for s in share], "waiting_s": [0.9 * (ranks - s) * width for s in share],
            "ranks_per_row": per_row, "busy": busy}


def site(path, call, line, **numbers):
    frames = [{"function": "exchange", "file": "/home/u/app/src/halo.c", "line": line, "module": "/home/u/app/app", "offset": 4096 + line},
              {"function": "main", "file": "/home/u/app/src/main.c", "line": 12, "module": "/home/u/app/app", "offset": 4000}]
    return {"path": path, "call": call, "frames": frames, "calls": 100, "messages": 0, "bytes": 0, "time_s": 0, "waiting_s": 0,
            "longest_s": 1e-4, **numbers}


def patterns(ranks, kind):
    entries = point_to_point(ranks, kind)
    rank = columns(ranks, entries)
    p2p, bcast = layer("point_to_point", entries), layer("bcast", [(0, r, 3, 4096) for r in range(1, ranks)])
    mpi = sum(rank["mpi_s"])
    collective = {"name": "MPI_Bcast", "layer": "bcast", "comm_size": ranks, "root": 0, "calls": 3 * ranks, "calls_per_rank": [3] * ranks,
                  "operations": 3, "bytes": bcast["bytes"], "time_s": 0.1 * mpi, "waiting_s": 0.1 * mpi}
    mean = sum(rank["compute_s"]) / ranks
    sites = [site(1, "MPI_Waitall", 57, time_s=0.9 * mpi, waiting_s=0.8 * mpi, calls=7 * ranks),
             site(2, "MPI_Bcast", 80, time_s=0.1 * mpi, waiting_s=0.1 * mpi, calls=3 * ranks, bytes=bcast["bytes"]),
             site(3, "MPI_Isend", 50, messages=p2p["messages"], bytes=p2p["bytes"], calls=p2p["messages"])]
    return {"schema": "nplus1-patterns/1", "application": f"synthetic {kind} <b>&amp;</script>", "network": "lsb:latency=1e-06,bandwidth=1e+10",
            "ranks": ranks, "complete": True, "virtual_time_s": END,
            "totals": {k: sum(v) for k, v in rank.items() if k not in ("end_s", "destinations", "sources", "partners")}, "rank": rank,
            "imbalance": {"compute": max(rank["compute_s"]) / mean - 1, "compute_time_s": max(rank["compute_s"]) - mean,
                          "most_loaded_rank": min(1, ranks - 1), "mpi": 0.1, "waiting": 0.1},
            "layers": [p2p, bcast], "wire": layer("wire", [(r, (r + 1) % ranks, 4, 100) for r in range(ranks)]),
            "wire_collectives": "mpich", "unplaced_messages": 0, "collectives": [collective], "communicator_calls": [],
            "communicators": [{"id": 0, "size": ranks, "first_group": 0, "members": f"0-{ranks - 1}", "messages": p2p["messages"], "bytes": p2p["bytes"],
                               "collective_calls": 3 * ranks, "time_s": mpi, "waiting_s": 0.9 * mpi}],
            "communicators_left_out": 0, "call_sites": sites, "call_sites_left_out": 0, "over_time": over_time(ranks),
            "unmodelled": {"calls": 0, "time_s": 0, "share": 0, "by_name": []}}


def timeline(ranks):
    """Exact up to 64 ranks: compute, wait (0.9 of the MPI time), broadcast. Above: bins with the same shares."""
    names = ["compute", "send", "receive", "collective", "unmodelled", "stuck"]
    end = 3 * 10**9
    result = {"schema": "nplus1-timeline/1", "ranks": ranks, "begin_ps": 0, "end_ps": end, "run_end_ps": end, "activities": names,
              "calls": {"1": "MPI_Waitall", "2": "MPI_Bcast"}}
    compute = [(2 if r % 2 else 1) * 10**9 for r in range(ranks)]
    if ranks <= 64:
        rows = [{"first_rank": r, "ranks": 1, "thread": 0, "end_ps": end, "gap_ps": [c, 0], "length_ps": [(end - c) * 9 // 10, (end - c) // 10],
                 "activity": [2, 3], "call": [1, 2], "site": [1, 2]} for r, c in enumerate(compute)]
        result.update(detail="intervals", rows=rows)
    else:
        bins, rows = 195, []
        for c in compute:
            at = [i * end / bins < c for i in range(bins)]
            late = [i * end / bins >= c + (end - c) * 0.9 for i in range(bins)]
            rows.append({"first_rank": len(rows), "ranks": 1, **{n: [0] * bins for n in names}})
            rows[-1]["compute"] = [1000 * a for a in at]
            rows[-1]["collective"] = [1000 * b for b in late]
            rows[-1]["receive"] = [1000 * (not a and not b) for a, b in zip(at, late)]
        result.update(detail="bins", bin_ps=-(-end // bins), bins=bins, rows=rows)
    pairs = [(r, r + 1) for r in range(ranks - 1)]
    result["messages"] = {"sent": len(pairs), "one_in": 1, "shown": len(pairs), "source": [p[0] for p in pairs],
                          "destination": [p[1] for p in pairs], "sent_ps": [10**9 + s * 10**9 // ranks for s, _ in pairs],
                          "flight_ps": [10**8] * len(pairs), "bytes": [1000] * len(pairs)}
    return result


def summary(ranks):
    return {"schema": "nplus1-summary/1", "application": "synthetic", "ranks": ranks, "complete": True, "virtual_time_s": END, "wall_time_s": 1.5,
            "network": "lsb:latency=1e-06,bandwidth=1e+10", "clock": "cpu", "clock_reason": "asked for", "compute": "measured",
            "protocol": "conservative", "transport": "shm", "notes": ["This run never was."],
            "trust": {"active_ranks": ranks, "events": 12345678, "clock_mismatches": 0, "order_inversions": 0, "forced_decisions": 2,
                      "relies_on_buffering": False, "cores": 2}}


def write(folder, ranks, kind="stencil"):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, document in (("patterns", patterns(ranks, kind)), ("timeline", timeline(ranks)), ("summary", summary(ranks))):
        (folder / f"{name}.json").write_text(json.dumps(document))


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
