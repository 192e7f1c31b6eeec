/** What time it is for the server: a device whose clock is wrong must not decide what is late, or which jobs are old. */

/** Its answers tell the time by the second. What differs by less is the way they took. */
const NOTICED_MS = 3_000

let aheadMs = 0

/** The header `date` of an answer that has just come. */
export function heardDate(date: string | null): void {
  const told = Date.parse(date ?? '')
  if (Number.isNaN(told)) return
  // In the middle of its second.
  const ahead = told + 500 - Date.now()
  if (Math.abs(ahead - aheadMs) > NOTICED_MS) aheadMs = Math.abs(ahead) > NOTICED_MS ? ahead : 0
}

export const serverNow = (): number => Date.now() + aheadMs

/** What was noted by the clock of this device, by that of the server. */
export const serverTime = (at: number): number => at + aheadMs
