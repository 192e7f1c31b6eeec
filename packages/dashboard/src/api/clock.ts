/** The server's clock. A device whose clock is wrong must not decide what is late or how old a job is. */

/** The server reports its time in whole seconds. A smaller difference may be rounding or network delay. */
const NOTICED_MS = 3_000

let aheadMs = 0

/** Reads the `date` header of a response that has just arrived. */
export function noteServerDate(date: string | null): void {
  const reported = Date.parse(date ?? '')
  if (Number.isNaN(reported)) return
  // The header is truncated to seconds, so assume the middle of that second.
  const offset = reported + 500 - Date.now()
  if (Math.abs(offset - aheadMs) > NOTICED_MS) aheadMs = Math.abs(offset) > NOTICED_MS ? offset : 0
}

export const serverNow = (): number => Date.now() + aheadMs

/** Converts a time noted by this device's clock to the server's clock. */
export const serverTime = (at: number): number => at + aheadMs
