// A platform's links (links.json): load over time as a heat map, the network drawn, and from a link that was full to the
// calls that filled it.

import { el, sizeCanvas, themeColor } from "./dom.js";
import { figure } from "./figure.js";
import { formatBytes, formatExact, formatShare, formatTime, plural } from "./format.js";
import { card } from "./wait_states.js";
import { plainTable, sortableTable } from "./table.js";

const MOST_ROWS = 64;
const LEFT = 190;

const loadColor = () => d3.scaleLinear().domain([0, 0.5, 1]).range([themeColor("--empty"), themeColor("--compute"), themeColor("--waiting")]).clamp(true);
const siteTitle = (links, path) => (links.sites.find((site) => site.path === path) || { title: "?" }).title;

function overall(links) {
  const used = links.links.filter((link) => link.messages > 0).length;
  const share = (part) => formatShare(links.messages ? part / links.messages : 0);
  const why = links.held_up > 0 ? null : links.met > 0
    ? "The topology changes nothing but latencies: messages that met on a link had room beside each other."
    : "The topology changes nothing: no two messages were ever on one link at the same time.";
  return card("Sharing", el("p", {}, `${plural(used, "link")} carried something. Of ${formatExact(links.messages)} messages ${share(links.met)} crossed a link at the same time as another; ${share(links.held_up)} were held up by these or by acknowledgements, which come the other way, ${formatTime(links.held_up_s)} in all.`),
    why ? el("p", {}, why) : null);
}

/** Rows: links; columns: time; colour: share of the bandwidth that is taken. */
function drawLoad(body, width, links, choose) {
  const rows = links.links.filter((link) => link.load && link.carried_bytes > 0).slice(0, MOST_ROWS);
  const bins = d3.max(rows, (link) => link.load.length) || 1;
  const cell = { width: (width - LEFT - 12) / bins, height: rows.length > 32 ? 9 : 15 };
  const height = rows.length * cell.height;
  const canvas = el("canvas", { role: "img", tabindex: 0, "aria-label": "Load of links over time. Arrow keys move the cursor, Enter shows who fills the link." });
  const readout = el("p", { class: "readout", "aria-live": "polite" }, el("span", { class: "muted" }, "Point at a cell, or use the arrow keys, to read it; click to see who fills the link."));
  body.replaceChildren(canvas, readout);
  const context = sizeCanvas(canvas, width, height + 22);
  const color = loadColor();
  context.textBaseline = "middle";
  rows.forEach((link, r) => {
    link.load.forEach((load, bin) => {
      context.fillStyle = color(load);
      context.fillRect(LEFT + bin * cell.width, r * cell.height, cell.width + 0.5, cell.height - 1);
    });
    if (cell.height < 12 && r % 2) return;
    context.fillStyle = themeColor("--muted");
    context.textAlign = "right";
    context.fillText(link.name, LEFT - 8, (r + 0.5) * cell.height, LEFT - 12);
  });
  context.textBaseline = "top";
  context.fillStyle = themeColor("--muted");
  const scale = d3.scaleLinear().domain([0, bins * links.bin_s]).range([LEFT, LEFT + bins * cell.width]);
  for (const tick of scale.ticks(6)) {
    context.textAlign = scale(tick) > width - 40 ? "right" : "center";
    context.fillText(formatTime(tick), scale(tick), height + 6);
  }
  explore(canvas, readout, { links, rows, bins, cell, choose });
}

function explore(canvas, readout, { links, rows, bins, cell, choose }) {
  const at = { row: 0, bin: 0 };
  const show = (row, bin) => {
    at.row = Math.max(0, Math.min(rows.length - 1, row));
    at.bin = Math.max(0, Math.min(bins - 1, bin));
    readout.textContent = `${rows[at.row].name}, ${formatTime(at.bin * links.bin_s)} to ${formatTime((at.bin + 1) * links.bin_s)}: ${formatShare(rows[at.row].load[at.bin] || 0)} of ${formatBytes(rows[at.row].bandwidth)}/s taken`;
  };
  const place = (event) => [Math.floor(event.offsetY / cell.height), Math.floor((event.offsetX - LEFT) / cell.width)];
  canvas.addEventListener("pointermove", (event) => rows.length && show(...place(event)));
  canvas.addEventListener("click", (event) => { const row = rows[place(event)[0]]; if (row) choose(row); });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && rows.length) choose(rows[at.row]);
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !rows.length) return;
    event.preventDefault();
    show(at.row + step[0], at.bin + step[1]);
  });
}

