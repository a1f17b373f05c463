// Where a run waited, for whom, and who caused it; its critical path and its efficiencies (waitstates.json).

import { el } from "./dom.js";
import { formatPlace, formatShare, formatTime } from "./format.js";
import { plainTable, sortableTable } from "./table.js";

/** "late_sender_s" -> "late sender". */
export const stateLabel = (key) => key.replace(/_s$/, "").replace(/_/g, " ").replace("nxn", "NxN");
export const waited = (tally) => tally.waiting_s + tally.polling_s;
export const EFFICIENCIES = [["parallel", "parallel efficiency"], ["load_balance", "load balance (mean / most)"], ["communication", "communication efficiency"],
  ["serialisation", "serialisation: waiting for others, even on an ideal network"], ["transfer", "transfer: latency and bandwidth"]];

/** A run's wait states: its own document, or the side of a comparison that is as it was. */
export const ownStates = ({ waitstates, whatif, fixes }) => waitstates || (whatif && whatif.before) || (fixes && fixes.before);

export function card(title, ...content) {
  return el("section", { class: "card wide" }, el("div", { class: "caption" }, el("h3", {}, title)), content);
}

function mostly(tally) {
  if (waited(tally) === 0) return "";
  const worst = Object.entries(tally.wait_states).filter(([key]) => key !== "wrong_order_s").reduce((a, b) => (b[1] > a[1] ? b : a));
  return worst[1] === 0 || tally.transfer_s > worst[1] ? "transfer" : stateLabel(worst[0]);
}

function frames(activity) {
  if (activity.frames.length === 0) return el("p", { class: "note" }, "Where the call was made is not known.");
  return el("ol", { class: "frames" }, activity.frames.map((frame) =>
    el("li", {}, el("b", {}, frame.function || "?"), " ", el("span", { class: "mono" }, formatPlace(frame, true)))));
}

function overall(states) {
  const { total, efficiencies } = states;
  const all = waited(total);
  const rows = [...Object.entries(total.wait_states).map(([key, value]) => [key === "wrong_order_s" ? "of late sender: in wrong order" : stateLabel(key), value]),
    ["transfer and the rest", total.transfer_s]].filter(([, value]) => value > 0);
  return [card("Waiting", el("p", { class: "note" }, `${formatTime(all)} of all ranks' time, ${formatShare(all, states.virtual_time_s * states.ranks)} of it.`),
    plainTable({ columns: [{ label: "state" }, { label: "time", format: formatTime }, { label: "share of waiting", format: (s) => formatShare(s) }],
      rows: rows.map(([name, value]) => [name, value, all > 0 ? value / all : 0]) })),
  efficiencies ? card("Efficiencies (POP)", plainTable({ columns: [{ label: "efficiency" }, { label: "", format: (v) => (v == null ? "–" : formatShare(v)) }],
    rows: EFFICIENCIES.map(([key, label]) => [label, efficiencies[key]]) }), efficiencies.note ? el("p", { class: "note" }, efficiencies.note) : null) : null];
}

function activityTable(states) {
  return sortableTable({
    title: "Where it waited", name: "waiting", items: states.activities, sortBy: 3, detail: frames, filterLabel: "Filter by call, function, file or region",
    columns: [{ label: "activity", value: (a) => a.title }, { label: "calls", value: (a) => a.calls }, { label: "time", value: (a) => a.time_s, format: formatTime },
      { label: "waiting", value: waited, format: formatTime }, { label: "mostly", value: mostly },
      { label: "on the critical path", value: (a) => a.critical_path_s, format: formatTime },
      { label: "imbalance there", value: (a) => a.critical_imbalance_s, format: formatTime },
      { label: "made others wait", value: (a) => a.delay_direct_s + a.delay_propagated_s, format: formatTime }] });
}

function causeTable(states) {
  return sortableTable({
    title: "Who caused it", name: "causes", items: states.causes, sortBy: 2,
    columns: [{ label: "activity", value: (c) => states.activities[c.activity].title }, { label: "rank", value: (c) => c.rank },
      { label: "waiting caused", value: (c) => c.direct_s + c.propagated_s, format: formatTime }, { label: "directly", value: (c) => c.direct_s, format: formatTime },
      { label: "further on", value: (c) => c.propagated_s, format: formatTime }] });
}

export const waitStatesSection = {
  id: "waiting",
  title: "Wait states",
  available: (data) => ownStates(data) != null,
  render(data) {
    const states = ownStates(data);
    return [overall(states), activityTable(states), causeTable(states)];
  },
};
