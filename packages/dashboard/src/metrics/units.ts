/** Formats the values of one chart in one unit, so that its axis is readable. */
import { compact, span } from '../kit/text/format.ts'

const RATES = [
  ['s', 1],
  ['min', 60],
  ['h', 3_600],
] as const

/** `most` is the highest rate per second in the chart. */
export function ratesLike(most: number): (perSecond: number) => string {
  const [unit, times] = most === 0 ? RATES[0] : (RATES.find((rate) => most * rate[1] >= 0.5) ?? RATES[2])
  return (perSecond) => `${few(perSecond * times)}/${unit}`
}

export const jobs = (n: number): string => `${few(n)} ${n === 1 ? 'job' : 'jobs'}`

export const milliseconds = (ms: number): string => (ms === 0 ? '0 ms' : span(ms))

/** 0.04, 0.3, 2.5, 12, 12.3K */
function few(n: number): string {
  if (n === 0 || n >= 10) return compact(Math.round(n))
  return n >= 0.1 ? n.toFixed(1).replace(/\.0$/, '') : n.toFixed(2)
}