const nodeLabel = (node) => node.host == null ? "" : node.ranks.length === 1 ? String(node.ranks[0]) : `${node.ranks[0]}+`;

/** Trees in layers, switches above their hosts; anything else by the forces of its links. */
function layOut({ nodes, edges, layered }, width) {
  const top = d3.max(nodes, (n) => n.level);
  if (layered && top > 0) {
    const height = Math.min(420, 110 * (top + 1));
    for (let level = 0; level <= top; ++level) {
      const row = nodes.filter((n) => n.level === level);
      if (level === 0) row.sort((a, b) => (a.ranks[0] ?? 0) - (b.ranks[0] ?? 0));
      else {
        const below = (n) => d3.mean(edges.flatMap((e) => nodes[e.from] === n ? [nodes[e.to]] : nodes[e.to] === n ? [nodes[e.from]] : [])
          .filter((m) => m.level === level - 1), (m) => m.x) ?? 0;
        const wish = new Map(row.map((n) => [n, below(n)]));
        row.sort((a, b) => wish.get(a) - wish.get(b));
      }
      row.forEach((n, i) => { n.x = 30 + (width - 60) * (i + 0.5) / row.length; n.y = height - 30 - (height - 60) * level / top; });
    }
    return height;
  }
  const height = Math.min(620, Math.max(320, width * 0.6));
  nodes.forEach((n, i) => { const turn = 2 * Math.PI * i / nodes.length; n.x = width / 2 + 100 * Math.cos(turn); n.y = height / 2 + 100 * Math.sin(turn); });
  const simulation = d3.forceSimulation(nodes).force("links", d3.forceLink(edges.map((e) => ({ source: e.from, target: e.to }))).distance(40).strength(0.6))
    .force("apart", d3.forceManyBody().strength(-160)).force("center", d3.forceCenter(width / 2, height / 2)).stop();
  for (let i = 0; i < 300; ++i) simulation.tick();
  const fit = (key, size) => { const [low, high] = d3.extent(nodes, (n) => n[key]); nodes.forEach((n) => { n[key] = 24 + (size - 48) * (high > low ? (n[key] - low) / (high - low) : 0.5); }); };
  fit("x", width);
  fit("y", height);
  return height;
}

