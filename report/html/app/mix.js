// Riesen's third to fifth category: point-to-point against collectives, which collectives, and the sizes of
// messages ("Communication Patterns", 2006, figures 12 to 14).

import { barList, columns, legend, stems } from "./charts.js";
import { layerLabel, meanOf, rankGroups } from "./data.js";
import { checkbox, choice, el, select } from "./dom.js";
import { figure } from "./figure.js";
import { formatBytes, formatCount, formatExact, formatShare, formatTime, plural, rankRange } from "./format.js";

const MOST_BARS = 128;
const RATIO_KEYS = [{ label: "point-to-point messages", color: "--messages" }, { label: "collective calls", color: "--collective" }];

function ratioFigure(patterns) {
  const { rank, ranks, totals } = patterns;
  const groups = rankGroups(ranks, MOST_BARS);
  const size = groups[0].to - groups[0].from;
  const items = groups.map((g) => ({ label: String(g.from), name: rankRange(g.from, g.to),
    values: [meanOf(rank.messages_sent, g), meanOf(rank.collective_calls, g)] }));
  const state = { log: false };
  const sum = totals.messages_sent + totals.collective_calls;
  const shape = figure({
    title: "Point-to-point and collectives", name: "point-to-point-and-collectives", wide: true,
    note: `Per rank ${formatCount(totals.messages_sent / ranks)} messages and ${formatCount(totals.collective_calls / ranks)} ` +
      `collective calls: ${formatShare(totals.messages_sent, sum)} point-to-point.` +
      (size > 1 ? ` Each pair of bars is the mean of ${size} ranks.` : ""),
    controls: [legend(RATIO_KEYS), checkbox("Log scale", false, (on) => { state.log = on; shape.redraw(); })],
    draw: (body, width) => columns(body, width, items, { label: "Messages and collective calls per rank", keys: RATIO_KEYS,
      grouped: true, log: state.log, format: formatCount, xLabel: size > 1 ? "first rank of the group" : "rank", yLabel: "calls" }),
    table: () => ({ columns: [{ label: "rank" }, ...RATIO_KEYS], rows: Array.from(rank.messages_sent, (m, r) => [r, m, rank.collective_calls[r]]) }),
  });
  return shape;
}

function collectiveRows(list) {
  return [...list].sort((a, b) => b.operations - a.operations || b.calls - a.calls);
}

function collectiveLabel(c) {
  const where = c.comm_size ? ` on ${plural(c.comm_size, "rank")}` : "";
  return `${c.name}${where}${c.root == null ? "" : `, root ${c.root}`}`;
}

function collectivesFigure({ collectives, communicator_calls: creating }) {
  const rows = collectiveRows(collectives);
  const all = [...rows, ...collectiveRows(creating)];
  return figure({
    title: "Which collectives", name: "collectives", wide: true,
    note: "Operations: a collective of p ranks is one, though p ranks call it.",
    draw: (body) => body.replaceChildren(rows.length === 0 ? el("p", { class: "empty" }, "The program calls no collectives.") :
      barList(rows.map((c) => ({ label: collectiveLabel(c), parts: [{ value: c.operations || c.calls, color: "--collective" }],
        text: `${plural(c.operations, "operation")} · ${formatBytes(c.bytes)} · ${formatTime(c.time_s)}` })))),
    table: () => ({
      columns: [{ label: "function" }, { label: "ranks" }, { label: "root" }, { label: "operations" }, { label: "calls" },
        { label: "bytes", format: formatBytes }, { label: "time (s)", format: formatTime }, { label: "waiting (s)", format: formatTime }],
      rows: all.map((c) => [c.name, c.comm_size, c.root, c.operations, c.calls, c.bytes, c.time_s, c.waiting_s]) }),
  });
}

const unitFormats = {
  bytes: { label: "bytes", format: formatBytes },
  elements: { label: "elements", format: formatCount },
};

