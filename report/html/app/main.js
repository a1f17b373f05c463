// The page: header, tabs, theme, downloads. A later analysis adds a module to `sections`: { id, title,
// available?(data), render(data) } with render() giving elements. Without `available` it is about a run's patterns.

import { collectivesSection } from "./collectives.js";
import { communication } from "./communication.js";
import { intervalOf, loadData, timeName } from "./data.js";
import { button, download, el } from "./dom.js";
import { redrawAll } from "./figure.js";
import { formatTime, plural } from "./format.js";
import { guidelinesHeader, guidelinesSection } from "./guidelines.js";
import { linksSection } from "./links.js";
import { mix } from "./mix.js";
import { overTime } from "./over_time.js";
import { overlapSection } from "./overlap.js";
import { overview } from "./overview.js";
import { sites } from "./sites.js";
import { sweepSection } from "./sweep.js";
import { timelineSection } from "./timeline.js";
import { waitStatesSection } from "./wait_states.js";
import { fixesSection, whatIfSection } from "./what_if.js";

const sections = [whatIfSection, overview, fixesSection, communication, mix, overTime, timelineSection, linksSection, waitStatesSection, overlapSection, sites, collectivesSection, sweepSection, guidelinesSection];

const preferredTheme = () => matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";

function setTheme(theme, toggle) {
  document.documentElement.dataset.theme = theme;
  toggle.textContent = theme === "dark" ? "Light" : "Dark";
  toggle.setAttribute("aria-label", `Change to the ${theme === "dark" ? "light" : "dark"} theme`);
  redrawAll();
}

function themeToggle() {
  const toggle = button("", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark", toggle), { id: "theme" });
  setTheme(preferredTheme(), toggle);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(preferredTheme(), toggle));
  return toggle;
}

function downloads(data) {
  return Object.entries(data).filter(([, document]) => document).map(([name, document]) =>
    button(`${name}.json`, () => download(`${name}.json`, "application/json", JSON.stringify(document)),
      { "aria-label": `Download ${name}.json` }));
}

function runHeader(data) {
  const { patterns } = data;
  const interval = intervalOf(data);
  const range = interval ? ` (${formatTime(interval.from)} to ${formatTime(interval.to)})` : "";
  return { title: patterns.application || "MPI program", complete: Boolean(patterns.complete),
    facts: [plural(patterns.ranks, "rank"), patterns.network, `${formatTime(patterns.virtual_time_s)} of ${timeName(patterns)}${range}`] };
}

function header(data) {
  const { title, facts, complete } = data.patterns ? runHeader(data) : guidelinesHeader(data);
  return el("header", {}, el("div", {}, el("h1", {}, title),
    el("p", { class: "muted" }, facts.filter((f) => f).join(" · ")),
    complete !== false ? null : el("p", { class: "warning" }, "The program did not end by itself: this is what was seen until then.")),
  el("div", { class: "tools" }, downloads(data), themeToggle()));
}

/** Panels are drawn when they are first shown: a large matrix costs nobody who does not look at it. */
class Tabs {
  constructor(data) {
    this.shown = sections.filter((section) => section.available ? section.available(data) : data.patterns);
    this.data = data;
    this.tabs = this.shown.map((section, i) => button(section.title, () => this.visit(i), {
      role: "tab", id: `tab-${section.id}`, "aria-controls": `panel-${section.id}`, keydown: (event) => this.key(event, i) }));
    this.panels = this.shown.map((section) => el("div", { role: "tabpanel", id: `panel-${section.id}`, tabindex: "-1",
      "aria-labelledby": `tab-${section.id}`, class: "panel" }));
    this.list = el("div", { role: "tablist", "aria-label": "Views", class: "tabs" }, this.tabs);
  }

  fill(i) {
    const panel = this.panels[i];
    if (panel.childElementCount > 0) return;
    panel.append(el("h2", { class: "print-title" }, this.shown[i].title));
    panel.append(...this.shown[i].render(this.data).flat().filter((element) => element));
  }

  select(chosen) {
    this.tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === chosen));
      tab.tabIndex = i === chosen ? 0 : -1;
      this.panels[i].hidden = i !== chosen;
    });
    this.fill(chosen);
  }

  /** The address then leads to this view, for bookmarks and colleagues. */
  visit(chosen) {
    this.select(chosen);
    history.replaceState(null, "", `#${this.shown[chosen].id}`);
  }

  /** Of the view that the address asks for, or of the first. */
  get asked() {
    return Math.max(0, this.shown.findIndex((section) => `#${section.id}` === location.hash));
  }

  key(event, i) {
    const last = this.tabs.length - 1;
    const next = { ArrowRight: i === last ? 0 : i + 1, ArrowLeft: i === 0 ? last : i - 1, Home: 0, End: last }[event.key];
    if (next == null) return;
    event.preventDefault();
    this.visit(next);
    this.tabs[next].focus();
  }

  /** On paper all panels follow each other. */
  prepareForPrint() {
    this.panels.forEach((panel, i) => { panel.hidden = false; this.fill(i); });
  }
}

async function start() {
  const root = document.getElementById("report");
  try {
    const data = await loadData();
    document.documentElement.dataset.theme = preferredTheme();
    const tabs = new Tabs(data);
    root.replaceChildren(header(data), el("nav", {}, tabs.list), el("main", {}, tabs.panels));
    tabs.select(tabs.asked);
    let before = 0;
    addEventListener("beforeprint", () => { before = tabs.tabs.findIndex((t) => t.tabIndex === 0); tabs.prepareForPrint(); });
    addEventListener("afterprint", () => tabs.select(before));
    root.dataset.ready = "true";
  } catch (error) {
    root.replaceChildren(el("p", { class: "warning card" }, `This report cannot be shown: ${error.message}.`));
    console.error(error);
  }
}

start();
