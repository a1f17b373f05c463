// Building elements, downloads and announcements.

/** An element with attributes (functions become listeners) and children (null is left out). */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value != null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(2).filter((child) => child != null && child !== false));
  return element;
}

export function button(label, action, attributes = {}) {
  return el("button", { type: "button", click: action, ...attributes }, label);
}

/** A labelled checkbox; `change` gets whether it is on. */
export function checkbox(label, checked, change, attributes = {}) {
  const input = el("input", { type: "checkbox", change: () => change(input.checked), ...attributes });
  input.checked = checked;
  return el("label", { class: "choice" }, input, label);
}

/** One of several: radio buttons in a fieldset; `change` gets the value chosen. */
export function choice(legend, name, options, chosen, change) {
  const radios = options.map(([value, label]) => {
    const input = el("input", { type: "radio", name, value, change: () => change(value) });
    input.checked = value === chosen;
    return el("label", { class: "choice" }, input, label);
  });
  return el("fieldset", { class: "choices" }, el("legend", {}, legend), radios);
}

export function select(label, options, chosen, change) {
  const input = el("select", { change: () => change(input.value) },
    options.map(([value, text]) => el("option", { value }, text)));
  input.value = chosen;
  return el("label", { class: "choice" }, label, input);
}

export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function csvCell(value) {
  const text = value == null ? "" : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** RFC 4180, without carriage returns. */
export function csvText(header, rows) {
  return [header, ...rows].map((row) => row.map(csvCell).join(",") + "\n").join("");
}

export function downloadCsv(name, header, rows) {
  download(`${name}.csv`, "text/csv", csvText(header, rows));
}

/** What the current theme makes of a custom property: "--ink". */
export function themeColor(property) {
  return getComputedStyle(document.documentElement).getPropertyValue(property).trim();
}

/** A canvas scaled for the screen's resolution, and its drawing context in CSS pixels. */
export function sizeCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  return context;
}
