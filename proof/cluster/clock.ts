/** The clock by which this proof compares what several processes wrote down. */

/** Milliseconds of the machine's monotonic clock, the same in every process; a step of the wall clock does not move it. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
