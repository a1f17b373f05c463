// Numbers for people: three significant digits, units that fit, thousands apart.

const TIME_UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"], [1e-12, "ps"]];
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const COUNT_UNITS = [[1e12, "T"], [1e9, "G"], [1e6, "M"]];

function threeDigits(value) {
  if (value === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)) + 1e-12));
  const text = value.toFixed(Math.min(digits, 6));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** "1.98 ms" for 0.00198 s. */
export function formatTime(seconds) {
  if (seconds == null || !isFinite(seconds)) return "–";
  if (seconds === 0) return "0 s";
  const size = Math.abs(seconds) * 1.0005;
  const [unit, name] = TIME_UNITS.find(([u]) => size >= u) || TIME_UNITS[TIME_UNITS.length - 1];
  return `${threeDigits(seconds / unit)} ${name}`;
}

/** "64 KiB" for 65536. */
export function formatBytes(bytes) {
  if (bytes == null || !isFinite(bytes)) return "–";
  let unit = 0;
  let value = bytes;
  while (Math.abs(value) >= 1023.5 && unit + 1 < BYTE_UNITS.length) {
    value /= 1024;
    ++unit;
  }
  return `${threeDigits(value)} ${BYTE_UNITS[unit]}`;
}

/** "12,345", and "1.23 M" from a million on. */
export function formatCount(count) {
  if (count == null || !isFinite(count)) return "–";
  const large = COUNT_UNITS.find(([u]) => Math.abs(count) >= u);
  if (large) return `${threeDigits(count / large[0])} ${large[1]}`;
  return Number.isInteger(count) ? formatExact(count) : threeDigits(count);
}

/** All digits, thousands apart. */
export function formatExact(count) {
  return count == null ? "–" : String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function formatShare(part, whole = 1) {
  if (!(whole > 0)) return "–";
  const percent = 100 * part / whole;
  return `${percent > 0 && percent < 0.1 ? "< 0.1" : percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

/** "1 message", "416 messages". */
export function plural(count, noun) {
  return `${formatExact(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** "rank 3" or "ranks 8–15" for the ranks from..to-1. */
export function rankRange(from, to) {
  return to - from <= 1 ? `rank ${from}` : `ranks ${from}–${to - 1}`;
}

/** The first of 1, 2, 4, 5, 8 ... that is at least `step`: ranks are labelled so. */
export function niceStep(step) {
  const steps = [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 512, 1024];
  return steps.find((s) => s >= step) || Math.ceil(step / 1024) * 1024;
}

/** ", called from solver.c:40, from line 71": from where a call path came; a file is named once. */
export function formatCallers(frames) {
  return frames.slice(1).filter((f) => f.file).map((f, i) => `, ${i === 0 ? "called from" : "from"} ${
    f.file === frames[i].file ? `line ${f.line}` : `${f.file.replace(/^.*\//, "")}:${f.line}`}`).join("");
}

/** "solver.c:42", or what else is known of a frame; `full` keeps the folders. */
export function formatPlace(frame, full = false) {
  if (!frame) return "";
  const base = (path) => full ? path : path.replace(/^.*\//, "");
  if (frame.file) return `${base(frame.file)}:${frame.line}`;
  return frame.module ? `${base(frame.module)}+0x${frame.offset.toString(16)}` : "";
}
