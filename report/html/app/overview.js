// The first screen: what ran, where the time went, what to look at first, and how far to believe it.

import { barList, columns, legend } from "./charts.js";
import { intervalOf, meanOf, oneSided, rankGroups, shareOf, shareOfRun, timeName, worth } from "./data.js";
import { el } from "./dom.js";
import { figure } from "./figure.js";
import { accesses, filesCard } from "./files.js";
import { formatBytes, formatCallers, formatCount, formatExact, formatPlace, formatShare, formatTime, plural, rankRange } from "./format.js";

const MOST_BARS = 128;
const TOP = 8;
const TIME_KEYS = [{ label: "computing", color: "--compute" }, { label: "in MPI, not waiting", color: "--mpi" },
  { label: "waiting", color: "--waiting" }, { label: "after its end", color: "--ended" }];

function tile(label, value, note) {
  return el("div", { class: "tile" }, el("dt", {}, label), el("dd", {}, value), note ? el("p", {}, note) : null);
}

/** In nine cases of ten, as the clock's page says. */
const between = ({ from, to }) => `nine of ten: ${formatTime(from)} to ${formatTime(to)}`;

function timeNote(ranks, interval) {
  if (!interval) return plural(ranks, "rank");
  return `${between(interval)}; at least ${formatTime(interval.lowest)}, as measured ${formatTime(interval.highest)}`;
}

function capitalized(text) {
  return text[0].toUpperCase() + text.slice(1);
}

function tiles(patterns, interval) {
  const { totals, imbalance, layers, ranks, virtual_time_s: time } = patterns;
  const windows = oneSided(layers);
  const spent = totals.compute_s + totals.mpi_s;
  const most = imbalance.most_loaded_rank;
  return el("dl", { class: "tiles" },
    tile(capitalized(timeName(patterns)), formatTime(time), timeNote(ranks, interval)),
    tile("Computing", formatShare(totals.compute_s, spent), `${formatTime(totals.compute_s / ranks)} a rank`),
    tile("In MPI", formatShare(totals.mpi_s, spent), `${formatTime(totals.mpi_s / ranks)} a rank`),
    tile("Waiting", formatShare(totals.waiting_s, spent), `${formatTime(totals.waiting_s / ranks)} a rank`),
    tile("Imbalance", formatShare(imbalance.compute), most == null ? "nobody computed" :
      `max / mean - 1; rank ${most} computes longest, ${formatTime(imbalance.compute_time_s)} over the mean`),
    windows && totals.messages_sent === 0 ? null : tile("Messages", formatCount(totals.messages_sent), `${formatBytes(totals.bytes_sent)} point-to-point`),
    windows ? tile("One-sided", formatCount(windows.transfers), `${formatBytes(windows.bytes)} put, got and accumulated`) : null,
    patterns.io && patterns.io.files.length > 0 ? tile("Files", formatBytes(patterns.io.totals.bytes_read + patterns.io.totals.bytes_written), accesses(patterns.io.totals)) : null,
    tile("Collectives", formatCount(totals.collective_calls / ranks), "calls a rank"));
}

function timeOf({ rank, virtual_time_s: whole }, group) {
  const mpi = meanOf(rank.mpi_s, group);
  const waiting = meanOf(rank.waiting_s, group);
  return [meanOf(rank.compute_s, group), Math.max(0, mpi - waiting), waiting,
    Math.max(0, whole - meanOf(rank.end_s, group))];
}

/** Several threads of a rank may compute at once: their sum is then longer than the run. */
function sumsThreads({ rank, virtual_time_s: whole }) {
  return rank.compute_s.some((compute, i) => compute + rank.mpi_s[i] > whole * (1 + 1e-6));
}

function timeFigure(patterns) {
  const groups = rankGroups(patterns.ranks, MOST_BARS);
  const items = groups.map((g) => ({ label: String(g.from), name: rankRange(g.from, g.to), values: timeOf(patterns, g) }));
  const size = groups[0].to - groups[0].from;
  return figure({
    title: "Where the time goes", name: "time-per-rank", wide: true,
    note: [size > 1 ? `Each bar is the mean of ${size} ranks.` : "",
      sumsThreads(patterns) ? "Ranks have several threads; a bar is their sum, which may be longer than the run." : ""].join(" ").trim() || null,
    controls: legend(TIME_KEYS),
    draw: (body, width) => columns(body, width, items, { label: "Time per rank", keys: TIME_KEYS, format: formatTime,
      xLabel: size > 1 ? "first rank of the group" : "rank", yLabel: timeName(patterns), height: 260 }),
    table: () => ({ columns: [{ label: "rank" }, ...TIME_KEYS.map((k) => ({ label: `${k.label} (s)`, format: formatTime }))],
      rows: rankGroups(patterns.ranks, patterns.ranks).map((g) => [g.from, ...timeOf(patterns, g)]) }),
  });
}

