/** Milliseconds of CLOCK_MONOTONIC: the same in every process of a machine, unlike `performance.now()`. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