function drawTopology(body, width, links, choose) {
  const drawing = { layered: links.drawing.layered, nodes: links.drawing.nodes.map((n) => ({ ...n })), edges: links.drawing.edges };
  const height = layOut(drawing, width);
  const color = d3.scaleLinear().domain([0, 0.5, 1]).range([themeColor("--grid") || themeColor("--muted"), themeColor("--compute"), themeColor("--waiting")]).clamp(true);
  const full = (link) => links.virtual_time_s > 0 ? link.full_s / links.virtual_time_s : 0;
  const svg = d3.create("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("width", width).attr("height", height).attr("role", "img")
    .attr("aria-label", "The network: hosts with the first of their ranks, switches, and links by how much of them was taken.");
  const most = d3.max(links.links, (l) => l.utilisation) || 1;
  drawing.edges.forEach((edge) => {
    const link = links.links[edge.link];
    const [a, b] = [drawing.nodes[edge.from], drawing.nodes[edge.to]];
    // The two directions of a cable beside each other.
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const away = 2.5 / (Math.hypot(dx, dy) || 1);
    svg.append("line").attr("x1", a.x - dy * away).attr("y1", a.y + dx * away).attr("x2", b.x - dy * away).attr("y2", b.y + dx * away)
      .attr("stroke", color(link.utilisation / most)).attr("stroke-width", 1.2 + 4 * link.utilisation / most).style("cursor", "pointer")
      .on("click", () => choose(link))
      .append("title").text(`${link.name}: ${formatShare(link.utilisation)} taken, full ${formatShare(full(link))} of the time, ${formatBytes(link.bytes)}`);
  });
  const node = svg.append("g").selectAll("g").data(drawing.nodes).join("g").attr("transform", (n) => `translate(${n.x},${n.y})`);
  node.append("circle").attr("r", (n) => (n.host == null ? 5 : 10)).attr("fill", (n) => (n.host == null ? themeColor("--muted") : themeColor("--panel"))).attr("stroke", themeColor("--muted"));
  node.append("text").attr("text-anchor", "middle").attr("dy", "0.35em").attr("font-size", 10).attr("fill", themeColor("--ink")).text(nodeLabel);
  node.append("title").text((n) => (n.host == null ? "switch" : `${n.host}: ${plural(n.ranks.length, "rank")} ${n.ranks.join(", ")}`));
  body.replaceChildren(svg.node());
}

/** Who crosses a link, and whom that holds up. */
function linkDetail(links, link) {
  return el("div", {}, el("p", { class: "note" }, `${plural(link.senders.length, "rank")} send over it: ${link.senders.slice(0, 40).join(", ")}${link.senders.length > 40 ? " …" : ""}`),
    plainTable({ columns: [{ label: "call site" }, { label: "messages", format: formatExact }, { label: "bytes", format: formatBytes }, { label: "held up", format: formatTime }],
      rows: [...link.sites].sort((a, b) => b.held_up_s - a.held_up_s || b.bytes - a.bytes).map((s) => [siteTitle(links, s.path), s.messages, s.bytes, s.held_up_s]) }),
    plainTable({ columns: [{ label: "from rank" }, { label: "to rank" }, { label: "bytes", format: formatBytes }, { label: "held up", format: formatTime }], rows: link.pairs }));
}

function linkTable(links) {
  return sortableTable({
    title: "Links", name: "links", items: links.links.filter((l) => l.carried_bytes > 0), sortBy: 6, detail: (link) => linkDetail(links, link), filterLabel: "Filter links by name",
    columns: [{ label: "link", value: (l) => l.name }, { label: "bandwidth", value: (l) => l.bandwidth, format: (v) => `${formatBytes(v)}/s` },
      { label: "messages", value: (l) => l.messages }, { label: "bytes", value: (l) => l.bytes, format: formatBytes, title: (v) => `${formatExact(v)} bytes` },
      { label: "taken", value: (l) => l.utilisation, format: formatShare }, { label: "full", value: (l) => l.full_s, format: formatTime },
      { label: "held messages up", value: (l) => l.held_up_s, format: formatTime }] });
}

function siteTable(links) {
  return sortableTable({
    title: "What sharing cost each call site", name: "link-sites", items: links.sites, sortBy: 4,
    columns: [{ label: "call site", value: (s) => s.title }, { label: "messages", value: (s) => s.messages }, { label: "bytes", value: (s) => s.bytes, format: formatBytes },
      { label: "in transfer", value: (s) => s.flowing_s, format: formatTime }, { label: "of it held up", value: (s) => s.held_up_s, format: formatTime }] });
}

export const linksSection = {
  id: "links",
  title: "Links",
  available: (data) => data.links != null,
  render({ links }) {
    const chosen = el("section", { class: "card wide", hidden: "", "aria-live": "polite" });
    const choose = (link) => {
      chosen.hidden = false;
      chosen.replaceChildren(el("h3", {}, link.name), linkDetail(links, link));
      chosen.scrollIntoView({ block: "nearest" });
    };
    const shown = links.links.filter((l) => l.load && l.carried_bytes > 0).slice(0, MOST_ROWS);
    return [overall(links),
      figure({ title: "Links over time", name: "link-load", wide: true, note: "The stronger the colour, the more of the link is taken, in either direction of an unsplit cable. The links that held messages up longest come first.",
        draw: (body, width) => drawLoad(body, width, links, choose),
        table: () => ({ columns: [{ label: "link" }, ...d3.range(d3.max(shown, (l) => l.load.length) || 0).map((i) => ({ label: formatTime(i * links.bin_s) }))], rows: shown.map((l) => [l.name, ...l.load]) }) }),
      chosen,
      links.drawing ? figure({ title: "The network", name: "topology", wide: true, note: "Hosts with the first of their ranks, and what the routes between them show of switches. The wider and stronger a link, the more of it was taken.",
        draw: (body, width) => drawTopology(body, width, links, choose) }) : null,
      linkTable(links), siteTable(links)];
  },
};