export function siteName(site) {
  const place = formatPlace(site.frames[0]);
  return place ? `${site.call} at ${place}${formatCallers(site.frames)}` : site.call;
}

function topSites(sites, title, note, key, row) {
  const best = [...sites].filter((s) => s[key] > 0).sort((a, b) => b[key] - a[key]).slice(0, TOP);
  const content = best.length > 0 ? barList(best.map((site) => ({ label: siteName(site),
    title: `${site.call} at ${formatPlace(site.frames[0], true)}`, ...row(site) }))) :
    el("p", { class: "empty" }, "There are none.");
  return el("section", { class: "card" }, el("h3", {}, title), el("p", { class: "note" }, note), content);
}

function topByTime({ call_sites: sites, totals }) {
  return topSites(sites, "Calls that take the most time", "Summed over all ranks; the darker part is waiting.", "time_s",
    (site) => ({ parts: [{ value: site.waiting_s, color: "--waiting" }, { value: Math.max(0, site.time_s - site.waiting_s), color: "--mpi" }],
      text: `${formatTime(site.time_s)} · ${formatShare(site.time_s, totals.mpi_s)} of MPI` }));
}

function topByBytes({ call_sites: sites }) {
  return topSites(sites, "Calls that send the most", "Payload of messages and of collectives.", "bytes",
    (site) => ({ parts: [{ value: site.bytes, color: "--bytes" }], text: `${formatBytes(site.bytes)} · ${plural(site.calls, "call")}` }));
}

/** Sentences about how far to believe the numbers: [{ good, text }]. */
export function trustLines(trust, complete, ranks) {
  const lines = [{ good: complete, text: complete ? "Every rank reached MPI_Finalize." :
    "The program did not end by itself: this is what was seen until then." }];
  if (!trust) return lines;
  const check = (good, yes, no) => lines.push({ good, text: good ? yes : no });
  check(trust.active_ranks >= ranks, `All ${plural(ranks, "rank")} were observed.`,
    `Only ${trust.active_ranks} of ${ranks} ranks were observed.`);
  check(trust.clock_mismatches === 0, "Ranks and simulator computed the same times.",
    `${plural(trust.clock_mismatches, "time")} differed between a rank and the simulator: please report this.`);
  check(trust.order_inversions === 0 && trust.forced_decisions === 0, "Every match was proved to be the earliest.",
    `Decisions without proof that nothing earlier could come: ${formatExact(trust.forced_decisions)}; matches out of order: ${formatExact(trust.order_inversions)}.`);
  if (trust.relies_on_buffering) lines.push({ good: false, text:
    "The program relies on buffering: with large sends waiting for their receives it would deadlock." });
  return lines;
}

function trustCard({ patterns, summary }) {
  const lines = trustLines(summary && summary.trust, patterns.complete, patterns.ranks);
  const unmodelled = patterns.unmodelled;
  const natively = "The ranks counted natively: nothing was simulated.";
  if (patterns.clock === "real") lines.push({ good: true, text: natively });
  else lines.push({ good: unmodelled.calls === 0, text: unmodelled.calls === 0 ? "All calls were modelled." :
    `${plural(unmodelled.calls, "call")} not modelled, ${formatShare(unmodelled.share)} of the time: ` +
    unmodelled.by_name.map((c) => `${c.name} (${formatExact(c.count)})`).join(", ") + "." });
  if (patterns.unplaced_messages > 0) lines.push({ good: false, text:
    `${plural(patterns.unplaced_messages, "message")} of collectives on unknown communicators are in no map.` });
  const notes = (summary && summary.notes) || [];
  return el("section", { class: "card" }, el("h3", {}, "How far to believe it"),
    el("ul", { class: "trust" }, lines.map(({ good, text }) => el("li", { class: good ? "good" : "doubt" },
      el("span", { class: "visually-hidden" }, good ? "Fine: " : "Attention: "), text)),
      notes.map((text) => el("li", { class: "info" }, text))));
}

function recordingFacts(recording) {
  if (!recording) return [];
  const shown = (key, value) => {
    if (typeof value !== "number") return String(value);
    if (/bytes|size/.test(key)) return formatBytes(value);
    return key.endsWith("_s") ? formatTime(value) : formatExact(value);
  };
  return Object.entries(recording).filter(([, value]) => typeof value !== "object").map(([key, value]) =>
    [`Recording: ${key.replace(/_s$/, "").replace(/_/g, " ")}`, shown(key, value)]);
}

