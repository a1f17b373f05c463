// Who sends to whom: message density and data density (Riesen 2006, sections 3.1 and 3.2), by layers.

import { layerLabel } from "./data.js";
import { button, checkbox, el } from "./dom.js";
import { figure } from "./figure.js";
import { formatBytes, formatCount, formatExact, plural, rankRange } from "./format.js";
import { Heatmap } from "./heatmap.js";
import { gridOf, pairList } from "./matrix.js";

const MOST_CELLS = 256;
const SMALLEST_BLOCK = 8;
const HINT = "Point at a cell to read it, or move with the arrow keys; Enter or a double click zooms in, Backspace out.";

class Communication {
  constructor({ layers, ranks, wire = null, wire_collectives: algorithms = "" }) {
    Object.assign(this, { all: layers, wire, algorithms, onWire: false, ranks, log: true, width: 0, cursor: { row: 0, column: 0 } });
    this.chosen = new Set(layers.map((layer) => layer.name));
    this.block = { row: 0, column: 0, span: ranks };
    const events = { onCursor: (r, c) => this.moveTo(r, c), onZoom: (r, c) => { this.moveTo(r, c); this.zoom(0.25); },
      onKey: (event) => this.key(event) };
    this.maps = [new Heatmap({ what: "messages", title: "Message density", format: formatCount, ...events }),
      new Heatmap({ what: "bytes", title: "Data density", format: formatBytes, ...events })];
    this.readout = el("p", { class: "readout", id: "cell-readout", "aria-live": "polite" }, el("span", { class: "muted" }, HINT));
    this.pointed = false;
    this.status = el("p", { class: "note", role: "status" });
    this.element = this.build();
  }

  /** The wire has the others' messages in it, so it is shown alone. */
  get layers() { return this.onWire ? [this.wire] : this.all.filter((layer) => this.chosen.has(layer.name)); }

  build() {
    const shape = figure({
      title: "Who sends to whom", name: "communication", wide: true,
      note: "Collectives are drawn as the algorithm has them, not the network: to and from the root, or rank 0 where there is none." +
        (this.wire ? ` Over the wire they are the messages of ${this.algorithms}.` : ""),
      controls: [this.layerControls(), this.viewControls()],
      draw: (body, width) => {
        this.width = width;
        body.replaceChildren(el("div", { class: "maps" }, this.maps.map((map) => map.element)), this.readout, this.status);
        this.update();
      },
      table: () => this.table(),
    });
    return shape;
  }

  layerControls() {
    this.boxes = this.all.map((layer) => checkbox(layerLabel(layer.name), true, (on) => {
      if (on) this.chosen.add(layer.name);
      else this.chosen.delete(layer.name);
      this.update();
    }, { "data-layer": layer.name }));
    const choose = (wanted) => () => {
      this.chosen = new Set(this.all.map((l) => l.name).filter(wanted));
      this.boxes.forEach((box, i) => { box.firstChild.checked = this.chosen.has(this.all[i].name); });
      this.update();
    };
    const isMessages = (name) => name === "point_to_point";
    return el("fieldset", { class: "choices" }, el("legend", {}, "Layers"), this.boxes, this.all.length < 2 ? null :
      el("span", { class: "tools" }, button("All", choose(() => true)), button("Point-to-point only", choose(isMessages)),
        button("Collectives only", choose((name) => !isMessages(name)))), this.wireControl());
  }

  wireControl() {
    if (!this.wire) return null;
    const box = checkbox("What goes over the wire instead", false, (on) => {
      this.onWire = on;
      for (const other of this.boxes) other.firstChild.disabled = on;
      this.update();
    }, { "data-layer": "wire" });
    box.title = `All that travels: messages, and collectives as the messages of ${this.algorithms}`;
    return box;
  }

  viewControls() {
    const zoomable = this.ranks > SMALLEST_BLOCK;
    return el("div", { class: "tools" }, checkbox("Log scale", true, (on) => { this.log = on; this.update(); }),
      zoomable ? [button("Zoom in", () => this.zoom(0.25)), button("Zoom out", () => this.zoom(4)), button("All ranks", () => this.zoom(this.ranks))] : null);
  }

  update() {
    if (this.width === 0) return;
    this.grid = gridOf(this.layers, this.block, MOST_CELLS);
    const { cells, factor, row, column, span } = this.grid;
    const beside = this.width >= 820;
    for (const map of this.maps) map.show(this.grid, beside ? (this.width - 24) / 2 : this.width, this.log);
    this.status.textContent = span < this.ranks || factor > 1 ? `Senders ${row}–${Math.min(row + span, this.ranks) - 1}, receivers ` +
      `${column}–${Math.min(column + span, this.ranks) - 1} of ${this.ranks}; ` +
      (factor > 1 ? `a cell is the sum of ${factor} × ${factor} pairs.` : "a cell is one pair.") : "";
    this.cursor = { row: Math.min(this.cursor.row, cells - 1), column: Math.min(this.cursor.column, cells - 1) };
    this.drawMaps();
  }

