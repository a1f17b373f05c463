// Ranks (rows) over virtual time, with messages between them: a canvas that zooms and pans.

import { legend } from "./charts.js";
import { button, checkbox, el, sizeCanvas, themeColor } from "./dom.js";
import { figure } from "./figure.js";
import { formatExact, formatPlace, formatShare, formatTime, niceStep, plural } from "./format.js";
import { ACTIVITIES, TimelineData } from "./timeline_data.js";

const LEFT = 64;
const RIGHT = 14;
const TOP = 26;
const MOST_HEIGHT = 620;
const TALLEST_ROW = 36;
const MOST_LINES = 1500;
const SHORTEST_VIEW = 1000;  // picoseconds

const HINT = "Point at a call, or use the arrow keys, to read what it is.";
/** Evenly spread over 0..1 in any small part of the picture (the R2 sequence): lines too thin to be stacked show shares so. */
const dither = (x, y) => (0.7548776662 * x + 0.5698402910 * y) % 1;
const seconds = (ps) => ps * 1e-12;
const clamp = (value, least, most) => Math.max(least, Math.min(most, value));

class TimelineView {
  constructor({ timeline, patterns }, { title = "Timeline", id = "timeline" } = {}) {
    this.title = title;
    this.id = id;
    this.data = new TimelineData(timeline);
    this.sites = new Map(patterns.call_sites.map((site) => [site.path, site]));
    this.total = this.data.rows.length;
    this.view = { from: this.data.begin, to: this.data.end, row: 0, rows: this.total };
    this.cursor = { row: 0, time: this.data.begin };
    this.pointed = false;
    this.lines = true;
    this.width = 0;
    this.canvas = this.newCanvas();
    this.readout = el("p", { class: "readout", id: `${this.id}-readout`, "aria-live": "polite" }, HINT);
    this.status = el("p", { class: "note", role: "status", id: `${this.id}-status` });
    this.element = this.build();
  }

  newCanvas() {
    const canvas = el("canvas", { tabindex: 0, role: "application", "aria-roledescription": "timeline", id: `${this.id}-canvas`,
      "aria-label": "Timeline: a row for each rank. Arrow keys pan and choose a rank, plus and minus zoom, comma and full stop go to the call before and after." });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", () => { this.dragged = null; });
    canvas.addEventListener("dblclick", (event) => this.zoom(0.25, this.timeAt(event.offsetX)));
    return canvas;
  }

  build() {
    const rowTools = this.total <= 16 ? null : [button("Fewer ranks", () => this.zoomRows(0.5)), button("More ranks", () => this.zoomRows(2)),
      button("↑", () => this.scrollRows(-1), { "aria-label": "Ranks before" }), button("↓", () => this.scrollRows(1), { "aria-label": "Ranks after" })];
    return figure({
      title: this.title, name: this.id, wide: true, note: this.note(),
      controls: [legend(ACTIVITIES), el("div", { class: "tools" },
        button("Zoom in", () => this.zoom(0.5)), button("Zoom out", () => this.zoom(2)),
        button("←", () => this.pan(-0.25), { "aria-label": "Earlier" }), button("→", () => this.pan(0.25), { "aria-label": "Later" }),
        button("Whole run", () => this.reset()), rowTools,
        checkbox("Messages", this.lines, (on) => { this.lines = on; this.draw(); }))],
      draw: (body, width) => {
        this.width = width;
        body.replaceChildren(this.canvas, this.readout, this.status,
          el("p", { class: "note" }, "Drag, or arrow keys, to move; wheel (after a click, or with Ctrl), + and − to zoom; , and . for the call before and after; 0 for the whole run."));
        this.draw();
      },
      table: () => this.table(),
    });
  }

  note() {
    const { data } = this;
    const parts = [data.exact ? "Every call is drawn as it was." :
      `There were too many calls to keep: each bin of ${formatTime(seconds(data.binWidth))}` +
      `${data.perRow > 1 ? ` and ${data.perRow} ranks` : ""} shows the shares of its time, and only of each rank's first thread.`];
    if (data.messages.one_in > 1) parts.push(`Of ${plural(data.messages.sent, "message")}, one in ${formatExact(data.messages.one_in)} is kept, chosen evenly.`);
    return parts.join(" ");
  }

