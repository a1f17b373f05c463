// Overlap: the chains of messages that could be non-blocking, each in time: when its requests are posted and waited for,
// how far they could be stretched, and what uses their data. And how much is hidden already.

import { legend, newSvg } from "./charts.js";
import { el } from "./dom.js";
import { figure } from "./figure.js";
import { formatBytes, formatCount, formatExact, formatShare, formatTime, plural } from "./format.js";
import { sortableTable } from "./table.js";

const MARGIN = { top: 10, right: 24, bottom: 40 };
/** Of an axis label's characters, on the mean and rather too much; a hidden figure has no text that could be measured. */
const CHARACTER = 6.8;
const LABEL_GAP = 8;
const ROW = 26;
const MOST_DRAWN = 12;
/** Of a chain's requests; the figure's table has all that the document has. */
const MOST_ROWS = 24;
const ENDINGS = { touch: "its data are used", overlap: "another message uses the memory", call: "a call needs it complete",
  finalize: "the program ends" };

const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);
const placeOf = (p) => p == null ? "" : p.file ? `${baseName(p.file)}:${p.line}` : p.address || "?";
const callOf = (c) => `${c.function} at ${placeOf(c)}`;
/** A chain can have hundreds of calls, many of them at the same line: each once, with how often; its details name them all. */
const MOST_NAMED = 4;
function titleOf({ contexts, contexts_in_all: inAll = contexts.length }) {
  const times = new Map();
  for (const c of contexts) times.set(callOf(c), (times.get(callOf(c)) ?? 0) + 1);
  const named = [...times].slice(0, MOST_NAMED);
  const left = inAll - named.reduce((sum, [, count]) => sum + count, 0);
  return named.map(([call, count]) => count > 1 ? `${call} (${formatCount(count)} times)` : call).join(", ") +
    (left > 0 ? ` and ${formatCount(left)} more` : "");
}
const percent = (share) => share == null ? "–" : formatShare(share);

/** What is drawn: from a little before the first post to a little behind the last use. */
function extent({ requests, end_s: end }) {
  const from = Math.min(...requests.map((r) => r.post_s));
  const to = Math.max(...requests.map((r) => r.end_s), end ?? Math.min(...requests.map((r) => r.latest_s)));
  const around = Math.max(to - from, 1e-9);
  return [Math.max(Math.min(...requests.map((r) => r.earliest_s)), from - around) - 0.04 * around, to + 0.06 * around];
}

/** What a row is called; of a file's name that does not fit into `characters` the middle is left out, not the line. */
function labelOf(r, characters = Infinity) {
  const [before, place, after] = [`${r.kind} `, placeOf(r), `, ${formatBytes(r.bytes)}`];
  const room = Math.max(9, characters - before.length - after.length);
  if (place.length <= room) return before + place + after;
  const tail = Math.max(Math.ceil(room / 2), place.length - place.lastIndexOf(":"));
  return `${before}${place.slice(0, Math.max(1, room - tail - 1))}…${place.slice(-tail)}${after}`;
}

/** Room for the longest label, but no more than two fifths of the figure. */
const labelRoom = (requests, width) =>
  Math.min(0.4 * width, LABEL_GAP + 4 + CHARACTER * Math.max(...requests.map((r) => labelOf(r).length)));

