// One density map on a canvas: cells, labels, sums at the margins, legend, cursor. Knows nothing of layers.

import { el, sizeCanvas, themeColor } from "./dom.js";
import { niceStep } from "./format.js";

const MARGIN = { left: 58, top: 44, sums: 52, gap: 6 };
const SMALLEST_CELL_WITH_TEXT = 44;

const isDark = () => document.documentElement.dataset.theme === "dark";

/** 0..1 to a colour: the more, the darker on white, the lighter on black; readable for the colour-blind. */
export const densityColor = (t) => d3.interpolateViridis(isDark() ? 0.08 + 0.92 * t : 1 - 0.96 * t);

/** A value to 0..1. */
export function densityScale(values, log) {
  let least = Infinity;
  let most = 0;
  for (const v of values) {
    if (v > most) most = v;
    if (v > 0 && v < least) least = v;
  }
  if (!log || least >= most) return { least: log ? least : 0, most, of: (v) => most > 0 ? (log ? 1 : v / most) : 0 };
  const low = Math.log(least);
  const range = Math.log(most) - low;
  return { least, most, of: (v) => 0.04 + 0.96 * (Math.log(v) - low) / range };
}

/** The cells as a picture of one pixel each; empty cells are transparent. */
function cellPicture(values, cells, scale) {
  const picture = el("canvas", { width: cells, height: cells });
  const context = picture.getContext("2d");
  const image = context.createImageData(cells, cells);
  const cache = new Map();
  values.forEach((value, i) => {
    if (!(value > 0)) return;
    const t = Math.round(255 * scale.of(value));
    if (!cache.has(t)) cache.set(t, d3.rgb(densityColor(t / 255)));
    const { r, g, b } = cache.get(t);
    image.data.set([r, g, b, 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
  return picture;
}

function axisRanks({ cells, factor }, first, cell) {
  const step = Math.ceil(26 / cell);
  const nice = niceStep(step);
  const labels = [];
  for (let i = 0; i < cells; i += nice) labels.push([i, String(first + i * factor)]);
  return labels;
}

export class Heatmap {
  /** `what`: "messages" or "bytes"; `format`: for its numbers; `onCursor(row, column)`, `onZoom(row, column)`. */
  constructor({ what, title, format, onCursor, onKey, onZoom }) {
    Object.assign(this, { what, title, format });
    this.canvas = el("canvas", { tabindex: 0, role: "application", "aria-roledescription": "heatmap", "data-map": what,
      "aria-label": `${title} by sender (rows) and receiver (columns). Arrow keys move, Enter zooms in, Backspace out.` });
    this.canvas.addEventListener("pointermove", (event) => this.locate(event, onCursor));
    this.canvas.addEventListener("click", (event) => this.locate(event, onCursor));
    this.canvas.addEventListener("dblclick", (event) => this.locate(event, onZoom));
    this.canvas.addEventListener("keydown", onKey);
    this.legend = el("div", { class: "legend-strip" });
    this.element = el("div", { class: "heatmap" }, el("h4", {}, title), this.canvas, this.legend);
  }

  locate(event, tell) {
    const row = Math.floor((event.offsetY - MARGIN.top) / this.cell);
    const column = Math.floor((event.offsetX - MARGIN.left) / this.cell);
    if (row >= 0 && column >= 0 && row < this.grid.cells && column < this.grid.cells) tell(row, column);
  }

  /** Takes new values; draw() follows. */
  show(grid, width, log) {
    this.grid = grid;
    this.side = Math.max(160, Math.min(640, width - MARGIN.left - MARGIN.gap - MARGIN.sums));
    this.cell = this.side / grid.cells;
    if (this.cell > 8) this.cell = Math.min(110, Math.floor(this.cell));
    this.side = this.cell * grid.cells;
    this.scale = densityScale(grid[this.what], log);
    this.picture = cellPicture(grid[this.what], grid.cells, this.scale);
    this.drawLegend(log);
  }

  draw(cursor) {
    const end = { x: MARGIN.left + this.side, y: MARGIN.top + this.side };
    const context = sizeCanvas(this.canvas, end.x + MARGIN.gap + MARGIN.sums, end.y + MARGIN.gap + MARGIN.sums);
    context.fillStyle = themeColor("--empty");
    context.fillRect(MARGIN.left, MARGIN.top, this.side, this.side);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.picture, MARGIN.left, MARGIN.top, this.side, this.side);
    this.drawGridLines(context);
    this.drawNumbers(context);
    this.drawLabels(context);
    this.drawSums(context, end);
    if (cursor) this.drawCursor(context, cursor, end);
  }

  drawGridLines(context) {
    if (this.cell < 7) return;
    context.strokeStyle = themeColor("--panel");
    context.beginPath();
    for (let i = 1; i < this.grid.cells; ++i) {
      const at = Math.round(i * this.cell) + 0.5;
      context.moveTo(MARGIN.left + at, MARGIN.top);
      context.lineTo(MARGIN.left + at, MARGIN.top + this.side);
      context.moveTo(MARGIN.left, MARGIN.top + at);
      context.lineTo(MARGIN.left + this.side, MARGIN.top + at);
    }
    context.stroke();
  }

  drawNumbers(context) {
    if (this.cell < SMALLEST_CELL_WITH_TEXT) return;
    context.textAlign = "center";
    context.textBaseline = "middle";
    this.grid[this.what].forEach((value, i) => {
      if (!(value > 0)) return;
      const { l } = d3.hcl(densityColor(this.scale.of(value)));
      context.fillStyle = l > 60 ? "#10151a" : "#ffffff";
      const x = MARGIN.left + (i % this.grid.cells + 0.5) * this.cell;
      context.fillText(this.format(value), x, MARGIN.top + (Math.floor(i / this.grid.cells) + 0.5) * this.cell, this.cell - 4);
    });
  }

  drawLabels(context) {
    context.fillStyle = themeColor("--muted");
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const [i, label] of axisRanks(this.grid, this.grid.row, this.cell)) {
      context.fillText(label, MARGIN.left - 6, MARGIN.top + (i + Math.min(0.5, 6 / this.cell + 0.5)) * this.cell);
    }
    context.textAlign = "center";
    for (const [i, label] of axisRanks(this.grid, this.grid.column, this.cell)) {
      context.fillText(label, MARGIN.left + (i + 0.5) * this.cell, MARGIN.top - 10);
    }
    context.fillText("receiver", MARGIN.left + this.side / 2, 12);
    context.save();
    context.translate(10, MARGIN.top + this.side / 2);
    context.rotate(-Math.PI / 2);
    context.fillText("sender", 0, 0);
    context.restore();
  }

  /** Bars: to the right what each row sends in all, below what each column receives. */
  drawSums(context, end) {
    const suffix = this.what === "messages" ? "Messages" : "Bytes";
    const sent = this.grid[`sent${suffix}`];
    const received = this.grid[`received${suffix}`];
    const most = Math.max(d3.max(sent), d3.max(received)) || 1;
    const thickness = Math.max(1, this.cell - (this.cell > 6 ? 2 : 0));
    context.fillStyle = themeColor("--sums");
    sent.forEach((v, i) => context.fillRect(end.x + MARGIN.gap, MARGIN.top + i * this.cell, MARGIN.sums * v / most, thickness));
    received.forEach((v, i) => context.fillRect(MARGIN.left + i * this.cell, end.y + MARGIN.gap, thickness, MARGIN.sums * v / most));
    context.fillStyle = themeColor("--muted");
    context.textAlign = "left";
    context.fillText("sent", end.x + MARGIN.gap, MARGIN.top - 10);
    context.textAlign = "right";
    context.fillText("received", MARGIN.left - 6, end.y + MARGIN.gap + 8);
  }

  drawCursor(context, { row, column }, end) {
    const x = MARGIN.left + column * this.cell;
    const y = MARGIN.top + row * this.cell;
    context.fillStyle = themeColor("--cross");
    context.fillRect(MARGIN.left, y, end.x - MARGIN.left, this.cell);
    context.fillRect(x, MARGIN.top, this.cell, end.y - MARGIN.top);
    context.strokeStyle = themeColor("--accent");
    context.lineWidth = 2;
    context.strokeRect(x, y, Math.max(4, this.cell), Math.max(4, this.cell));
  }

  drawLegend(log) {
    const { least, most } = this.scale;
    const strip = el("canvas", { width: 180, height: 12, "aria-hidden": "true" });
    const context = strip.getContext("2d");
    for (let x = 0; x < 180; ++x) {
      context.fillStyle = densityColor(x / 179);
      context.fillRect(x, 0, 1, 12);
    }
    const text = most > 0 ? [el("span", {}, isFinite(least) ? this.format(least) : "0"), strip, el("span", {}, this.format(most)),
      el("span", { class: "muted" }, log ? "log scale" : "linear scale"),
      el("span", { class: "muted" }, el("span", { class: "swatch empty-swatch" }), "none")] : [el("span", { class: "muted" }, "nothing is sent in this block")];
    this.legend.replaceChildren(...text);
  }
}
