// Sums of layers over a square block of the rank x rank matrix.

/** Calls visit(source, destination, messages, bytes) for each entry of the layers. */
export function eachPair(layers, visit) {
  for (const layer of layers) {
    for (const { source, destinations, messages, bytes } of layer.rows) {
      for (let i = 0; i < destinations.length; ++i) visit(source, destinations[i], messages[i], bytes[i]);
    }
  }
}

/** Entries of several layers, those of the same pair added up: [[source, destination, messages, bytes]]. */
export function pairList(layers, ranks) {
  const sums = new Map();
  eachPair(layers, (source, destination, messages, bytes) => {
    const key = source * ranks + destination;
    const sum = sums.get(key);
    if (sum) { sum[2] += messages; sum[3] += bytes; }
    else sums.set(key, [source, destination, messages, bytes]);
  });
  return [...sums.values()];
}

/**
 * The block of `span` x `span` ranks from (row, column) on, in at most `most` x `most` cells of factor x factor
 * ranks each. `messages` and `bytes` go row by row; `sent...` and `received...` are sums over all ranks, per row or
 * column of the block.
 */
export function gridOf(layers, { row, column, span }, most) {
  const factor = Math.ceil(span / most);
  const cells = Math.ceil(span / factor);
  const grid = { row, column, span, factor, cells, messages: new Float64Array(cells * cells), bytes: new Float64Array(cells * cells),
    sentMessages: new Float64Array(cells), sentBytes: new Float64Array(cells),
    receivedMessages: new Float64Array(cells), receivedBytes: new Float64Array(cells) };
  eachPair(layers, (source, destination, messages, bytes) => {
    const r = source >= row && source < row + span ? Math.floor((source - row) / factor) : -1;
    const c = destination >= column && destination < column + span ? Math.floor((destination - column) / factor) : -1;
    if (r >= 0) { grid.sentMessages[r] += messages; grid.sentBytes[r] += bytes; }
    if (c >= 0) { grid.receivedMessages[c] += messages; grid.receivedBytes[c] += bytes; }
    if (r >= 0 && c >= 0) { grid.messages[r * cells + c] += messages; grid.bytes[r * cells + c] += bytes; }
  });
  return grid;
}