  moveTo(row, column) {
    this.cursor = { row, column };
    this.pointed = true;
    this.drawMaps();
  }

  drawMaps() {
    for (const map of this.maps) map.draw(this.pointed ? this.cursor : null);
    if (this.pointed) this.readout.textContent = this.describe(this.cursor.row, this.cursor.column);
  }

  ranksAt(first, index) {
    const from = first + index * this.grid.factor;
    return [from, Math.min(this.ranks, from + this.grid.factor)];
  }

  describe(row, column) {
    const senders = this.ranksAt(this.grid.row, row);
    const receivers = this.ranksAt(this.grid.column, column);
    const at = row * this.grid.cells + column;
    const shares = this.layers.length > 1 && this.grid.messages[at] > 0 ? ` (${this.byLayer(senders, receivers)})` : "";
    return `${rankRange(...senders)} → ${rankRange(...receivers)}: ${plural(this.grid.messages[at], "message")}, ` +
      `${plural(this.grid.bytes[at], "byte")}${this.grid.bytes[at] >= 1024 ? ` = ${formatBytes(this.grid.bytes[at])}` : ""}${shares}. ` +
      `In all, ${rankRange(...senders)} ${senders[1] - senders[0] > 1 ? "send" : "sends"} ${formatCount(this.grid.sentMessages[row])} messages, ` +
      `${formatBytes(this.grid.sentBytes[row])}; ${rankRange(...receivers)} ${receivers[1] - receivers[0] > 1 ? "get" : "gets"} ` +
      `${formatCount(this.grid.receivedMessages[column])}, ${formatBytes(this.grid.receivedBytes[column])}.`;
  }

  byLayer(senders, receivers) {
    return this.layers.map((layer) => {
      let sum = 0;
      for (const row of layer.rows) {
        if (row.source < senders[0] || row.source >= senders[1]) continue;
        row.destinations.forEach((d, i) => { if (d >= receivers[0] && d < receivers[1]) sum += row.messages[i]; });
      }
      return [layer.name, sum];
    }).filter(([, sum]) => sum > 0).map(([name, sum]) => `${layerLabel(name)} ${formatExact(sum)}`).join(", ");
  }

  /** Shows a block that many times as wide around the cursor, which stays on its ranks. */
  zoom(times) {
    const [sender] = this.ranksAt(this.grid.row, this.cursor.row);
    const [receiver] = this.ranksAt(this.grid.column, this.cursor.column);
    const span = Math.min(this.ranks, Math.max(Math.min(SMALLEST_BLOCK, this.ranks), Math.ceil(this.block.span * times)));
    const around = (rank) => Math.max(0, Math.min(this.ranks - span, rank - Math.floor(span / 2)));
    this.block = { row: around(sender), column: around(receiver), span };
    const factor = Math.ceil(span / MOST_CELLS);
    this.cursor = { row: Math.floor((sender - this.block.row) / factor), column: Math.floor((receiver - this.block.column) / factor) };
    this.update();
  }

  key(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const zooms = { Enter: 0.25, "+": 0.25, "-": 4, Backspace: 4, Home: this.ranks, 0: this.ranks };
    if (steps[event.key]) this.step(...steps[event.key].map((s) => s * (event.shiftKey ? 10 : 1)));
    else if (zooms[event.key]) this.zoom(zooms[event.key]);
    else return;
    event.preventDefault();
  }

  /** Moves the cursor; at an edge the block moves along. */
  step(down, right) {
    const { cells, factor, span } = this.grid;
    const move = (first, at, by) => {
      const next = at + by;
      const inside = Math.max(0, Math.min(cells - 1, next));
      return [Math.max(0, Math.min(this.ranks - span, first + (next - inside) * factor)), inside];
    };
    const [row, cursorRow] = move(this.block.row, this.cursor.row, down);
    const [column, cursorColumn] = move(this.block.column, this.cursor.column, right);
    const moved = row !== this.block.row || column !== this.block.column;
    this.block = { row, column, span };
    this.cursor = { row: cursorRow, column: cursorColumn };
    if (moved) this.update();
    else this.moveTo(cursorRow, cursorColumn);
  }

  table() {
    return { columns: [{ label: "source" }, { label: "destination" }, { label: "messages" }, { label: "bytes" }],
      rows: pairList(this.layers, this.ranks).sort((a, b) => b[3] - a[3] || b[2] - a[2]) };
  }
}

export const communication = {
  id: "communication",
  title: "Communication",
  render: ({ patterns }) => [new Communication(patterns).element],
};
