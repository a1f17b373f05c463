// Performance guidelines: verdicts by size, and each guideline as figures 2 and 3 of Hunold, Carpen-Amarie and Träff
// 2016 have it: both run-times over the sizes, violations shaded, stars above.

import { drawAxes, legend, newSvg, valueScale, valueTicks } from "./charts.js";
import { el, select } from "./dom.js";
import { figure } from "./figure.js";
import { formatShare, formatTime, plural } from "./format.js";
import { sortableTable } from "./table.js";

const MARGIN = { top: 28, right: 26, bottom: 40, left: 80 };
const ORIGINAL = "--messages", BOUND = "--mpi";
const MARKS = { holds: "·", open: "~", undecided: "?" };
const RANK = { pattern: 0, monotony: 1, split: 2 };

const isViolated = (c) => c.verdict === "violated";
const shortSize = (n) => n >= 1048576 && n % 1048576 === 0 ? `${n / 1048576}M` : n >= 1024 && n % 1024 === 0 ? `${n / 1024}K` : String(n);
const times = (ratio) => ratio == null ? "∞" : `${Number(ratio.toPrecision(3))} ×`;
const probability = (p) => p == null ? "" : p < 0.001 ? p.toExponential(1) : String(Number(p.toPrecision(2)));
const confirmation = (c) => c.confirmed == null ? "" : c.confirmed ? "confirmed" : "not confirmed";
const markOf = (c) => isViolated(c) ? (c.stars || "*") : MARKS[c.verdict];

/** A guideline on so many processes, with its comparisons by size; what is violated most comes first. */
function groupsOf(document) {
  const groups = d3.groups(document.comparisons, (c) => `${c.guideline}, on ${c.processes} processes`)
    .map(([label, list]) => ({ label, type: list[0].type, function: list[0].function, processes: list[0].processes,
      list: [...list].sort((a, b) => a.left.size - b.left.size), violated: list.filter(isViolated).length }));
  return groups.sort((a, b) => RANK[a.type] - RANK[b.type] || b.violated - a.violated);
}

function describe(c) {
  const bound = `${c.right.calls > 1 ? `${c.right.calls} × ` : ""}${c.right.test}(${shortSize(c.right.size)})`;
  const sure = c.q == null ? "" : `; ${times(c.ratio_low)} to ${times(c.ratio_high)}, p = ${probability(c.p)}, q = ${probability(c.q)}`;
  return `${c.function}(${shortSize(c.left.size)}): ${formatTime(c.left.time_s)}; ${bound}: ${formatTime(c.right.time_s)}: ` +
    `${times(c.ratio)}${sure}; ${c.verdict}${c.confirmed == null ? "" : `, ${confirmation(c)}`}`;
}

/** Each size is a band: the mpiruns' medians of both sides as points, and the medians of those joined by lines. */
function drawGuideline(body, width, group) {
  const size = { width, height: 320 };
  const svg = newSvg(body, width, size.height, group.label);
  const list = group.list;
  const all = list.flatMap((c) => [...c.left.medians_s, ...c.right.medians_s]).filter((t) => t > 0);
  const x = d3.scaleBand().domain(list.map((_, i) => i)).range([MARGIN.left, width - MARGIN.right]).paddingInner(0.15).paddingOuter(0.08);
  const y = valueScale(true, d3.max(all), d3.min(all), [size.height - MARGIN.bottom, MARGIN.top]);
  const bands = svg.append("g").selectAll("g").data(list).enter().append("g");
  bands.append("rect").attr("x", (_, i) => x(i)).attr("width", x.bandwidth()).attr("y", MARGIN.top)
    .attr("height", size.height - MARGIN.bottom - MARGIN.top).attr("class", (c) => isViolated(c) ? "violation-band" : "plain-band")
    .append("title").text(describe);
  bands.append("text").attr("class", "stars").attr("text-anchor", "middle").attr("x", (_, i) => x(i) + x.bandwidth() / 2)
    .attr("y", MARGIN.top - 8).text((c) => isViolated(c) ? markOf(c) : "");
  const every = Math.max(1, Math.ceil(list.length * 44 / (width - MARGIN.left - MARGIN.right)));
  drawAxes(svg, d3.axisBottom(x).tickValues(list.map((_, i) => i).filter((i) => i % every === 0))
    .tickFormat((i) => shortSize(list[i].left.size)).tickSizeOuter(0),
  valueTicks(y, true, formatTime).tickSizeInner(-(width - MARGIN.left - MARGIN.right)), size, { xLabel: "size in bytes", yLabel: "run-time" });
  drawSide(svg, list, "left", ORIGINAL, (i) => x(i) + x.bandwidth() * 0.35, y);
  drawSide(svg, list, "right", BOUND, (i) => x(i) + x.bandwidth() * 0.65, y);
}

