// A figure: title, note, toolbar (table, CSV), and a drawing that follows the width of the page and the theme.

import { button, downloadCsv, el } from "./dom.js";
import { plainTable } from "./table.js";

const live = new Set();

/** Draws all visible figures again: the theme has changed. */
export function redrawAll() {
  for (const entry of live) entry.redraw(true);
}

/** Calls draw(body, width) now and whenever the width of `body` or the theme changes. */
export function keepDrawn(body, draw) {
  let width = 0;
  const redraw = (force) => {
    const now = Math.floor(body.clientWidth);
    if (now === 0 || (now === width && !force)) return;
    width = now;
    draw(body, width);
  };
  live.add({ redraw });
  new ResizeObserver(() => redraw(false)).observe(body);
  return () => redraw(true);
}

function tableToggle(host, table) {
  const toggle = button("Table", () => {
    const open = host.firstChild != null;
    host.replaceChildren(...(open ? [] : [plainTable(table())]));
    toggle.setAttribute("aria-expanded", String(!open));
  }, { "aria-expanded": "false" });
  return toggle;
}

/**
 * `draw(body, width)` fills the figure; `table()` gives { columns: [{ label, format? }], rows: [[...]] }, the same
 * data for who does not see the drawing; `name` is that of its CSV file. Returns the element; its `redraw()` draws
 * again after a change of settings.
 */
export function figure({ title, note, controls, draw, table, name, wide }) {
  const body = el("div", { class: "drawing" });
  const tableHost = el("div", { class: "figure-table" });
  const tools = table ? el("div", { class: "tools" }, tableToggle(tableHost, table),
    button("CSV", () => downloadCsv(name, table().columns.map((c) => c.label), table().rows),
      { "aria-label": `Download ${title} as CSV` })) : null;
  const element = el("figure", { class: wide ? "card wide" : "card", "data-figure": name },
    el("figcaption", {}, el("h3", {}, title), tools),
    note ? el("p", { class: "note" }, note) : null,
    controls ? el("div", { class: "controls" }, controls) : null, body, tableHost);
  element.redraw = keepDrawn(body, draw);
  return element;
}
