// A hypothesis next to what was (whatif.json), with a timeline of both; and the ranked list of a sweep.

import { shareOfRun, worth } from "./data.js";
import { el } from "./dom.js";
import { formatShare, formatTime } from "./format.js";
import { plainTable, sortableTable } from "./table.js";
import { timelineOf } from "./timeline.js";
import { EFFICIENCIES, card, stateLabel, waited } from "./wait_states.js";

function change(before, after) {
  if (before === after) return "same";
  if (!(before > 0)) return "new";
  const percent = 100 * (after - before) / before;
  if (Math.abs(percent) >= 1000) return `x ${(after / before).toPrecision(3)}`;
  return `${percent > 0 ? "+" : ""}${percent.toFixed(1)} %`;
}

function metrics({ before, after }) {
  const i = before.virtual_time_interval;
  const times = [["virtual time", before.virtual_time_s, after.virtual_time_s], ...(i ? [["in nine cases of ten from", i.from_s], ["to", i.to_s]] : []), ["waiting, all ranks", waited(before.total), waited(after.total)],
    ...Object.keys(before.wait_states).map((key) => [stateLabel(key), before.wait_states[key], after.wait_states[key]]),
    ["transfer and the rest", before.total.transfer_s, after.total.transfer_s]].filter(([, a, b]) => a > 0 || b > 0);
  const share = (side, key) => (side.efficiencies && side.efficiencies[key] != null ? formatShare(side.efficiencies[key]) : "–");
  return plainTable({ columns: [{ label: "" }, { label: "before" }, { label: "after" }, { label: "change" }],
    rows: [...times.map(([name, a, b]) => [name, formatTime(a), b == null ? "" : formatTime(b), b == null ? "" : change(a, b)]),
      ...EFFICIENCIES.map(([key, label]) => [label, share(before, key), share(after, key), ""])] });
}

function activityTable({ before, after }) {
  const all = new Map();
  const add = (side, which) => side.activities.forEach((a) => {
    const item = all.get(a.title) || { title: a.title, before: 0, after: 0 };
    item[which] += waited(a);
    all.set(a.title, item);
  });
  add(before, "before");
  add(after, "after");
  return sortableTable({ title: "Where it waits", name: "whatif-waiting", items: [...all.values()].filter((a) => a.before > 0 || a.after > 0), sortBy: 1,
    columns: [{ label: "activity", value: (a) => a.title }, { label: "before", value: (a) => a.before, format: formatTime },
      { label: "after", value: (a) => a.after, format: formatTime }, { label: "less", value: (a) => a.before - a.after, format: formatTime }] });
}

function trust(name, { trust: t }) {
  const known = (value, words) => (value == null ? null : `${value} ${words}`);
  return el("p", { class: "note" }, [`${name}: model ${t.model}`, t.identity_error_s === 0 ? "identity replay exact" : `identity replay off by ${formatTime(t.identity_error_s)}`,
    `${formatShare(t.unmodelled_share)} not modelled`, t.cores == null ? null : `${t.ranks} ranks on ${t.cores} cores`, known(t.order_inversions, "order inversions"),
    known(t.forced_decisions, "forced decisions"), t.decided_otherwise > 0 ? `${t.decided_otherwise} calls come out otherwise than recorded` : null,
    t.gave_up > 0 ? `${t.gave_up} calls came out in a way that cannot be followed` : null,
    t.threaded_ranks > 0 ? `${t.threaded_ranks} ranks call MPI from several threads and do not adapt` : null, t.relies_on_buffering ? "relies on buffering" : null,
    t.reenactment_deviation == null ? null : `re-enactment ${(100 * t.reenactment_deviation).toFixed(2)} %`,
    t.finished ? null : `${t.blocked_ranks.length} ranks wait for what never comes`].filter((part) => part).join("; "));
}

/** Both timelines on one scale, where every call is drawn. */
function timelines({ timeline, after, patterns }) {
  if (!timeline || !after) return [];
  const exact = timeline.detail === "intervals" && after.detail === "intervals";
  const end = Math.max(timeline.end_ps, after.end_ps);
  const scaled = (document) => (exact ? { ...document, end_ps: end } : document);
  return [timelineOf({ timeline: scaled(timeline), patterns }, { title: "Before", id: "timeline-before" }),
    timelineOf({ timeline: scaled(after), patterns }, { title: "After", id: "timeline-after" })];
}

export const whatIfSection = {
  id: "whatif",
  title: "What if",
  available: ({ whatif }) => whatif != null,
  render(data) {
    const { whatif } = data;
    return [card("What if", el("ul", {}, whatif.hypothesis.map((line) => el("li", { class: "mono" }, line))), metrics(whatif),
      trust("before", whatif.before), trust("after", whatif.after)), ...timelines(data), activityTable(whatif)];
  },
};

/** A word as a shell reads it back, as nplus1 itself prints commands. */
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

const comesAndGoes = (c) => (c.saved_s > worth(c) && c.systematic_s != null ? ` (and ${formatTime(c.saved_s - c.systematic_s)} that comes and goes)` : "");
const remark = (c) => comesAndGoes(c) + (c.finished ? "" : " (not all ranks end)") + (c.bound ? " (what it costs at most, no advice)" : "");

export const fixesSection = {
  id: "fixes",
  title: "What to fix",
  available: ({ fixes }) => fixes != null,
  render: ({ fixes }) => [sortableTable({
    title: "What would save how much", name: "fixes", items: fixes.candidates, sortBy: 0,
    detail: (c) => el("p", { class: "mono" }, `nplus1 whatif ${quoted(fixes.recording)} ${c.flags}`),
    columns: [{ label: "saves", value: worth, format: formatTime },
      { label: "of the run", value: (c) => shareOfRun(c, fixes), format: (s) => formatShare(s) },
      ...(fixes.candidates.some((c) => c.saved_between_s) ? [{ label: "in nine cases of ten", value: ({ saved_between_s: s }) => (s ? s.map(formatTime).join(" to ") : "") }] : []),
      { label: "by this change", value: (c) => c.what + remark(c) }] }), trust("the run", fixes.before)],
};