const intervalFacts = (interval) => (!interval ? [] : [["In nine cases of ten", `${formatTime(interval.from)} to ${formatTime(interval.to)}`],
  ["At least", `${formatTime(interval.lowest)}, every stretch of computing as short as the shortest of its kind, what happens once without all that may be the host's`],
  ["As measured", `${formatTime(interval.highest)}, with what this host's caches cost`]]);

function factsCard({ patterns, summary, clock }) {
  const s = summary || {};
  const facts = [["Program", patterns.application || s.application], ["Ranks", formatExact(patterns.ranks)],
    ["Network", patterns.network || s.network], ["Storage", patterns.io && s.storage],
    [capitalized(timeName(patterns)), `${formatTime(patterns.virtual_time_s)} (${patterns.virtual_time_s} s)`],
    ...intervalFacts(intervalOf({ patterns, clock })),
    ["Wall time", s.wall_time_s == null ? null : formatTime(s.wall_time_s)],
    ["Clock", s.clock && (s.clock_reason ? `${s.clock} (${s.clock_reason})` : s.clock)],
    ["Compute time", s.compute], ["Protocol", s.protocol], ["Transport", s.transport],
    ["Events", s.trust && formatExact(s.trust.events)], ...recordingFacts(s.recording)];
  return el("section", { class: "card" }, el("h3", {}, "What ran"),
    el("dl", { class: "facts" }, facts.filter(([, value]) => value != null && value !== "").map(([name, value]) =>
      [el("dt", {}, name), el("dd", {}, value)])));
}

const MOST_FIXES = 3;
const LEAST_SAVING = 0.01;
const WORTH_LOOKING = 0.05;

const savedBetween = ({ saved_between_s: s }) => (s ? ` (nine of ten: ${formatTime(s[0])} to ${formatTime(s[1])})` : "");

function triedText({ candidates }, shown) {
  if (candidates.length === 0) return "No change was tried within the time that there was: nplus1 whatif with --sweep has no limit.";
  return `Of ${plural(candidates.length, "change")} that were tried, ${shown > 0 ? "no other problem's" : "none"} saves 1 %.`;
}

/** What saves most of what was tried, one change for each problem: the tab has it all. */
function fixesCard({ fixes }) {
  if (!fixes) return null;
  const share = (c) => shareOfRun(c, fixes);
  const best = fixes.candidates.filter((c) => c.leads && share(c) >= LEAST_SAVING).slice(0, MOST_FIXES);
  const items = best.map((c) => el("li", {}, el("strong", {}, `${formatTime(worth(c))} (${formatShare(share(c))})`), savedBetween(c), ` less: ${c.what}`));
  return el("section", { class: "card", id: "fix-first" }, el("h3", {}, "What to fix first"),
    items.length > 0 ? el("ol", {}, items) : null,
    items.length < MOST_FIXES ? el("p", { class: "empty" }, triedText(fixes, items.length)) : null,
    shareOf(fixes.random_s ?? 0, fixes) < LEAST_SAVING ? null : el("p", {},
      `No advice: ${formatTime(fixes.random_s)} (${formatShare(shareOf(fixes.random_s, fixes))}) are uneven computing that comes and goes, noise of the host or of the program.`),
    (fixes.overlap_not_looked_at ?? 0) < WORTH_LOOKING ? null : el("p", {},
      `Not looked at: communication that computing could hide, at most ${formatShare(fixes.overlap_not_looked_at)}. Record again with --record-accesses, which MPICH's programs have.`));
}

function renumberingCard({ renumbering: advice }) {
  if (!advice) return null;
  return el("section", { class: "card" }, el("h3", {}, "Renumbering the ranks"),
    el("p", {}, `On ${advice.topology}, other places for the ranks would save ${formatShare(advice.saving)} of the bytes times hops ` +
      `(${formatBytes(advice.hop_bytes)} now, ${formatBytes(advice.hop_bytes_after)} then).`),
    el("details", {}, el("summary", {}, "Where each rank should run"),
      el("p", { class: "mono" }, advice.place_of_rank.map((place, rank) => `${rank}→${place}`).join(" "))));
}

export const overview = {
  id: "overview",
  title: "Overview",
  render(data) {
    const { patterns } = data;
    return [tiles(patterns, intervalOf(data)), fixesCard(data), timeFigure(patterns),
      el("div", { class: "columns" }, topByTime(patterns), topByBytes(patterns)),
      filesCard(patterns), el("div", { class: "columns" }, trustCard(data), factsCard(data)), renumberingCard(patterns)];
  },
};