function drawSide(svg, list, side, color, place, y) {
  const group = svg.append("g").style("color", `var(${color})`).attr("pointer-events", "none");
  const points = list.flatMap((c, i) => c[side].medians_s.filter((t) => t > 0).map((t) => [place(i), y(t)]));
  const line = list.map((c, i) => [place(i), c[side].time_s]).filter((p) => p[1] > 0).map(([px, t]) => [px, y(t)]);
  group.append("path").attr("d", d3.line()(line)).attr("fill", "none").attr("stroke", "currentColor").attr("stroke-width", 1.6);
  group.selectAll("circle").data(points).enter().append("circle").attr("class", "run-median").attr("r", 2.6)
    .attr("cx", (p) => p[0]).attr("cy", (p) => p[1]).attr("fill", "currentColor");
}

const RIGHT_LABEL = { pattern: (g) => g.list[0].bound, monotony: () => "the next larger size",
  split: () => "calls of a smaller size, together" };

function guidelineFigure(groups) {
  let shown = groups[0];
  const keys = el("div");
  const update = () => keys.replaceChildren(legend([{ label: shown.function, color: ORIGINAL }, { label: RIGHT_LABEL[shown.type](shown), color: BOUND }]));
  update();
  const options = groups.map((g, i) => [String(i), `${g.violated > 0 ? `${g.violated} violated: ` : ""}${g.label}`]);
  const element = figure({
    title: "Run-times of a guideline", name: "guideline", wide: true,
    note: "Shaded: violated, with the stars of the corrected p-value. A point is the median of one mpirun; lines join their medians.",
    controls: [select("Guideline", options, "0", (i) => { shown = groups[Number(i)]; update(); element.redraw(); }), keys],
    draw: (body, width) => drawGuideline(body, width, shown),
    table: () => ({ columns: ["size", "original (s)", "bound (s)", "ratio", "p", "q", "verdict"].map((label) => ({ label })),
      rows: shown.list.map((c) => [c.left.size, c.left.time_s, c.right.time_s, c.ratio, c.p, c.q, c.verdict]) }),
  });
  return element;
}

