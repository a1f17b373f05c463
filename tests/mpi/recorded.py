"""Runs programs and reads their recordings through dump_recording."""
import json
import os
import pathlib
import re
import subprocess
import zlib

from live import LiveTest, NPLUS1

DUMP = NPLUS1.parent / "dump_recording"
SOURCES = pathlib.Path(__file__).parent / "programs"

SEND, ISEND, RECV, IRECV, WAIT = 1, 2, 3, 4, 5
REGION_BEGIN, REGION_END, FINALIZE = 17, 18, 22
LOCAL = 16
NO_CRC, CRC_AND_PREFIX = 0, 3
SCATTERED = 32  # the data's bytes are not side by side in memory
WHOLE, SAMPLES = 64, 128


class Recording:
    """The rows of a recording; definitions as they were last told."""

    def __init__(self, folder):
        done = subprocess.run([str(DUMP), str(folder)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(f"{folder}: {done.stderr}")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.events = [r for r in rows if r["row"] == "event"]
        self.matches = [r for r in rows if r["row"] == "match"]
        self.coverage = rows[-1]
        self.paths, self.regions, self.datatypes, self.communicators = (
            {r["id"]: r for r in rows if r["row"] == kind} for kind in ("path", "region", "datatype", "communicator"))

    def sends(self, rank=None):
        return [e for e in self.events if e["kind"] in (SEND, ISEND) and rank in (None, e["rank"])]

    def datatype(self, event):
        return self.datatypes[event["detail"]["datatype"]]

    def frames(self, event):
        return self.paths[event["site"]]["frames"]

    def edges(self, rank=0):
        """[("begin", name), ...] of a rank."""
        return [("begin" if e["kind"] == REGION_BEGIN else "end", self.regions[e["aux"]]["name"]) for e in self.events
                if e["kind"] in (REGION_BEGIN, REGION_END) and e["rank"] == rank]


def whole_payload(event):
    """The payload of an event that has all of it."""
    return b"".join(word.to_bytes(8, "little") for word in event["detail"]["excerpt"])[:event["size"]]


class RecordedTest(LiveTest):
    def check_content(self, event, payload):
        """Whole payloads as they are; of longer ones CRC-32, as Python computes it, and the first bytes."""
        detail = event["detail"]
        self.assertEqual(event["size"], len(payload))
        self.assertEqual(detail["prefix"], int.from_bytes(payload[:8].ljust(8, b"\0"), "little"))
        if detail["content"] & WHOLE:
            self.assertEqual(whole_payload(event), payload)
            self.assertLessEqual(len(payload), 64)
        else:
            self.assertEqual(detail["content"] & CRC_AND_PREFIX, CRC_AND_PREFIX)
            self.assertEqual(detail["crc"], zlib.crc32(payload))

    def record(self, ranks, *words, options=(), **named):
        """The run's recording, complete, and the run."""
        run = self.observe(ranks, *words, options=options, **named)
        recording = Recording(run.folder)
        self.assertTrue(recording.coverage["complete"], recording.coverage)
        self.assertEqual(run.summary["recording"]["events"], len(recording.events))
        self.assertEqual(run.summary["recording"]["bytes"], os.path.getsize(run.folder / "recording" / "events.n1r"))
        return recording, run


def marked_lines(source, word="SEND"):
    """{tag: line} of SEND(tag) comments."""
    found = {}
    for number, line in enumerate((SOURCES / source).read_text().splitlines(), 1):
        for tag in re.findall(word + r"\((\d+)\)", line.partition("/*")[2] + line.partition("//")[2]
                              + line.partition("!")[2]):
            found[int(tag)] = number
    return found
