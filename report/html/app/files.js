// What the run did with files (docs/formats/patterns.md, "io"): a card of the overview, with a row for each file.

import { el } from "./dom.js";
import { formatBytes, formatExact, formatTime, plural } from "./format.js";

const MOST_FILES = 50;
const MUCH = 1 << 20;

const sum = (column) => column.reduce((all, value) => all + value, 0);

/** "3 reads, 2 writes", of a file or of all. */
export const accesses = ({ reads, writes }) => `${plural(reads, "read")}, ${plural(writes, "write")}`;

function row(file) {
  return el("tr", {}, el("td", { class: "mono" }, file.name), [formatExact(file.opens), formatBytes(file.bytes_read), formatExact(file.reads),
    formatBytes(file.bytes_written), formatExact(file.writes), formatExact(file.collective), formatTime(file.time_s), formatTime(file.waiting_s)]
    .map((text) => el("td", { class: "number" }, text)));
}

/** By the processes themselves: each has some, of its libraries. */
const ownBytes = ({ system }) => (system ? sum(system.bytes_read) + sum(system.bytes_written) : 0);

function systemNote({ system }) {
  if (!system) return null;
  return el("p", { class: "note" }, `Besides, the ranks' own read() and write() and their like: ${formatBytes(sum(system.bytes_read))} read in ` +
    `${plural(sum(system.reads), "call")}, ${formatBytes(sum(system.bytes_written))} written in ${plural(sum(system.writes), "call")}. They are counted, not simulated.`);
}

export function filesCard({ io }) {
  if (!io || (io.files.length === 0 && ownBytes(io) < MUCH)) return null;
  const shown = io.files.slice(0, MOST_FILES);
  const more = io.files.length + io.files_left_out - shown.length;
  const heads = ["file", "opened", "read", "in calls", "written", "in calls", "of all members", "time", "of it waiting"];
  return el("section", { class: "card", id: "files" }, el("h3", {}, "Files"),
    shown.length === 0 ? el("p", { class: "empty" }, "No calls of MPI-IO.") : el("table", {}, el("thead", {}, el("tr", {}, heads.map((name) => el("th", {}, name)))),
      el("tbody", {}, shown.map(row))),
    more > 0 ? el("p", { class: "note" }, `and ${plural(more, "file")} more`) : null, systemNote(io));
}
