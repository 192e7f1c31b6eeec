/** Prints what a day costs, and compares a bad day with a good one. */
import { PARTS, type Part, PER_CALL } from './costs.ts'
import type { TrafficName } from './days.ts'
import type { Measured } from './measure.ts'

export function textOf(measured: Measured): string {
  const parts = (Object.keys(PARTS) as Part[]).map((part) => {
    const { pages, ms } = measured[part]
    const time = PER_CALL.has(part) ? `${ms.toFixed(2)} ms` : `${(ms * 1_000).toFixed(0)} µs`
    return `${part} ${pages.toFixed(1)} (${time})`
  })
  const { usualPages, scanShare } = measured
  return `${parts.join('  ')}  claim index ${usualPages}  full scans ${(scanShare * 100).toFixed(1)}%`
}

const MOST_TIMES = 2
/** Added to the pages of a good day, which may be as few as four. */
const FEW_PAGES = 10
/** Full scans may use a twentieth of the time. Their cost per job therefore depends on the machine. */
const MOST_SHARE = 0.1

const pagesOfWrites = ({ finish, enqueue }: Measured): number => finish.pages + enqueue.pages
const pagesOfJob = (day: Measured): number => day.claim.pages + pagesOfWrites(day)

/** Compares a bad day with the good day of the same traffic. */
export function failures(bad: Measured, goodDay: Measured, traffic: TrafficName): string[] {
  const times: readonly (readonly [string, number])[] =
    traffic === 'bulk'
      ? [
          ['pages per job for claim', bad.claim.pages / goodDay.claim.pages],
          ['pages per job', pagesOfJob(bad) / pagesOfJob(goodDay)],
        ]
      : [
          ['pages of the claim index per claim', bad.usualPages / (goodDay.usualPages + FEW_PAGES)],
          ['pages per job for enqueue and finish', pagesOfWrites(bad) / pagesOfWrites(goodDay)],
        ]
  const tooMany = times.filter(([, n]) => !(n <= MOST_TIMES))
  return [
    ...tooMany.map(([what, n]) => `${what}: ${n.toFixed(1)} times a good day (at most ${MOST_TIMES})`),
    ...(bad.scanShare <= MOST_SHARE
      ? []
      : [`full scans use ${(bad.scanShare * 100).toFixed(1)}% of the time`]),
  ]
}
