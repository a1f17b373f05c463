// The documents in the page: patterns (of a run, always), and others where there are; or guidelines.

const KNOWN = { patterns: "nplus1-patterns", summary: "nplus1-summary", timeline: "nplus1-timeline", sweep: "nplus1-sweep",
  waitstates: "nplus1-waitstates", whatif: "nplus1-whatif", fixes: "nplus1-whatif-sweep", after: "nplus1-timeline",
  guidelines: "nplus1-guidelines", collectives: "nplus1-collectives", overlap: "nplus1-overlap",
  links: "nplus1-links", clock: "nplus1-clock" };
const NEWEST = 1;

async function inflate(base64) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser cannot unpack the data: use Chromium 80, Firefox 113, Safari 16.4 or newer");
  }
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

function checkSchema(name, document) {
  const [schema, version] = String(document.schema).split("/");
  if (schema !== KNOWN[name] || !(Number(version) <= NEWEST)) {
    throw new Error(`the ${name} in this page are of schema ${document.schema}, which it cannot show`);
  }
}

async function loadDocument(name) {
  const element = document.getElementById(`data-${name}`);
  if (!element) return null;
  const packed = element.dataset.encoding === "deflate";
  const text = packed ? await inflate(element.textContent.trim()) : element.textContent;
  const parsed = JSON.parse(text);
  checkSchema(name, parsed);
  return parsed;
}

/** { patterns, summary, timeline, sweep, waitstates, whatif, fixes, after (the timeline under a hypothesis), guidelines, collectives, overlap, links, clock }, each null if it is not in the page. */
export async function loadData() {
  const names = Object.keys(KNOWN);
  const documents = await Promise.all(names.map(loadDocument));
  const data = Object.fromEntries(names.map((name, i) => [name, documents[i]]));
  if (!data.patterns && !data.guidelines) throw new Error("there are no patterns in this page");
  return data;
}

/** At most `most` groups of ranks that follow each other: [{ from, to }], to is past the last. */
export function rankGroups(ranks, most) {
  const size = Math.max(1, Math.ceil(ranks / most));
  const groups = [];
  for (let from = 0; from < ranks; from += size) groups.push({ from, to: Math.min(ranks, from + size) });
  return groups;
}

export function meanOf(column, { from, to }) {
  let sum = 0;
  for (let i = from; i < to; ++i) sum += column[i];
  return sum / (to - from);
}

export const layerLabel = (name) => name.replace(/_/g, " ").replace(/^./, (c) => c.toUpperCase()).replace("Point to point", "Point-to-point").replace("One sided", "One-sided");

/** The sums of what goes between windows: null if there is nothing. */
export function oneSided(layers) {
  const between = layers.filter(({ name }) => name.startsWith("one_sided_"));
  const sum = (key) => between.reduce((all, layer) => all + layer[key], 0);
  return between.length > 0 ? { transfers: sum("messages"), bytes: sum("bytes") } : null;
}

/** What a change is ranked by: of a balance, what rank or step have every time; the rest comes and goes. */
export const worth = (candidate) => candidate.systematic_s ?? candidate.saved_s;

/** A saving as a share of the run; 0 for a run that takes no time. */
export function shareOf(seconds, { before }) {
  return before.virtual_time_s > 0 ? seconds / before.virtual_time_s : 0;
}

/** What the run's times are: natively counted ones are real. */
export function timeName(patterns) {
  return patterns.clock === "real" ? "real time" : "virtual time";
}

/** The interval of the run's virtual time: { from, to } in nine cases of ten, and its ends; null where it is not known. The
 * page's times must be of that clock: those as measured have no interval. */
export function intervalOf({ clock, patterns }) {
  if (!clock || Math.abs(clock.virtual_time_s - patterns.virtual_time_s) > 1e-6 * clock.virtual_time_s) return null;
  return { lowest: clock.lowest_s, from: clock.from_s, to: clock.to_s, highest: clock.measured_s };
}

export const shareOfRun = (candidate, fixes) => shareOf(worth(candidate), fixes);