/** The paper's table 4, of one number of processes. */
function verdictTable(groups, processes) {
  const rows = groups.filter((g) => g.processes === processes);
  const sizes = [...new Set(rows.flatMap((g) => g.list.map((c) => c.left.size)))].sort((a, b) => a - b);
  const cell = (c) => c ? el("td", { class: `verdict ${c.verdict}`, title: describe(c) }, markOf(c)) : el("td", {});
  return el("section", { class: "card wide", "data-table": `verdicts-${processes}` },
    el("h3", {}, `Verdicts on ${processes} processes`),
    el("p", { class: "note" }, "Stars: violated (q ≤ .05, .01, .001). · holds; ~ open: more than the least effect is neither shown nor excluded; ? too few mpiruns to show anything."),
    el("div", { class: "scroll" }, el("table", { class: "verdicts" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Guideline"), sizes.map((s) => el("th", { scope: "col", class: "number" }, shortSize(s))))),
      el("tbody", {}, rows.map((g) => el("tr", {}, el("th", { scope: "row" }, g.list[0].guideline),
        sizes.map((s) => cell(g.list.find((c) => c.left.size === s)))))))));
}

function tiles(document, groups) {
  const tile = (name, type) => {
    const some = groups.filter((g) => g.type === type);
    return some.length === 0 ? null : el("div", { class: "tile" }, el("dt", {}, name),
      el("dd", {}, `${some.filter((g) => g.violated > 0).length} of ${some.length}`), el("p", {}, "violated at some size"));
  };
  const hits = document.null_hits;
  return el("dl", { class: "tiles" }, tile("Pattern guidelines", "pattern"), tile("Monotony", "monotony"), tile("Split-robustness", "split"),
    hits.of === 0 ? null : el("div", { class: "tile" }, el("dt", {}, "Originals against themselves"),
      el("dd", {}, formatShare(hits.hits, hits.of)), el("p", {}, `of ${plural(hits.of, "comparison")} have p ≤ ${document.judging.alpha}: this machine's noise`)),
    document.simulated_agreement.of === 0 ? null : el("div", { class: "tile" }, el("dt", {}, "Simulated as measured"),
      el("dd", {}, `${document.simulated_agreement.agreeing} of ${document.simulated_agreement.of}`), el("p", {}, "guidelines with the same answer")));
}

function violationTable(document) {
  const column = (label, value, format) => ({ label, value, format });
  return sortableTable({ title: "Violations", name: "violations", items: document.violations, sortBy: 4, filterLabel: "Filter violations", columns: [
    column("Guideline", (v) => v.guideline), column("Processes", (v) => v.processes), column("Size", (v) => v.left.size),
    column("Instead", (v) => v.type === "pattern" ? v.bound : `${v.right.calls > 1 ? `${v.right.calls} × ` : ""}size ${v.right.size}`),
    column("Slower", (v) => v.ratio == null ? Infinity : v.ratio, times), column("Time", (v) => v.left.time_s, formatTime),
    column("Bound's", (v) => v.right.time_s, formatTime), column("without copies", (v) => v.right.without_copies_s, (t) => t == null ? "" : formatTime(t)),
    column("p", (v) => v.p, probability), column("q", (v) => v.q, probability),
    column("Stars", (v) => v.stars), column("Measured again", confirmation), column("Simulated", (v) => v.simulated || "")] });
}

function gainTable({ application }) {
  if (!application) return null;
  const column = (label, value, format) => ({ label, value, format });
  return [el("p", { class: "note" }, `The application's calls would take ${formatTime(application.gain_s)} less, of ${formatTime(application.measured_s)} ` +
    `as measured; ${Math.round(application.uncovered_calls)} of its ${Math.round(application.calls)} collective calls have no measurement.`),
  sortableTable({ title: "What the application would gain", name: "gains", items: application.gains, sortBy: 4, columns: [
    column("Guideline", (g) => g.guideline), column("Processes", (g) => g.processes), column("Size", (g) => g.size),
    column("Calls", (g) => g.calls), column("Gain", (g) => g.gain_s, formatTime)] })];
}

export function guidelinesHeader({ guidelines }) {
  const j = guidelines.judging;
  const facts = guidelines.simulated_only ? ["simulated times, compared exactly"] :
    [`${plural(guidelines.family, "test")} judged together at ${j.alpha} (${j.method}, ${j.correction})`, `at least ${plural(guidelines.fewest_mpiruns, "mpirun")} each`];
  // Some libraries tell how they were configured, too: in the JSON.
  const library = guidelines.settings.mpi_library?.split(" MPICH Device")[0].slice(0, 100);
  return { title: "Performance guidelines", facts: [...facts, library].filter((f) => f) };
}

export const guidelinesSection = {
  id: "guidelines",
  title: "Guidelines",
  available: ({ guidelines }) => guidelines != null,
  render({ guidelines }) {
    const groups = groupsOf(guidelines);
    const processes = [...new Set(groups.map((g) => g.processes))].sort((a, b) => a - b);
    const short = guidelines.comparisons.filter((c) => c.verdict === "undecided").length;
    return [tiles(guidelines, groups),
      short > 0 ? el("p", { class: "warning card" }, `${plural(short, "comparison")} could not have shown a violation: ${plural(guidelines.fewest_mpiruns, "mpirun")}, ` +
        `and a lone one among ${guidelines.family} tests needs ${guidelines.mpiruns_needed}.`) : null,
      groups.length > 0 ? guidelineFigure(groups) : el("p", { class: "card" }, "Nothing could be compared."),
      processes.map((p) => verdictTable(groups, p)), violationTable(guidelines), gainTable(guidelines),
      guidelines.notes.map((note) => el("p", { class: "note" }, note))];
  },
};
