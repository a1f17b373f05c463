// A sweep over two keys as a map: a column for each value of one, a row for each of the other, the result as colour
// and, where it fits, as a number. Knows of values and labels only.

import { newSvg } from "./charts.js";
import { el } from "./dom.js";
import { densityColor } from "./heatmap.js";

const MARGIN = { top: 10, right: 26, bottom: 44, left: 96 };
const CELL = { least: 22, most: 44, withText: 54 };

const sorted = (points, k) => [...new Set(points.map((p) => p.values[k]))].sort((a, b) => a - b);

/** Columns are the key with more values; rows go up with their values. Cells without a point have no value. */
export function gridOf(points, keys, [one, other], value) {
  const [x, y] = sorted(points, one).length >= sorted(points, other).length ? [one, other] : [other, one];
  const columns = sorted(points, x);
  const rows = sorted(points, y).reverse();
  const at = new Map(points.map((p) => [`${p.values[x]} ${p.values[y]}`, value(p)]));
  const cells = rows.flatMap((r, row) => columns.map((c, column) => ({ row, column, value: at.get(`${c} ${r}`) })));
  return { columns, rows, cells: cells.filter((c) => c.value != null), xKey: keys[x], yKey: keys[y] };
}

/** 0..1 between the least and the greatest value; by their logarithm where they are far apart. */
export function colorScale(values) {
  const [least, most] = d3.extent(values);
  if (least === most) return () => densityColor(0.5);
  const far = least > 0 && most / least > 20;
  const scale = (far ? d3.scaleLog() : d3.scaleLinear()).domain([least, most]).range([0.02, 0.98]);
  return (value) => densityColor(scale(value));
}

/** Arrow keys go from cell to cell; a line below says what stands there. */
function readable(body, svg, grid, frame, describe) {
  const readout = el("p", { class: "readout", "aria-live": "polite" },
    el("span", { class: "muted" }, "Point at the map, or use the arrow keys, to read single values."));
  let at = null;
  const show = (row, column) => {
    const cell = grid.cells.find((c) => c.row === row && c.column === column);
    if (!cell) return;
    at = cell;
    frame(cell);
    readout.textContent = describe(cell);
  };
  svg.selectAll("rect.cell").on("pointerenter", (cell) => show(cell.row, cell.column));
  svg.on("keydown", () => {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[d3.event.key];
    if (!step) return;
    d3.event.preventDefault();
    if (at) show(at.row + step[0], at.column + step[1]);
    else show(0, 0);
  });
  body.append(readout);
}

function labels(svg, grid, cell, size) {
  const every = Math.ceil(60 / cell.width);
  const text = (parent, anchor) => parent.append("text").attr("class", "axis-label").attr("text-anchor", anchor);
  grid.columns.forEach((v, i) => i % every === 0 && text(svg, "middle").text(grid.columnText(v))
    .attr("x", MARGIN.left + (i + 0.5) * cell.width).attr("y", size.height - MARGIN.bottom + 16));
  grid.rows.forEach((v, i) => text(svg, "end").text(grid.rowText(v))
    .attr("x", MARGIN.left - 6).attr("y", MARGIN.top + (i + 0.5) * cell.height + 4));
  text(svg, "middle").text(grid.xKey).attr("x", MARGIN.left + grid.columns.length * cell.width / 2).attr("y", size.height - 6);
  text(svg, "middle").text(grid.yKey)
    .attr("transform", `translate(12,${MARGIN.top + grid.rows.length * cell.height / 2}) rotate(-90)`);
}

/** Draws the grid; `format` is for its values, `formatOf(key)` for those of its axes. */
export function drawMap(body, width, values, { title, format, formatOf }) {
  const grid = { ...values, columnText: formatOf(values.xKey), rowText: formatOf(values.yKey) };
  const cell = { width: Math.min(110, (width - MARGIN.left - MARGIN.right) / grid.columns.length),
    height: Math.max(CELL.least, Math.min(CELL.most, 320 / grid.rows.length)) };
  const size = { width, height: MARGIN.top + grid.rows.length * cell.height + MARGIN.bottom };
  const svg = newSvg(body, width, size.height, title);
  const color = colorScale(grid.cells.map((c) => c.value));
  const describe = (c) => `${grid.xKey} ${grid.columnText(grid.columns[c.column])}, ${grid.yKey} ${grid.rowText(grid.rows[c.row])}: ` +
    format(c.value);
  const left = (c) => MARGIN.left + c.column * cell.width;
  const top = (c) => MARGIN.top + c.row * cell.height;
  svg.selectAll("rect").data(grid.cells).enter().append("rect").attr("class", "cell").attr("x", left).attr("y", top)
    .attr("width", Math.max(1, cell.width - 1)).attr("height", cell.height - 1).style("fill", (c) => color(c.value))
    .append("title").text(describe);
  if (cell.width >= CELL.withText)
    svg.selectAll("text").data(grid.cells).enter().append("text").attr("text-anchor", "middle").attr("pointer-events", "none")
      .attr("class", "cell-value").attr("x", (c) => left(c) + cell.width / 2).attr("y", (c) => top(c) + cell.height / 2 + 4)
      .style("font-size", "11px").style("fill", (c) => d3.hcl(color(c.value)).l > 60 ? "#10151a" : "#ffffff").text((c) => format(c.value));
  labels(svg, grid, cell, size);
  const mark = svg.append("rect").attr("fill", "none").attr("pointer-events", "none").attr("visibility", "hidden")
    .attr("width", cell.width - 1).attr("height", cell.height - 1).attr("stroke-width", 2).style("stroke", "var(--accent)");
  readable(body, svg, grid, (c) => mark.attr("x", left(c)).attr("y", top(c)).attr("visibility", "visible"), describe);
}
