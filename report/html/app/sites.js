// Tables: every call site, every communicator, every collective.

import { el } from "./dom.js";
import { formatBytes, formatCallers, formatCount, formatExact, formatPlace, formatTime, plural } from "./format.js";
import { sortableTable } from "./table.js";

function frameList({ frames }) {
  if (frames.length === 0) return el("p", { class: "note" }, "Where the call was made is not known.");
  return el("ol", { class: "frames" }, frames.map((frame) =>
    el("li", {}, el("b", {}, frame.function || "?"), " ", el("span", { class: "mono" }, formatPlace(frame, true)))));
}

function siteTable({ call_sites: items, call_sites_left_out: left }) {
  const first = (site) => site.frames[0] || {};
  return [sortableTable({
    title: "Call sites", name: "call-sites", items, sortBy: 4, detail: frameList, filterLabel: "Filter call sites by function, file or call",
    columns: [
      { label: "call", value: (s) => s.call },
      { label: "in function", value: (s) => first(s).function || "" },
      { label: "place", value: (s) => formatPlace(first(s)) + formatCallers(s.frames) },
      { label: "calls", value: (s) => s.calls },
      { label: "time", value: (s) => s.time_s, format: formatTime },
      { label: "waiting", value: (s) => s.waiting_s, format: formatTime },
      { label: "longest", value: (s) => s.longest_s, format: formatTime },
      { label: "messages", value: (s) => s.messages },
      { label: "bytes", value: (s) => s.bytes, format: formatBytes, title: (v) => `${formatExact(v)} bytes` }],
  }), left > 0 ? el("p", { class: "note" }, `${plural(left, "further call site")} took less time and are left out.`) : null];
}

function communicatorTable({ communicators: items, communicators_left_out: left }) {
  const groups = (c) => el("p", { class: "mono" }, `Members: ${c.members}` +
    (c.first_group ? ` (the first ${c.first_group} are the first group of this intercommunicator)` : ""));
  return [sortableTable({
    title: "Communicators", name: "communicators", items, sortBy: 5, detail: groups,
    columns: [
      { label: "communicator", value: (c) => c.id === 0 ? "world" : String(c.id) },
      { label: "ranks", value: (c) => c.size },
      { label: "messages", value: (c) => c.messages },
      { label: "bytes", value: (c) => c.bytes, format: formatBytes },
      { label: "collective calls", value: (c) => c.collective_calls },
      { label: "time", value: (c) => c.time_s, format: formatTime },
      { label: "waiting", value: (c) => c.waiting_s, format: formatTime }],
  }), left > 0 ? el("p", { class: "note" }, `${plural(left, "further communicator")} took less time and are left out.`) : null];
}

function rankTable({ rank, ranks }) {
  const items = Array.from({ length: ranks }, (_, r) => r);
  const column = (label, key, format) => ({ label, value: (r) => rank[key][r], format });
  return sortableTable({
    title: "Ranks", name: "ranks", items, sortBy: 1,
    columns: [{ label: "rank", value: (r) => r }, column("computing", "compute_s", formatTime), column("in MPI", "mpi_s", formatTime),
      column("waiting", "waiting_s", formatTime), column("end", "end_s", formatTime), column("messages sent", "messages_sent"),
      column("bytes sent", "bytes_sent", formatBytes), column("messages received", "messages_received"),
      column("bytes received", "bytes_received", formatBytes), column("collective calls", "collective_calls"),
      column("partners", "partners", formatCount)],
  });
}

export const sites = {
  id: "tables",
  title: "Tables",
  render: ({ patterns }) => [...siteTable(patterns), ...communicatorTable(patterns), rankTable(patterns)],
};