function drawChain(body, width, chain) {
  const requests = chain.instance.requests.slice(0, MOST_ROWS);
  const left = labelRoom(requests, width);
  const characters = Math.floor((left - LABEL_GAP) / CHARACTER);
  const height = MARGIN.top + MARGIN.bottom + ROW * requests.length;
  const svg = newSvg(body, width, height, `${titleOf(chain)}: requests in time`);
  const [from, to] = extent({ ...chain.instance, requests });
  const x = d3.scaleLinear().domain([from, to]).range([left, width - MARGIN.right]).clamp(true);
  const origin = Math.min(...requests.map((r) => r.post_s));
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - MARGIN.bottom})`)
    .call(d3.axisBottom(x).ticks(Math.max(3, Math.floor(width / 150))).tickFormat((t) => formatTime(t - origin)).tickSizeOuter(0));
  svg.append("text").attr("class", "axis-label").attr("text-anchor", "middle").attr("x", (left + width - MARGIN.right) / 2)
    .attr("y", height - 4).text("virtual time since the first call");
  requests.forEach((r, i) => {
    const middle = MARGIN.top + ROW * (i + 0.5);
    const row = svg.append("g");
    row.append("title").text(words(r, origin));
    row.append("text").attr("class", "axis-label").attr("text-anchor", "end").attr("x", left - LABEL_GAP).attr("y", middle + 4)
      .text(labelOf(r, characters));
    row.append("rect").attr("class", "legal-window").attr("x", x(r.earliest_s)).attr("y", middle - 9).attr("height", 18)
      .attr("width", Math.max(1, x(r.latest_s) - x(r.earliest_s))).style("fill", "var(--overlap-window)");
    row.append("rect").attr("class", "request").attr("x", x(r.post_s)).attr("y", middle - 5).attr("height", 10)
      .attr("width", Math.max(2, x(r.end_s) - x(r.post_s))).style("fill", "var(--messages)");
    row.append("rect").attr("class", "wait").attr("x", x(r.wait_s)).attr("y", middle - 5).attr("height", 10)
      .attr("width", Math.max(2, x(r.end_s) - x(r.wait_s))).style("fill", "var(--waiting)");
    if (r.touch && r.touch.at_s <= to) {
      row.append("path").attr("class", "touch").attr("transform", `translate(${x(r.touch.at_s)},${middle})`)
        .attr("d", "M0,-8L6,0L0,8L-6,0z").style("fill", "var(--ink)");
    }
  });
}

function words(r, origin) {
  const at = (s) => formatTime(s - origin);
  return `${r.kind} ${callOf(r)}, ${formatBytes(r.bytes)} ${r.kind === "send" ? "to" : "from"} rank ${r.peer}: posted at ${at(r.post_s)}, ` +
    `complete at ${at(r.end_s)}; may be posted from ${at(r.earliest_s)} on and waited for up to ${at(r.latest_s)}, when ${ENDINGS[r.ended_by]}` +
    (r.touch ? `; first ${r.touch.access} at ${placeOf(r.touch)}, byte ${r.touch.offset}` : "");
}

function chainFigure(chain, i) {
  const { requests, rank } = chain.instance;
  const origin = Math.min(...requests.map((r) => r.post_s));
  const merged = chain.merges.length > 0 ? ` ${chain.merges.map(callOf).join(", ")} may be started with it.` : "";
  return figure({
    title: `${titleOf(chain)}: saves ${formatTime(chain.saving_s)} (${percent(chain.saving_share)})`, name: `chain-${i + 1}`, wide: true,
    note: `One of ${plural(chain.count, "time")} on ${plural(chain.ranks, "rank")}, at rank ${rank}. It ends where ${ENDINGS[chain.ended_by]}` +
      `${placeOf(chain.ending) ? ` (${placeOf(chain.ending)})` : ""}.${merged}` +
      (requests.length > MOST_ROWS ? ` The first ${MOST_ROWS} of ${formatCount(requests.length)} requests are drawn; the table has all.` : ""),
    controls: legend([{ label: "from post to completion", color: "--messages" }, { label: "waiting in MPI", color: "--waiting" },
      { label: "could be posted and waited for in here", color: "--overlap-window" }, { label: "◆ first use of the data", color: "--ink" }]),
    draw: (body, width) => drawChain(body, width, chain),
    table: () => ({ columns: ["kind", "call", "peer", "bytes", "earliest post (s)", "post (s)", "wait (s)", "complete (s)", "latest wait (s)", "used at (s)", "used by"]
      .map((label) => ({ label })),
    rows: requests.map((r) => [r.kind, callOf(r), r.peer, r.bytes, r.earliest_s - origin, r.post_s - origin, r.wait_s - origin, r.end_s - origin,
      r.latest_s - origin, r.touch ? r.touch.at_s - origin : null, r.touch ? placeOf(r.touch) : ENDINGS[r.ended_by]]) }),
  });
}

const saved = (chain, variant, progress) => chain.savings[variant]?.[`${progress}_s`];

function weakText(chain) {
  const of = (words, variant) => saved(chain, variant, "weak") == null ? [] : [`${words} ${formatTime(saved(chain, variant, "weak"))}`];
  const saves = [...of("grouped", "grouped"), ...of("per request", "per_request")];
  return saves.length === 0 ? null : el("p", {}, `With MPI's weak progress it saves ${saves.join(", ")}.`);
}

// Where a source would wait, if that saves less than waiting where each rank's own data are used.
function oneWaitText(chain) {
  const once = saved(chain, "one_wait", "asynchronous"), grouped = saved(chain, "grouped", "asynchronous");
  if (!chain.one_wait || once == null || once === grouped) return null;
  const where = chain.one_wait.line == null ? "behind the calls" : `before ${placeOf(chain.one_wait)}`;
  return el("p", {}, `With one wait for all ranks and times, ${where}, as a patch has it, it saves ${formatTime(once)}.`);
}

