// Replays with other networks: how long the program takes, and how much of that is communication. Over one key a
// line, over two a map, over more a line for each combination of the others.

import { legend, newSvg, drawAxes, valueTicks } from "./charts.js";
import { el } from "./dom.js";
import { figure } from "./figure.js";
import { formatShare, formatTime } from "./format.js";
import { drawMap, gridOf } from "./sweep_map.js";

const SERIES_COLORS = ["--compute", "--messages", "--waiting", "--bytes", "--mpi", "--collective"];
const MARGIN = { top: 10, right: 26, bottom: 40, left: 80 };
const short = (value) => String(Number(value.toPrecision(4)));
const TIMES = ["latency", "handshake", "L", "o", "g"];
const AMOUNTS = ["bandwidth", "eager", "S"];

/** A value of a key, as one says it. */
function formatOf(key) {
  if (TIMES.includes(key)) return formatTime;
  return AMOUNTS.includes(key) ? (value) => `${d3.format(".4~s")(value).replace(/([a-zA-Zµ]?)$/, " $1")}B${key === "bandwidth" ? "/s" : ""}` : short;
}

/** The key with the most values is the axis; each combination of the others is a line. */
function linesOf(sweep, value) {
  const distinct = sweep.keys.map((_, k) => new Set(sweep.points.map((p) => p.values[k])).size);
  const axis = distinct.indexOf(Math.max(...distinct));
  const lines = new Map();
  for (const point of sweep.points) {
    const name = sweep.keys.map((key, k) => (k === axis ? null : `${key} ${formatOf(key)(point.values[k])}`)).filter((n) => n).join(", ");
    if (!lines.has(name)) lines.set(name, []);
    lines.get(name).push([point.values[axis], value(point)]);
  }
  return { key: sweep.keys[axis], lines: [...lines].map(([name, points], i) => ({
    name, points: points.sort((a, b) => a[0] - b[0]), color: SERIES_COLORS[i % SERIES_COLORS.length] })) };
}

function axisScale(places, range) {
  const [least, most] = d3.extent(places);
  const log = least > 0 && most / least > 20;
  return (log ? d3.scaleLog() : d3.scaleLinear()).domain(least === most ? [least - 1, least + 1] : [least, most]).range(range);
}

function draw(body, width, { key, lines }, { title, format, yLabel }) {
  const size = { width, height: 260 };
  const svg = newSvg(body, width, size.height, title);
  const all = lines.flatMap((line) => line.points);
  const x = axisScale(all.map((p) => p[0]), [MARGIN.left, width - MARGIN.right]);
  const most = d3.max(all, (p) => p[1]);
  const y = d3.scaleLinear().domain([0, most > 0 ? most * 1.04 : 1]).range([size.height - MARGIN.bottom, MARGIN.top]);
  drawAxes(svg, d3.axisBottom(x).ticks(6, "~g").tickSizeOuter(0),
    valueTicks(y, false, format).tickSizeInner(-(width - MARGIN.left - MARGIN.right)), size, { xLabel: key, yLabel });
  for (const line of lines) {
    const group = svg.append("g");
    group.append("path").datum(line.points).attr("fill", "none").attr("stroke-width", 2).style("stroke", `var(${line.color})`)
      .attr("d", d3.line().x((p) => x(p[0])).y((p) => y(p[1])));
    group.selectAll("circle").data(line.points).enter().append("circle").attr("r", 3.5).style("fill", `var(${line.color})`)
      .attr("cx", (p) => x(p[0])).attr("cy", (p) => y(p[1]))
      .append("title").text((p) => `${line.name ? `${line.name}, ` : ""}${key} ${formatOf(key)(p[0])}: ${format(p[1])}`);
  }
}

/** Positions of the keys that have more than one value. */
const varied = (sweep) => sweep.keys.map((_, k) => k).filter((k) => new Set(sweep.points.map((p) => p.values[k])).size > 1);

function drawingOf(sweep, options) {
  const axes = varied(sweep);
  if (axes.length === 2) {
    const grid = gridOf(sweep.points, sweep.keys, axes, options.value);
    return { draw: (body, width) => drawMap(body, width, grid, { ...options, formatOf }) };
  }
  const drawn = linesOf(sweep, options.value);
  const keys = drawn.lines.map((line) => ({ label: line.name, color: line.color }));
  return { controls: keys.length > 1 ? legend(keys) : null, draw: (body, width) => draw(body, width, drawn, options) };
}

function sweepFigure(sweep, options) {
  return figure({
    title: options.title, name: options.name, wide: true, note: options.note, ...drawingOf(sweep, options),
    table: () => ({ columns: [...sweep.keys.map((label) => ({ label })), { label: options.yLabel, format: options.format }],
      rows: sweep.points.map((p) => [...p.values, options.value(p)]) }),
  });
}

export const sweepSection = {
  id: "sweep",
  title: "Other networks",
  available: ({ sweep }) => sweep != null,
  render({ sweep }) {
    const stuck = sweep.points.filter((p) => !p.finished).length;
    return [
      stuck > 0 ? el("p", { class: "warning card" }, `In ${stuck} of ${sweep.points.length} replays some ranks did not reach their end.`) : null,
      sweepFigure(sweep, { title: "How long the program takes", name: "sweep-time", value: (p) => p.virtual_time_s, format: formatTime,
        yLabel: "virtual time", note: `Replays of the recording on ${sweep.network} with other values.` }),
      sweepFigure(sweep, { title: "Share of communication", name: "sweep-communication", value: (p) => p.communication_share,
        format: (share) => formatShare(share), yLabel: "communicating" })];
  },
};
