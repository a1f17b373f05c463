// How the run went: traffic and time in equal bins of virtual time.

import { columns, legend } from "./charts.js";
import { el, sizeCanvas, themeColor } from "./dom.js";
import { figure } from "./figure.js";
import { formatBytes, formatCount, formatShare, formatTime, niceStep, rankRange } from "./format.js";

const TIME_KEYS = [{ label: "computing", color: "--compute" }, { label: "in MPI, not waiting", color: "--mpi" }, { label: "waiting", color: "--waiting" }];

function binName(over, i) {
  return `${formatTime(i * over.bin_s)} to ${formatTime((i + 1) * over.bin_s)}`;
}

function binned(over, { title, name, keys, values, format, yLabel, wide, note }) {
  const bins = over.messages.length;
  const items = Array.from({ length: bins }, (_, i) => ({ label: formatTime(i * over.bin_s), name: binName(over, i), values: values(i) }));
  return figure({
    title, name, wide, note, controls: keys.length > 1 ? legend(keys) : null,
    draw: (body, width) => columns(body, width, items, { label: title, keys, format, yLabel, xLabel: "virtual time",
      time: bins * over.bin_s, timeFormat: formatTime, height: wide ? 230 : 190 }),
    table: () => ({ columns: [{ label: "from (s)", format: formatTime }, ...keys.map((key) => ({ label: key.label, format }))],
      rows: items.map((item, i) => [i * over.bin_s, ...item.values]) }),
  });
}

/** Share of computing per rank (rows) and bin (columns). */
function drawBusy(body, width, { over, perRow, ranks }) {
  const left = 80;
  const rows = over.busy.length;
  const height = Math.max(60, Math.min(420, rows * (rows > 40 ? 3 : 14)));
  const canvas = el("canvas", { role: "img", tabindex: 0, "aria-label": "Share of computing per rank over time. Arrow keys move the cursor." });
  const readout = el("p", { class: "readout", "aria-live": "polite" }, el("span", { class: "muted" }, "Point at a cell, or use the arrow keys, to read it."));
  body.replaceChildren(canvas, readout);
  const context = sizeCanvas(canvas, width, height + 20);
  const bins = over.messages.length;
  const cell = { width: (width - left - 12) / bins, height: height / rows };
  const color = d3.scaleLinear().domain([0, 1]).range([themeColor("--panel"), themeColor("--compute")]).clamp(true);
  over.busy.forEach((row, r) => row.forEach((share, bin) => {
    context.fillStyle = color(share);
    context.fillRect(left + bin * cell.width, r * cell.height, cell.width + 0.5, cell.height + (cell.height > 4 ? -1 : 0.5));
  }));
  labelBusy(context, { left, rows, perRow, ranks, cell, height, bins, over });
  exploreBusy(canvas, readout, { left, rows, bins, cell, perRow, ranks, over });
}

function labelBusy(context, { left, rows, perRow, cell, height, bins, over }) {
  context.fillStyle = themeColor("--muted");
  context.textAlign = "right";
  context.textBaseline = "middle";
  const step = niceStep(20 / cell.height);
  for (let r = 0; r < rows; r += step) context.fillText(`rank ${r * perRow}`, left - 8, Math.max(6, (r + 0.5) * cell.height));
  context.textBaseline = "top";
  const scale = d3.scaleLinear().domain([0, bins * over.bin_s]).range([left, left + bins * cell.width]);
  for (const tick of scale.ticks(6)) {
    context.textAlign = tick === 0 ? "left" : scale(tick) > left + bins * cell.width - 20 ? "right" : "center";
    context.fillText(formatTime(tick), scale(tick), height + 6);
  }
}

function exploreBusy(canvas, readout, { left, rows, bins, cell, perRow, ranks, over }) {
  const at = { row: 0, bin: 0 };
  const show = (row, bin) => {
    at.row = Math.max(0, Math.min(rows - 1, row));
    at.bin = Math.max(0, Math.min(bins - 1, bin));
    const who = rankRange(at.row * perRow, Math.min(ranks, (at.row + 1) * perRow));
    readout.textContent = `${who}, ${binName(over, at.bin)}: computing ${formatShare(over.busy[at.row][at.bin] || 0)} of the time`;
  };
  canvas.addEventListener("pointermove", (event) =>
    show(Math.floor(event.offsetY / cell.height), Math.floor((event.offsetX - left) / cell.width)));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    show(at.row + step[0], at.bin + step[1]);
  });
}

function busyFigure({ over_time: over, ranks }) {
  const perRow = over.ranks_per_row;
  return figure({
    title: "Who computes when", name: "busy", wide: true,
    note: "The stronger the colour, the more of the time is spent computing." + (perRow > 1 ? ` A row is the mean of ${perRow} ranks.` : ""),
    draw: (body, width) => drawBusy(body, width, { over, perRow, ranks }),
    table: () => ({ columns: [{ label: "first rank" }, ...over.messages.map((_, i) => ({ label: formatTime(i * over.bin_s) }))],
      rows: over.busy.map((row, r) => [r * perRow, ...row]) }),
  });
}

export const overTime = {
  id: "over-time",
  title: "Over time",
  render({ patterns }) {
    const over = patterns.over_time;
    if (over.messages.length === 0) return [el("p", { class: "empty card" }, patterns.clock === "real"
      ? "Ranks that count by themselves keep sums alone: nothing is known of when." : "No virtual time has passed.")];
    const note = `Each bar is ${formatTime(over.bin_s)} of virtual time.`;
    const counts = (key) => (i) => [over[key][i]];
    const share = (i) => [over.compute_s[i], Math.max(0, over.mpi_s[i] - over.waiting_s[i]), over.waiting_s[i]].map((s) => s / over.bin_s);
    return [
      binned(over, { title: "How many ranks do what", name: "time-over-time", keys: TIME_KEYS, values: share, format: formatCount,
        yLabel: "ranks, on average", wide: true, note: `${note} Waiting stands at the end of its call.` }),
      busyFigure(patterns),
      binned(over, { title: "Messages", name: "messages-over-time", keys: [{ label: "messages", color: "--messages" }],
        values: counts("messages"), format: formatCount, yLabel: "messages", wide: true }),
      binned(over, { title: "Bytes", name: "bytes-over-time", keys: [{ label: "bytes", color: "--bytes" }],
        values: counts("bytes"), format: formatBytes, yLabel: "payload", wide: true }),
      binned(over, { title: "Collective calls", name: "collectives-over-time", keys: [{ label: "collective calls", color: "--collective" }],
        values: counts("collective_calls"), format: formatCount, yLabel: "calls", wide: true })];
  },
};