function chainsTable(overlap) {
  const time = (label, value) => ({ label, value: (c) => value(c) ?? null, format: formatTime });
  return sortableTable({
    title: "Chains of messages", name: "chains", items: overlap.chains, sortBy: 1, filterLabel: "Filter by call",
    columns: [{ label: "Calls", value: titleOf, details: true }, time("Saves", (c) => c.saving_s),
      { label: "Of the run", value: (c) => c.saving_share, format: percent },
      time("Grouped", (c) => saved(c, "grouped", "asynchronous")), time("Per request", (c) => saved(c, "per_request", "asynchronous")),
      { label: "Times", value: (c) => c.count },
      { label: "Until", value: (c) => `${ENDINGS[c.ended_by]} (${placeOf(c.ending)})` }],
    detail: (c) => el("div", {}, el("p", {}, `Chain ${c.id}, ${plural(c.requests, "request")}: ${c.contexts.map(callOf).join(", ")}`),
      weakText(c), oneWaitText(c), c.measured ? el("p", {}, `Measured on the machine's own MPI: ${c.measured}`) : null,
      c.patch ? el("pre", {}, c.patch) : c.not_patched ? el("p", {}, `No patch: ${c.not_patched}`) : null),
  });
}

function efficiencyCard({ efficiency }) {
  const { whole, non_blocking: already, bound, two_replays: two } = efficiency;
  if (!(whole.transfer_s > 0)) return el("p", { class: "card" }, "No message was in transfer for any time that computing could hide.");
  const line = (name, share) => share == null ? null : el("li", {}, `${name}: ${percent(share)}`);
  return el("div", { class: "card" }, el("h3", {}, `Overlap efficiency: ${percent(whole.share)}`),
    el("p", {}, `Of ${formatTime(whole.transfer_s)} in transfer, all ranks together, ${formatTime(whole.hidden_s)} are hidden behind computing of the same rank.`),
    el("ul", {}, line("of the messages of non-blocking calls alone", already.share), line("checked by a second replay, with each call waited for at once", two),
      line("what the data allow", bound?.asynchronous), line("the same with MPI's weak progress", bound?.weak)));
}

function sitesTable({ efficiency }) {
  return sortableTable({ title: "Hidden by call site", name: "hidden", items: efficiency.sites, sortBy: 1, filterLabel: "Filter by line",
    columns: [{ label: "Posted at", value: placeOf }, { label: "In transfer", value: (s) => s.transfer_s, format: formatTime },
      { label: "Hidden", value: (s) => s.hidden_s, format: formatTime }, { label: "Share", value: (s) => s.share, format: percent }] });
}

function listOf(title, items, text) {
  return items.length === 0 ? null : el("div", { class: "card" }, el("h3", {}, title), el("ul", {}, items.map((i) => el("li", {}, text(i)))));
}

/** What watching the messages' memory took in the run, by kind: a recording for the efficiency alone has none. */
const costCard = ({ accesses }) => accesses?.cost ? el("div", { class: "card", "data-card": "access-cost" }, el("h3", {}, "What recording the accesses took"),
  el("p", {}, `${accesses.cost}.`)) : null;

export const overlapSection = {
  id: "overlap", title: "Overlap",
  available: (data) => data.overlap != null,
  render({ overlap }) {
    const findings = overlap.chains.filter((c) => c.finding), drawn = (findings.length > 0 ? findings : overlap.chains).slice(0, MOST_DRAWN);
    const races = listOf("Touched before its request was waited for", overlap.races, (r) =>
      `${placeOf(r)} ${r.access === "write" ? "writes" : "reads"} byte ${formatExact(r.offset)} of what ${r.request_function} at ` +
      `${r.request_file ? `${baseName(r.request_file)}:${r.request_line}` : "?"} ${r.of === "receive" ? "receives" : "sends"} (${plural(r.count, "time")})`);
    const fixed = listOf("Cannot be deferred", overlap.not_deferrable, (n) => `${callOf(n)} (${formatCount(n.count)} ×): ${n.reason}`);
    return [efficiencyCard(overlap), races, overlap.chains.length > 0 ? chainsTable(overlap) : null,
      ...drawn.map(chainFigure), sitesTable(overlap), fixed, costCard(overlap)];
  },
};
