// Hand-written collective operations: the list, and of each a drawing of who sends to whom in which order.

import { newSvg } from "./charts.js";
import { el } from "./dom.js";
import { figure } from "./figure.js";
import { formatBytes, formatCount, formatExact, formatTime, plural } from "./format.js";
import { sortableTable } from "./table.js";

const MARGIN = { top: 14, right: 20, bottom: 14, left: 110 };
const MOST_DRAWN = 12;
const nameOf = (f) => `MPI_${f.kind[0].toUpperCase()}${f.kind.slice(1)}${f.op ? ` (${f.op})` : ""}`;

const messagesOf = (finding) => finding.pattern.map(([source, destination, bytes, step]) => ({ source, destination, bytes, step }));

function drawPattern(body, width, finding, messages) {
  const ranks = finding.ranks.filter((r) => messages.some((m) => m.source === r || m.destination === r));
  const height = MARGIN.top + MARGIN.bottom + Math.max(60, Math.min(22 * ranks.length, 520));
  const svg = newSvg(body, width, height, `${nameOf(finding)}: who sends to whom`);
  const steps = d3.max(messages, (m) => m.step) + 1;
  const x = d3.scaleLinear().domain([0, steps]).range([MARGIN.left, width - MARGIN.right]);
  const y = d3.scalePoint().domain(ranks).range([MARGIN.top, height - MARGIN.bottom]);
  const roots = new Set(finding.roots.length === 1 ? finding.roots : [messages[0].source]);
  const every = Math.ceil(ranks.length / 32);
  for (const [i, r] of ranks.entries()) {
    svg.append("line").attr("x1", x(0)).attr("x2", x(steps)).attr("y1", y(r)).attr("y2", y(r)).style("stroke", "var(--line)");
    if (i % every === 0) {
      svg.append("text").attr("class", "axis-label").attr("x", MARGIN.left - 8).attr("y", y(r) + 4).attr("text-anchor", "end")
        .text(`rank ${r}${finding.roots.length > 0 && roots.has(r) ? " (root)" : ""}`);
    }
  }
  const arrow = `arrow-${Math.random().toString(36).slice(2)}`;
  svg.append("defs").append("marker").attr("id", arrow).attr("viewBox", "0 0 8 8").attr("refX", 7).attr("refY", 4)
    .attr("markerWidth", 7).attr("markerHeight", 7).attr("orient", "auto").append("path").attr("d", "M0,0L8,4L0,8z").style("fill", "var(--messages)");
  for (const m of messages) {
    svg.append("line").attr("class", "message").attr("x1", x(m.step)).attr("y1", y(m.source)).attr("x2", x(m.step + 1)).attr("y2", y(m.destination))
      .attr("stroke-width", 1.5).style("stroke", "var(--messages)").attr("marker-end", `url(#${arrow})`)
      .append("title").text(`step ${m.step + 1}: rank ${m.source} to rank ${m.destination}, ${formatBytes(m.bytes)}`);
  }
}

function patternFigure(finding, i) {
  const messages = messagesOf(finding);
  const all = finding.messages / Math.max(1, finding.count);
  const cut = finding.pattern.length < all ? ` The first ${plural(messages.length, "message")} of it are drawn.` : "";
  return figure({
    title: `${nameOf(finding)}, ${finding.certainty}: ${finding.lines.join(", ")}`, name: `pattern-${i + 1}`, wide: true,
    note: `The first of ${formatCount(finding.count)}, from left to right: each message as soon as its sender can send it.${cut} Instead: ${finding.replacement}`,
    draw: (body, width) => drawPattern(body, width, finding, messages),
    table: () => ({ columns: [{ label: "step" }, { label: "from" }, { label: "to" }, { label: "bytes", format: formatExact }],
      rows: messages.map((m) => [m.step + 1, m.source, m.destination, m.bytes]) }),
  });
}

function reasons(finding) {
  const item = (text) => el("li", {}, text);
  return el("div", {}, el("p", { class: "mono" }, finding.replacement),
    el("p", {}, finding.lines.join(", ")),
    (finding.groups ?? []).length > 1 ? el("p", {}, `On ranks ${finding.groups.map((g) => g.join(", ")).join("; ")}`) : null,
    (finding.callers ?? []).length > 0 ? el("p", {}, `From ${finding.callers.join(", ")}`) : null, el("ul", {}, finding.evidence.map(item)),
    finding.alternatives.length > 0 ? el("p", {}, `Or: ${finding.alternatives.join("; ")}`) : null);
}

function list(items) {
  const priced = items.some((f) => f.saving_s != null);
  return sortableTable({
    title: "Hand-written collective operations", name: "collectives", items, sortBy: priced ? 8 : 6, detail: reasons,
    filterLabel: "Filter by operation or line",
    columns: [
      { label: "operation", value: nameOf },
      { label: "certainty", value: (f) => f.certainty },
      { label: "ranks", value: (f) => f.ranks.length },
      { label: "groups", value: (f) => (f.groups ?? [f.ranks]).length },
      { label: "roots", value: (f) => f.roots.length > 4 ? `${f.roots.length} different` : f.roots.join(", ") },
      { label: "times", value: (f) => f.count },
      { label: "messages", value: (f) => f.messages },
      { label: "bytes", value: (f) => f.bytes, format: formatBytes, title: (v) => `${formatExact(v)} bytes` },
      ...(priced ? [{ label: "saves", value: (f) => f.saving_s ?? 0, format: formatTime }] : []),
      { label: "lines", value: (f) => f.lines.join(", ") }],
  });
}

export const collectivesSection = {
  id: "collectives",
  title: "Collectives",
  available: ({ collectives }) => collectives != null,
  render({ collectives: { findings } }) {
    if (findings.length === 0) return [el("p", { class: "card" }, "No hand-written collective operations were found.")];
    return [list(findings), ...findings.filter((f) => f.pattern && f.pattern.length > 0).slice(0, MOST_DRAWN).map(patternFigure)];
  },
};
