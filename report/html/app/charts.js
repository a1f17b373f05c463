// The drawings that several views share: columns (stacked or side by side), stems, horizontal bars, legends.

import { el } from "./dom.js";
import { formatBytes } from "./format.js";

const MARGIN = { top: 10, right: 26, bottom: 40, left: 80 };
const HINT = "Point at the chart, or use the arrow keys, to read single values.";

/** Coloured squares with names: keys [{ label, color }], color being a custom property's name. */
export function legend(keys) {
  return el("ul", { class: "legend" }, keys.map(({ label, color }) =>
    el("li", {}, el("span", { class: "swatch", style: `background:var(${color})` }), label)));
}

export function drawAxes(svg, x, y, size, { xLabel, yLabel }) {
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${size.height - MARGIN.bottom})`).call(x);
  svg.append("g").attr("class", "axis grid").attr("transform", `translate(${MARGIN.left},0)`).call(y);
  svg.append("text").attr("class", "axis-label").attr("text-anchor", "middle")
    .attr("x", (MARGIN.left + size.width - MARGIN.right) / 2).attr("y", size.height - 4).text(xLabel || "");
  svg.append("text").attr("class", "axis-label").attr("text-anchor", "middle")
    .attr("transform", `translate(12,${(size.height - MARGIN.bottom + MARGIN.top) / 2}) rotate(-90)`).text(yLabel || "");
}

export function newSvg(body, width, height, label) {
  d3.select(body).selectAll("*").remove();
  return d3.select(body).append("svg").attr("width", width).attr("height", height)
    .attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("tabindex", 0)
    .attr("aria-label", `${label}. Arrow keys read the values one by one.`);
}

/** From 0 (linear), or from below the least value above 0 (log). */
export function valueScale(log, greatest, least, range) {
  if (!log) return d3.scaleLinear().domain([0, greatest > 0 ? greatest * 1.04 : 1]).range(range);
  const floor = Math.pow(10, Math.floor(Math.log10(least > 0 ? least : 1) - 1e-9));
  return d3.scaleLog().domain([Math.min(floor, (greatest || 1) / 10), greatest || 1]).nice().range(range).clamp(true);
}

/** Round numbers of KiB, MiB ...: powers of two apart. */
function binaryTicks(most) {
  const step = Math.pow(2, Math.max(0, Math.round(Math.log2(most / 5))));
  return d3.range(0, most + step / 2, step).filter((v) => v <= most);
}

/** Values on a log axis only at the powers of ten; else five of them. */
export function valueTicks(scale, log, format) {
  const axis = d3.axisLeft(scale).tickFormat(format);
  if (!log) return format === formatBytes ? axis.tickValues(binaryTicks(scale.domain()[1])) : axis.ticks(5);
  const powers = scale.ticks().filter((t) => Math.abs(Math.log10(t) % 1) < 1e-9);
  const step = Math.ceil(powers.length / 6);
  return axis.tickValues(powers.filter((_, i) => i % step === 0));
}

/** Lets pointer and arrow keys walk over `count` places; says describe(i) in a line below, and marks the place. */
function explorable(body, svg, size, count, placeOf, describe) {
  const readout = el("p", { class: "readout", "aria-live": "polite" }, el("span", { class: "muted" }, HINT));
  const band = svg.insert("rect", ":first-child").attr("class", "cursor-band").attr("visibility", "hidden")
    .attr("y", MARGIN.top).attr("height", size.height - MARGIN.top - MARGIN.bottom);
  let current = -1;
  const show = (i) => {
    current = Math.max(0, Math.min(count - 1, i));
    const [left, right] = placeOf(current);
    band.attr("visibility", "visible").attr("x", left).attr("width", Math.max(1, right - left));
    readout.textContent = describe(current);
  };
  svg.on("pointermove", () => {
    const [x] = d3.mouse(svg.node());
    for (let i = 0; i < count; ++i) {
      const [left, right] = placeOf(i);
      if (x >= left && x < right) return void (i !== current && show(i));
    }
  });
  svg.on("keydown", () => {
    const steps = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -count, End: count };
    const step = steps[d3.event.key];
    if (step == null || count === 0) return;
    d3.event.preventDefault();
    show(current < 0 && step < count ? 0 : current + step);
  });
  body.append(readout);
}

function thinnedTicks(labels, band, width) {
  const longest = d3.max(labels, (l) => l.length) || 1;
  const fits = Math.max(1, Math.floor(width / (longest * 7 + 14)));
  const step = Math.ceil(labels.length / fits);
  return d3.axisBottom(band).tickValues(d3.range(0, labels.length, step)).tickFormat((i) => labels[i]).tickSizeOuter(0);
}

/**
 * Columns for items [{ label, name?, values: [one per key] }]. Options: keys [{ label, color }], grouped (side by
 * side, not stacked), log, height, format, xLabel, yLabel, most (top of the axis), time (seconds that all items
 * together cover: a time axis instead of labels), timeFormat.
 */
export function columns(body, width, items, options) {
  const { keys, grouped, log, format } = options;
  const size = { width, height: options.height || 230 };
  const svg = newSvg(body, width, size.height, options.label);
  const band = d3.scaleBand().domain(d3.range(items.length)).range([MARGIN.left, width - MARGIN.right])
    .paddingInner(items.length > 64 ? 0 : 0.15).paddingOuter(items.length > 64 ? 0 : 0.1);
  const single = grouped || keys.length === 1;
  const greatest = options.most || d3.max(items, (item) => single ? d3.max(item.values) : d3.sum(item.values)) || 0;
  const least = d3.min(items, (item) => d3.min(item.values.filter((v) => v > 0)));
  const y = valueScale(log, greatest, least, [size.height - MARGIN.bottom, MARGIN.top]);
  drawAxes(svg, bottomAxis(items, band, options), valueTicks(y, log, format).tickSizeInner(-(width - MARGIN.left - MARGIN.right)),
    size, options);
  drawColumns(svg, items, band, y, options);
  const words = (i) => `${items[i].name || items[i].label}: ` +
    keys.map((key, k) => `${keys.length > 1 ? key.label + " " : ""}${format(items[i].values[k])}`).join(", ");
  explorable(body, svg, size, items.length, (i) => [band(i), band(i) + band.step()], words);
}

function bottomAxis(items, band, { time, timeFormat }) {
  if (time == null) return thinnedTicks(items.map((item) => item.label), band, band.range()[1] - band.range()[0]);
  const scale = d3.scaleLinear().domain([0, time]).range(band.range());
  return d3.axisBottom(scale).ticks(6).tickFormat(timeFormat).tickSizeOuter(0);
}

function drawColumns(svg, items, band, y, { keys, grouped, log }) {
  const bottom = log ? y.domain()[0] : 0;
  const inner = d3.scaleBand().domain(d3.range(keys.length)).range([0, band.bandwidth()]).paddingInner(0.05);
  const rectangles = [];
  items.forEach((item, i) => {
    let below = bottom;
    item.values.forEach((value, k) => {
      if (!(value > 0)) return;
      const from = grouped ? bottom : below;
      const to = log ? value : from + value;
      rectangles.push({ x: band(i) + (grouped ? inner(k) : 0), width: grouped ? inner.bandwidth() : band.bandwidth(),
        top: y(to), height: Math.max(log ? 1 : 0, y(from) - y(to)), color: keys[k].color });
      below = to;
    });
  });
  svg.append("g").selectAll("rect").data(rectangles).enter().append("rect")
    .attr("x", (r) => r.x).attr("width", (r) => Math.max(0.5, r.width))
    .attr("y", (r) => r.top).attr("height", (r) => r.height).style("fill", (r) => `var(${r.color})`);
}

/** Stems at exact places of a log axis: points [[size, count]]; options as for columns, and sizeFormat. */
export function stems(body, width, points, options) {
  const size = { width, height: options.height || 230 };
  const svg = newSvg(body, width, size.height, options.label);
  const place = ([s]) => Math.max(s, 0.5);  // a log axis has no 0
  const x = d3.scaleLog().domain([d3.min(points, place) / 2, d3.max(points, place) * 2])
    .range([MARGIN.left, width - MARGIN.right]);
  const greatest = d3.max(points, (p) => p[1]);
  const y = valueScale(options.log, greatest, d3.min(points, (p) => p[1]), [size.height - MARGIN.bottom, MARGIN.top]);
  drawAxes(svg, stemAxis(x, width, options.sizeFormat),
    valueTicks(y, options.log, options.format).tickSizeInner(-(width - MARGIN.left - MARGIN.right)), size, options);
  const marks = svg.append("g").selectAll("g").data(points).enter().append("g")
    .attr("transform", (p) => `translate(${x(place(p))},0)`);
  marks.append("line").attr("y1", size.height - MARGIN.bottom).attr("y2", (p) => y(p[1])).attr("class", "stem");
  marks.append("circle").attr("cy", (p) => y(p[1])).attr("r", points.length > 100 ? 2 : 4).attr("class", "stem-head");
  const half = (i) => x(place(points[i]));
  const reach = (i) => [i === 0 ? MARGIN.left : (half(i - 1) + half(i)) / 2,
    i + 1 === points.length ? width - MARGIN.right : (half(i) + half(i + 1)) / 2];
  explorable(body, svg, size, points.length, reach, (i) => options.describe(points[i]));
}

/** Powers of two that fit. */
function stemAxis(x, width, format) {
  const [least, most] = x.domain();
  const powers = d3.range(Math.ceil(Math.log2(least)), Math.floor(Math.log2(most)) + 1);
  const step = Math.max(1, Math.ceil(powers.length / (width / 70)));
  const values = powers.filter((p) => ((p % step) + step) % step === 0).map((p) => Math.pow(2, p)).filter((v) => v >= 1);
  return d3.axisBottom(x).tickValues(values).tickFormat(format).tickSizeOuter(0);
}

/** Rows of text with a bar: rows [{ label, title?, parts: [{ value, color }], text }]. */
export function barList(rows) {
  const most = d3.max(rows, (row) => d3.sum(row.parts, (p) => p.value)) || 1;
  const part = ({ value, color }) => el("span", { style: `width:${100 * value / most}%;background:var(${color})` });
  return el("ol", { class: "bar-list" }, rows.map((row) => el("li", {},
    el("span", { class: "bar-label", title: row.title || row.label }, row.label),
    el("span", { class: "bar", "aria-hidden": "true" }, row.parts.map(part)),
    el("span", { class: "bar-text" }, row.text))));
}