/** The sizes of several layers as one size object. */
export function addSizes(objects) {
  const exact = new Map();
  const buckets = objects[0].buckets.map((b, i) => ({ upper: b.upper, count: objects.reduce((sum, o) => sum + o.buckets[i].count, 0) }));
  for (const object of objects) for (const [size, count] of object.exact) exact.set(size, (exact.get(size) || 0) + count);
  return { buckets, exact: [...exact].sort((a, b) => a[0] - b[0]), others: objects.reduce((sum, o) => sum + o.others, 0) };
}

function bucketLabel(upper, i, buckets, format) {
  return upper == null ? `> ${format(buckets[i - 1].upper)}` : `≤ ${format(upper)}`;
}

function sizesFigures({ layers, wire = null }) {
  const filled = layers.filter((layer) => layer.messages > 0);
  if (filled.length === 0) return [el("section", { class: "card wide" }, el("h3", {}, "Message sizes"), el("p", { class: "empty" }, "There are no messages."))];
  const state = { layer: filled[0].name, unit: "bytes", log: false };
  const chosen = () => {
    const of = state.layer === "all" ? filled : [...filled, ...(wire ? [wire] : [])].filter((layer) => layer.name === state.layer);
    const objects = of.map((layer) => state.unit === "bytes" ? layer.sizes : layer.elements).filter((o) => o);
    return objects.length > 0 ? addSizes(objects) : null;
  };
  const none = () => el("p", { class: "empty" }, "These messages have no count of elements.");
  const redraw = () => { buckets.redraw(); exact.redraw(); };
  const set = (key) => (value) => { state[key] = value; redraw(); };
  const hasElements = filled.some((layer) => layer.elements);
  const controls = [
    select("Layer ", [...filled.map((l) => [l.name, layerLabel(l.name)]), ["all", "All together"],
      ...(wire ? [["wire", "Over the wire"]] : [])], state.layer, set("layer")),
    hasElements ? choice("Unit", "size-unit", [["bytes", "Bytes"], ["elements", "Elements"]], state.unit, set("unit")) : null,
    checkbox("Log scale", false, set("log"))];
  const unit = () => unitFormats[state.unit];
  const buckets = figure({
    title: "Message sizes", name: "message-sizes", controls,
    note: "Riesen's thirteen buckets: at most 16 · 4ᵏ for k = 0 to 11, and the rest.",
    draw: (body, width) => {
      const sizes = chosen();
      if (!sizes) return body.replaceChildren(none());
      const items = sizes.buckets.map((b, i) => ({ label: b.upper == null ? "more" : unit().format(b.upper).replace(" ", "\u00a0"),
        name: bucketLabel(b.upper, i, sizes.buckets, unit().format), values: [b.count] }));
      columns(body, width, items, { label: "Messages by size", keys: [{ label: "messages", color: "--messages" }], log: state.log,
        format: formatCount, xLabel: `at most so many ${unit().label}`, yLabel: "messages" });
    },
    table: () => ({ columns: [{ label: `at most (${unit().label})` }, { label: "messages" }],
      rows: (chosen() || { buckets: [] }).buckets.map((b) => [b.upper == null ? "more" : b.upper, b.count]) }),
  });
  const exact = figure({
    title: "True sizes", name: "true-sizes",
    note: "Each stem is one size that occurs; the layer and unit chosen for the buckets hold here too.",
    draw: (body, width) => {
      const sizes = chosen();
      if (!sizes || sizes.exact.length === 0) return body.replaceChildren(none());
      stems(body, width, sizes.exact, { label: "Messages by true size", log: state.log, format: formatCount, xLabel: unit().label,
        yLabel: "messages", sizeFormat: unit().format,
        describe: ([size, count]) => `${formatExact(size)} ${unit().label}: ${plural(count, "message")}` });
      if (sizes.others > 0) body.append(el("p", { class: "note" }, `${plural(sizes.others, "message")} of further sizes are not shown.`));
    },
    table: () => ({ columns: [{ label: unit().label }, { label: "messages" }], rows: (chosen() || { exact: [] }).exact }),
  });
  return [el("div", { class: "columns" }, buckets, exact)];
}

export const mix = {
  id: "mix",
  title: "Mix and sizes",
  render: ({ patterns }) => [ratioFigure(patterns), collectivesFigure(patterns), ...sizesFigures(patterns)],
};
