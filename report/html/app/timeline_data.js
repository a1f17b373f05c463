// The timeline's rows (docs/formats/timeline.md) as arrays to search and to paint. Times are picoseconds.

export const ACTIVITIES = [
  { label: "computing", color: "--compute" }, { label: "send", color: "--mpi" }, { label: "receive or wait", color: "--waiting" },
  { label: "collective", color: "--collective" }, { label: "not modelled", color: "--unmodelled" }, { label: "never returned", color: "--stuck" }, { label: "file", color: "--file" }];

/** Row of exact intervals: begin and end of each, in order. */
function exactRow(row, origin) {
  const count = row.length_ps.length;
  const begin = new Float64Array(count);
  const end = new Float64Array(count);
  let time = origin;
  for (let i = 0; i < count; ++i) {
    begin[i] = time + row.gap_ps[i];
    time = end[i] = begin[i] + row.length_ps[i];
  }
  return { ...row, begin, end };
}

export class TimelineData {
  constructor(timeline) {
    Object.assign(this, { begin: timeline.begin_ps, end: Math.max(timeline.end_ps, timeline.begin_ps + 1), ranks: timeline.ranks,
      exact: timeline.detail === "intervals", binWidth: timeline.bin_ps, bins: timeline.bins, names: timeline.activities,
      calls: timeline.calls, messages: timeline.messages });
    this.rows = this.exact ? timeline.rows.map((row) => exactRow(row, timeline.begin_ps)) : timeline.rows;
    this.perRow = this.rows[0].ranks;
    this.columns = this.exact ? null : this.rows.map((row) => this.names.map((name) => row[name]));
  }

  rowOfRank(rank) { return this.exact ? rank : Math.floor(rank / this.perRow); }

  rowLabel(index) {
    const { first_rank: first, ranks, thread } = this.rows[index];
    if (ranks > 1) return `${first}–${first + ranks - 1}`;
    return thread ? `${first}.${thread}` : String(first);
  }

  /** Index of the first interval of a row that ends after `time`. */
  firstAfter(row, time) {
    let low = 0;
    let high = row.end.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row.end[middle] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Adds the picoseconds of each activity in each of `width` pixels between from and to: sums[6 * pixel + activity]. */
  accumulate(index, from, to, width, sums) {
    if (this.exact) this.accumulateExact(this.rows[index], from, to, width, sums);
    else this.accumulateBins(index, from, to, width, sums);
  }

  accumulateExact(row, from, to, width, sums) {
    const perPixel = (to - from) / width;
    let before = this.begin;
    const first = this.firstAfter(row, from);
    if (first > 0) before = row.end[first - 1];
    for (let i = first; i < row.begin.length && before < to; ++i) {
      spread(sums, before, row.begin[i], 0, from, perPixel, width);
      spread(sums, row.begin[i], row.end[i], row.activity[i], from, perPixel, width);
      before = row.end[i];
    }
    spread(sums, before, row.end_ps, 0, from, perPixel, width);
  }

  accumulateBins(index, from, to, width, sums) {
    const perPixel = (to - from) / width;
    const last = Math.min(this.bins - 1, Math.floor((to - this.begin) / this.binWidth));
    for (let bin = Math.max(0, Math.floor((from - this.begin) / this.binWidth)); bin <= last; ++bin) {
      const begin = this.begin + bin * this.binWidth;
      this.columns[index].forEach((column, activity) => {
        if (column[bin] > 0) spread(sums, begin, begin + this.binWidth, activity, from, perPixel, width, column[bin] / 1000);
      });
    }
  }

  /** What a row does at a time: { begin, end, activity, call, site } or { begin, end, shares }; null after its end. */
  at(index, time) {
    const row = this.rows[index];
    if (!this.exact) return this.binAt(index, time);
    if (time > row.end_ps || time < this.begin) return null;
    const i = this.firstAfter(row, time);
    if (i < row.begin.length && row.begin[i] <= time) return this.interval(row, i);
    return { begin: i > 0 ? row.end[i - 1] : this.begin, end: i < row.begin.length ? row.begin[i] : row.end_ps, activity: 0 };
  }

  interval(row, i) {
    return { begin: row.begin[i], end: row.end[i], activity: row.activity[i], call: this.calls[row.call[i]], site: row.site[i] };
  }

  binAt(index, time) {
    const bin = Math.floor((time - this.begin) / this.binWidth);
    if (bin < 0 || bin >= this.bins) return null;
    const begin = this.begin + bin * this.binWidth;
    return { begin, end: begin + this.binWidth, shares: this.columns[index].map((column) => column[bin] / 1000) };
  }
}

/** Adds begin..end to the pixels that it covers, times `weight`. */
function spread(sums, begin, end, activity, from, perPixel, width, weight = 1) {
  const low = Math.max(0, (begin - from) / perPixel);
  const high = Math.min(width, (end - from) / perPixel);
  for (let pixel = Math.floor(low); pixel < high; ++pixel) {
    sums[6 * pixel + activity] += weight * perPixel * (Math.min(high, pixel + 1) - Math.max(low, pixel));
  }
}