  // --- geometry ---
  get plotWidth() { return this.width - LEFT - RIGHT; }
  x(time) { return LEFT + (time - this.view.from) / (this.view.to - this.view.from) * this.plotWidth; }
  timeAt(x) { return this.view.from + clamp((x - LEFT) / this.plotWidth, 0, 1) * (this.view.to - this.view.from); }
  y(row) { return TOP + (row - this.view.row) / this.group * this.rowHeight; }
  rowAt(y) { return clamp(this.view.row + Math.floor((y - TOP) / this.rowHeight) * this.group, this.view.row, this.view.row + this.view.rows - 1); }

  layOut() {
    this.group = Math.ceil(this.view.rows / MOST_HEIGHT);
    const lines = Math.ceil(this.view.rows / this.group);
    this.rowHeight = clamp(Math.floor(MOST_HEIGHT / lines), 1, TALLEST_ROW);
    this.gap = this.rowHeight >= 8 ? 3 : this.rowHeight >= 4 ? 1 : 0;
    this.height = lines * this.rowHeight;
  }

  // --- drawing ---
  draw() {
    if (this.width === 0) return;
    this.layOut();
    const context = sizeCanvas(this.canvas, this.width, TOP + this.height + 4);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.paintRows(), LEFT, TOP, this.plotWidth, this.height);
    this.drawAxis(context);
    this.drawRowLabels(context);
    const lines = this.lines ? this.drawMessages(context) : "";
    this.drawCursor(context);
    const { from, to, row, rows } = this.view;
    this.status.textContent = `${formatTime(seconds(from))} to ${formatTime(seconds(to))} (${formatTime(seconds(to - from))})` +
      (rows < this.total ? `, rows ${row}–${row + rows - 1} of ${this.total}` : "") +
      (this.group > 1 ? `; a line is ${this.group} rows` : "") + lines;
  }

  /** A picture of all rows in view; a pixel column's height is shared by activity in proportion to time. */
  paintRows() {
    const width = Math.max(1, Math.floor(this.plotWidth));
    const picture = el("canvas", { width, height: this.height });
    const context = picture.getContext("2d");
    const image = context.createImageData(width, this.height);
    const pixels = new Uint32Array(image.data.buffer);
    const colors = ACTIVITIES.map(({ color }) => {
      const { r, g, b } = d3.rgb(themeColor(color));
      return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
    });
    const sums = new Float32Array(6 * width);
    const { from, to, row, rows } = this.view;
    for (let first = row, top = 0; first < row + rows; first += this.group, top += this.rowHeight) {
      sums.fill(0);
      const members = Math.min(this.group, row + rows - first);
      for (let r = first; r < first + members; ++r) this.data.accumulate(r, from, to, width, sums);
      this.paintRow(pixels, sums, { width, top, whole: members * (to - from) / width, colors });
    }
    context.putImageData(image, 0, 0);
    return picture;
  }

  paintRow(pixels, sums, { width, top, whole, colors }) {
    const height = this.rowHeight - this.gap;
    for (let px = 0; px < width; ++px) {
      for (let y = 0; y < height; ++y) {
        let activity = 0;
        let reached = sums[6 * px] / whole;
        const threshold = height < 4 ? dither(px, top + y) : (y + 0.5) / height;
        while (activity < 6 && reached < threshold) reached += ++activity < 6 ? sums[6 * px + activity] / whole : 0;
        if (activity >= 6) break;
        pixels[(top + y) * width + px] = colors[activity];
      }
    }
  }

  drawAxis(context) {
    const scale = d3.scaleLinear().domain([seconds(this.view.from), seconds(this.view.to)]).range([LEFT, LEFT + this.plotWidth]);
    const ticks = scale.ticks(Math.max(2, Math.floor(this.plotWidth / 130)));
    const label = axisFormat(ticks);
    context.fillStyle = themeColor("--muted");
    context.strokeStyle = themeColor("--muted");
    context.textBaseline = "middle";
    for (const tick of ticks) {
      const x = Math.round(scale(tick)) + 0.5;
      context.textAlign = x - LEFT < 30 ? "left" : LEFT + this.plotWidth - x < 30 ? "right" : "center";
      context.fillText(label(tick), x, 10);
      context.beginPath();
      context.moveTo(x, TOP - 7);
      context.lineTo(x, TOP - 1);
      context.stroke();
    }
  }

  drawRowLabels(context) {
    context.fillStyle = themeColor("--muted");
    context.textAlign = "right";
    context.textBaseline = "middle";
    const step = niceStep(Math.max(1, 16 / this.rowHeight) * this.group);
    for (let r = this.view.row; r < this.view.row + this.view.rows; r += step) {
      context.fillText(this.data.rowLabel(r), LEFT - 8, Math.max(TOP + 5, this.y(r) + (this.rowHeight - this.gap) / 2));
    }
  }

  /** Lines between the rows, unless they would hide what is below; says how many there are. */
  drawMessages(context) {
    const { messages } = this.data;
    const { from, to } = this.view;
    const inView = [];
    messages.sent_ps.forEach((sent, i) => {
      if (sent <= to && sent + messages.flight_ps[i] >= from && this.seen(messages.source[i], messages.destination[i])) inView.push(i);
    });
    if (inView.length > MOST_LINES) return `; ${plural(inView.length, "message")} in view: zoom in to see them (up to ${formatExact(MOST_LINES)})`;
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP, this.plotWidth, this.height);
    context.clip();
    context.strokeStyle = themeColor("--line-message");
    context.globalAlpha = clamp(150 / inView.length, 0.2, 0.85);
    context.beginPath();
    const middle = (this.rowHeight - this.gap) / 2;
    for (const i of inView) {
      context.moveTo(this.x(messages.sent_ps[i]), this.y(this.data.rowOfRank(messages.source[i])) + middle);
      context.lineTo(this.x(messages.sent_ps[i] + messages.flight_ps[i]), this.y(this.data.rowOfRank(messages.destination[i])) + middle);
    }
    context.stroke();
    context.restore();
    return `; ${plural(inView.length, "message")} in view`;
  }

  seen(source, destination) {
    const rows = [this.data.rowOfRank(source), this.data.rowOfRank(destination)];
    return Math.max(...rows) >= this.view.row && Math.min(...rows) < this.view.row + this.view.rows;
  }

  drawCursor(context) {
    const { row, time } = this.cursor;
    if (!this.pointed || row < this.view.row || row >= this.view.row + this.view.rows) return;
    const y = this.y(row - (row - this.view.row) % this.group);
    context.strokeStyle = themeColor("--accent");
    context.lineWidth = 1.5;
    context.strokeRect(LEFT - 1, y - 1, this.plotWidth + 2, this.rowHeight - this.gap + 2);
    if (time < this.view.from || time > this.view.to) return;
    context.fillStyle = themeColor("--accent");
    context.fillRect(this.x(time) - 0.75, y - 4, 1.5, this.rowHeight - this.gap + 8);
  }

  // --- moving ---
  show(from, to) {
    const whole = this.data.end - this.data.begin;
    const length = clamp(to - from, Math.min(SHORTEST_VIEW, whole), whole);
    this.view.from = clamp(from, this.data.begin, this.data.end - length);
    this.view.to = this.view.from + length;
    this.draw();
  }

  zoom(times, around) {
    const { from, to } = this.view;
    const inView = this.cursor.time >= from && this.cursor.time <= to;
    const centre = around != null ? around : inView && this.cursor.time > this.data.begin ? this.cursor.time : (from + to) / 2;
    this.show(centre - (centre - from) * times, centre + (to - centre) * times);
  }

  pan(share) {
    const by = share * (this.view.to - this.view.from);
    this.show(this.view.from + by, this.view.to + by);
  }

  reset() {
    Object.assign(this.view, { row: 0, rows: this.total });
    this.show(this.data.begin, this.data.end);
  }

  zoomRows(times) {
    const rows = clamp(Math.round(this.view.rows * times), Math.min(8, this.total), this.total);
    const first = clamp(this.cursor.row - Math.floor(rows / 2), 0, this.total - rows);
    Object.assign(this.view, { rows, row: first });
    this.draw();
  }

  scrollRows(screens) {
    this.view.row = clamp(this.view.row + Math.round(screens * this.view.rows / 2), 0, this.total - this.view.rows);
    this.draw();
  }

  key(event) {
    const actions = {
      ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1), ArrowUp: () => this.selectRow(-1), ArrowDown: () => this.selectRow(1),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.reset(), Home: () => this.reset(),
      ",": () => this.stepCall(-1), ".": () => this.stepCall(1), PageUp: () => this.scrollRows(-1), PageDown: () => this.scrollRows(1),
      "[": () => this.zoomRows(0.5), "]": () => this.zoomRows(2),
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
  }

  wheel(event) {
    if (!event.ctrlKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan((event.deltaX || event.deltaY) / 800);
    else this.zoom(Math.exp(event.deltaY / 400), this.timeAt(event.offsetX));
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.dragged = { x: event.offsetX, from: this.view.from, to: this.view.to };
    this.point(this.rowAt(event.offsetY), this.timeAt(event.offsetX));
  }

  move(event) {
    if (!this.dragged) return this.point(this.rowAt(event.offsetY), this.timeAt(event.offsetX));
    const by = (this.dragged.x - event.offsetX) / this.plotWidth * (this.dragged.to - this.dragged.from);
    if (Math.abs(this.dragged.x - event.offsetX) > 2) this.show(this.dragged.from + by, this.dragged.to + by);
  }

  selectRow(by) {
    const row = clamp(this.cursor.row + by * this.group, 0, this.total - 1);
    if (row < this.view.row) this.view.row = row;
    if (row >= this.view.row + this.view.rows) this.view.row = row - this.view.rows + 1;
    this.point(row, this.cursor.time);
  }

  /** To the call, computing phase or bin before or after the cursor's, and into the view. */
  stepCall(by) {
    const now = this.data.at(this.cursor.row, this.cursor.time);
    const next = now && this.data.at(this.cursor.row, by > 0 ? now.end : now.begin - 1);
    if (!next || next.end <= next.begin) return;
    const time = (next.begin + next.end) / 2;
    const length = this.view.to - this.view.from;
    if (time < this.view.from || time > this.view.to) this.show(time - length / 2, time + length / 2);
    this.point(this.cursor.row, time);
  }

  point(row, time) {
    this.cursor = { row, time };
    this.pointed = true;
    this.draw();
    this.readout.textContent = this.describe(row, time);
  }

  describe(row, time) {
    const thread = this.data.rows[row].thread ? `, thread ${this.data.rows[row].thread}` : "";
    const who = `rank${this.data.perRow > 1 ? "s" : ""} ${this.data.rowLabel(row).replace(/\..*/, "")}${thread}`;
    const what = this.data.at(row, time);
    if (!what) return `${who} at ${formatTime(seconds(time))}: has ended`;
    const when = `${formatTime(seconds(what.begin))} to ${formatTime(seconds(what.end))}`;
    if (what.shares) return `${who}, ${when}: ${shareWords(what.shares)}`;
    const site = this.sites.get(what.site);
    const place = site && what.site !== 0 ? formatPlace(site.frames[0]) : "";
    const stuck = what.activity === 5 ? ", which never returned" : "";
    const activity = what.activity === 0 ? "computing" : `${what.call || ACTIVITIES[what.activity].label}${place ? ` at ${place}` : ""}${stuck}`;
    return `${who}: ${activity}, ${formatTime(seconds(what.end - what.begin))} (${when})`;
  }

  table() {
    const { data } = this;
    if (!data.exact) {
      return { columns: [{ label: "first rank" }, { label: "from (s)", format: formatTime }, ...ACTIVITIES.map((a) => ({ label: a.label, format: formatShare }))],
        rows: data.rows.flatMap((row, r) => Array.from({ length: data.bins }, (_, bin) =>
          [row.first_rank, seconds(data.begin + bin * data.binWidth), ...data.columns[r].map((c) => c[bin] / 1000)])) };
    }
    return { columns: [{ label: "rank" }, { label: "thread" }, { label: "from (s)", format: formatTime }, { label: "length (s)", format: formatTime }, { label: "activity" }, { label: "call" }],
      rows: data.rows.flatMap((row) => Array.from(row.begin, (begin, i) => [row.first_rank, row.thread, seconds(begin),
        seconds(row.end[i] - begin), ACTIVITIES[row.activity[i]].label, data.calls[row.call[i]]])) };
  }
}

function shareWords(shares) {
  const words = shares.map((share, a) => [share, ACTIVITIES[a].label]).filter(([share]) => share > 0).map(([share, label]) => `${label} ${formatShare(share)}`);
  return words.length > 0 ? words.join(", ") : "nothing";
}

/** All ticks in the unit of the largest, with as many digits as their distance needs. */
function axisFormat(ticks) {
  const largest = Math.max(...ticks.map(Math.abs));
  const [unit, name] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"], [1e-12, "ps"]].find(([u]) => largest >= u) || [1e-12, "ps"];
  const step = ticks.length > 1 ? (ticks[1] - ticks[0]) / unit : 1;
  const digits = clamp(Math.ceil(-Math.log10(step) - 1e-9), 0, 9);
  return (tick) => `${(tick / unit).toFixed(digits)} ${name}`;
}

export const timelineOf = (data, names) => new TimelineView(data, names).element;

export const timelineSection = {
  id: "timeline",
  title: "Timeline",
  available: ({ timeline }) => timeline != null && timeline.rows.length > 0,
  render: (data) => [timelineOf(data)],
};
