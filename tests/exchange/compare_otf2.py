#!/usr/bin/env python3
"""Compares an OTF2 archive of ours, as python3-otf2 and otf2-print read it, with our own events in JSON lines.

Usage: compare_otf2.py SAMPLE_RUN NPLUS1. SAMPLE_RUN writes a run as JSON lines; NPLUS1 converts it. Every event must be
in the archive: by its attributes, and, independently of them, messages and collectives by OTF2's own records.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import otf2

PREFIX = "nplus1::"
FIELDS = ("peer", "tag", "size", "request", "comm", "site", "flags", "aux", "ordinal", "crc", "count", "wall_entry_ns",
          "answer_source", "answer_tag", "answer_sequence", "answer_index", "answer_flag")
HEXADECIMAL = ("prefix", "buffer", "polynomial")


def attributes_of(event):
    found = {a.name: v for a, v in (event.attributes or {}).items()}
    return {k[len(PREFIX):]: v for k, v in found.items() if k.startswith(PREFIX)}


def read_archive(anchor):
    """Per rank: our events as (attributes, enter time, leave time); and messages and collectives as records say."""
    calls, sends, receives, collectives = (collections.defaultdict(list) for _ in range(4))
    open_calls = collections.defaultdict(list)
    with otf2.reader.open(str(anchor)) as trace:
        assert trace.timer_resolution == 10**12, trace.timer_resolution
        for location, event in trace.events:
            rank, kind = int(location.group.name.split()[1]), type(event).__name__
            if kind in ("Enter", "Leave"):
                said = attributes_of(event)
                if said:
                    call = [said, event.time, None, event.region.name]
                    calls[rank].append(call)
                if kind == "Enter":
                    open_calls[rank].append(call)
                elif not said:
                    open_calls[rank].pop()[2] = event.time
                else:
                    open_calls[rank].pop()
            elif kind in ("MpiSend", "MpiIsend"):
                sends[rank].append((world(event, event.receiver, rank), event.msg_tag, event.msg_length))
            elif kind in ("MpiRecv", "MpiIrecv"):
                receives[rank].append((world(event, event.sender, rank), event.msg_tag, event.msg_length))
            elif kind in ("MpiCollectiveEnd", "NonBlockingCollectiveComplete"):
                collectives[rank].append(event.collective_op)
    return calls, sends, receives, collectives


def world(event, peer, _rank):
    return int(event.communicator.group.members[peer].group.name.split()[1])


def read_lines(path):
    events, matches, call_paths = collections.defaultdict(list), {}, 0
    for line in path.read_text().splitlines():
        record = json.loads(line)
        if record["record"] == "event":
            events[record["rank"]].append(record)
        elif record["record"] == "match":
            matches[record["rank"], record["answer_request"]] = record
    return events, matches


def compare_calls(calls, events):
    count = 0
    for rank, wanted in events.items():
        assert len(calls[rank]) == len(wanted), f"rank {rank}: {len(calls[rank])} calls, {len(wanted)} events"
        for (said, enter, leave, region), event in zip(calls[rank], wanted):
            where = f"rank {rank} ordinal {event['ordinal']}"
            assert enter == event["entry_ps"], (where, enter, event)
            if leave is not None:
                assert leave == event["exit_ps"], (where, leave, event)
            if "call" in event:
                assert region == event["call"], (where, region)
            for field in FIELDS:
                assert said.get(field, 0) == event.get(field, 0), (where, field, said, event)
            for field in HEXADECIMAL:
                assert said.get(field, 0) == int(event.get(field, "0"), 16), (where, field, said, event)
            count += 1
    return count


def compare_records(sends, receives, collectives, events, matches):
    for rank, wanted in events.items():
        sent = [(e.get("peer", 0), e.get("tag", 0), e.get("size", 0)) for e in wanted
                if e["kind"] in ("send", "isend") and e.get("peer", 0) >= 0]
        assert sends[rank] == sent, (rank, sends[rank], sent)
        got = [(e.get("answer_source", 0), e.get("answer_tag", 0), e.get("answer_size", 0)) for e in wanted
               if e["kind"] == "recv" and e.get("answer_source", 0) >= 0]
        got += [(m.get("answer_source", 0), m.get("answer_tag", 0), m.get("answer_size", 0))
                for (receiver, _), m in matches.items() if receiver == rank]
        assert sorted(receives[rank]) == sorted(got), (rank, receives[rank], got)
        operations = [e for e in wanted if e["kind"] in ("collective", "icollective")]
        assert len(collectives[rank]) == len(operations)
        for op, e in zip(collectives[rank], operations):
            name = str(e.get("operation", "barrier")).upper()
            assert str(op) == f"CollectiveOp.{name}", (rank, op, e)


def compare_printed(anchor, events):
    """otf2-print: as many records of each kind as we have events."""
    printed = subprocess.run(["otf2-print", str(anchor)], check=True, capture_output=True, text=True)
    assert not printed.stderr, printed.stderr[:2000]
    text = printed.stdout
    printed = collections.Counter(line.split()[0] for line in text.splitlines() if line[:1].isupper())
    everything = [e for wanted in events.values() for e in wanted]
    only_left = sum(e["kind"] in ("region_end", "unmodelled_exit") for e in everything)
    assert printed["ENTER"] == len(everything) - only_left, (printed, len(everything))
    assert printed["LEAVE"] == printed["ENTER"], printed
    assert printed["MPI_SEND"] == sum(e["kind"] == "send" and e.get("peer", 0) >= 0 for e in everything)
    assert printed["MPI_ISEND"] == sum(e["kind"] == "isend" for e in everything), printed
    assert printed["MPI_RECV"] == sum(e["kind"] == "recv" and e.get("answer_source", 0) >= 0 for e in everything)
    assert printed["MPI_IRECV_REQUEST"] == sum(e["kind"] == "irecv" for e in everything), printed
    assert printed["MPI_COLLECTIVE_END"] == sum(e["kind"] == "collective" for e in everything), printed


def main():
    sample_run, nplus1 = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run([sample_run, folder / "run.jsonl"], check=True)
        subprocess.run([nplus1, "convert", "-q", folder / "run.jsonl", "-o", folder / "run.otf2"], check=True)
        subprocess.run([nplus1, "convert", "-q", folder / "run.otf2", "-o", folder / "back.jsonl"], check=True)
        events, matches = read_lines(folder / "back.jsonl")
        original, _ = read_lines(folder / "run.jsonl")
        assert events == original, "our own reader disagrees with what was written"
        calls, sends, receives, collectives = read_archive(folder / "run.otf2/traces.otf2")
        count = compare_calls(calls, events)
        compare_records(sends, receives, collectives, events, matches)
        compare_printed(folder / "run.otf2/traces.otf2", events)
        print(f"{count} events agree")
        assert count > 150


if __name__ == "__main__":
    main()
