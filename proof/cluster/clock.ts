/** The clock that compares the records of several processes. */

/**
 * Milliseconds of the machine's monotonic clock, which all processes share. Wall clock steps do not affect
 * it.
 */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
