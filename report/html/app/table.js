// Tables: sortable by every column, filtered by a word, long ones shown in part.

import { button, downloadCsv, el } from "./dom.js";
import { formatExact } from "./format.js";

const ROWS_AT_FIRST = 200;
const ROWS_IN_PLAIN = 1024;

const isNumber = (value) => typeof value === "number";

function cell(column, value) {
  const text = column.format ? column.format(value) : isNumber(value) ? formatExact(value) : value;
  return el("td", { class: isNumber(value) ? "number" : null, title: column.title ? column.title(value) : null },
    text == null ? "" : text);
}

/** A table without any controls. */
export function plainTable({ columns, rows: all }) {
  const rows = all.slice(0, ROWS_IN_PLAIN);
  const head = columns.map((column, i) =>
    el("th", { scope: "col", class: rows.length && isNumber(rows[0][i]) ? "number" : null }, column.label));
  const body = rows.map((row) => el("tr", {}, row.map((value, i) => cell(columns[i], value))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Data as a table" },
    el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body)),
    all.length > rows.length ? el("p", { class: "note" }, `The first ${rows.length} of ${formatExact(all.length)}; the CSV file has all.`) : null);
}

function compare(a, b) {
  if (isNumber(a) && isNumber(b)) return a - b;
  if (a == null || b == null) return (a == null ? 0 : 1) - (b == null ? 0 : 1);
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

/**
 * `columns`: [{ label, value(item), format?(value), title?(value), details? }]; `sortBy`: index of the first
 * order, descending; `detail(item)`, if given, is shown below a row when its button is pressed.
 */
export function sortableTable({ title, name, items, columns, sortBy, detail, filterLabel }) {
  const state = { column: sortBy, descending: true, filter: "", all: false };
  const body = el("tbody");
  const status = el("p", { class: "note", role: "status" });
  const more = button("Show all", () => { state.all = true; update(); });
  const heads = columns.map((column, i) => header(column, i));
  const filter = el("input", { type: "search", placeholder: "Filter", "aria-label": filterLabel || `Filter ${title}`,
    input: () => { state.filter = filter.value.toLowerCase(); update(); } });

  function header(column, i) {
    const sort = () => {
      state.descending = state.column === i ? !state.descending : items.some((x) => isNumber(column.value(x)));
      state.column = i;
      update();
    };
    const numeric = items.length > 0 && isNumber(column.value(items[0]));
    return el("th", { scope: "col", class: numeric ? "number" : null }, button(column.label, sort));
  }

  function chosen() {
    const column = columns[state.column];
    const matches = items.filter((item) => !state.filter ||
      columns.some((c) => String(c.value(item)).toLowerCase().includes(state.filter)));
    const sign = state.descending ? -1 : 1;
    return matches.sort((a, b) => sign * compare(column.value(a), column.value(b)));
  }

  function rowOf(item) {
    const cells = columns.map((column) => cell(column, column.value(item)));
    const row = el("tr", {}, cells);
    if (!detail) return row;
    const toggle = button(cells[0].textContent, () => {
      const open = row.nextSibling && row.nextSibling.classList.contains("detail");
      if (open) row.nextSibling.remove();
      else row.after(el("tr", { class: "detail" }, el("td", { colspan: columns.length }, detail(item))));
      toggle.setAttribute("aria-expanded", String(!open));
    }, { class: "disclosure", "aria-expanded": "false" });
    cells[0].replaceChildren(toggle);
    return row;
  }

  function update() {
    const rows = chosen();
    const shown = state.all ? rows : rows.slice(0, ROWS_AT_FIRST);
    body.replaceChildren(...shown.map(rowOf));
    heads.forEach((head, i) => head.setAttribute("aria-sort",
      i !== state.column ? "none" : state.descending ? "descending" : "ascending"));
    status.textContent = `${formatExact(shown.length)} of ${formatExact(items.length)} shown`;
    more.hidden = shown.length === rows.length;
  }

  update();
  const csv = () => downloadCsv(name, columns.map((c) => c.label), chosen().map((x) => columns.map((c) => c.value(x))));
  return el("section", { class: "card wide", "data-table": name },
    el("div", { class: "caption" }, el("h3", {}, title),
      el("div", { class: "tools" }, filter, button("CSV", csv, { "aria-label": `Download ${title} as CSV` }))),
    items.length === 0 ? el("p", { class: "empty" }, "There are none.") :
      el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, heads)), body)),
    items.length === 0 ? null : el("div", { class: "below" }, status, more));
}
