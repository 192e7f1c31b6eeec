/** Whether the backlog of a queue drains or grows, from its rates. */

/** What happens to the ready jobs of a queue if its rates stay the same. */
export type Forecast =
  | { readonly trend: 'empty' | 'steady' }
  /** No ready job is left after this time. */
  | { readonly trend: 'drains'; readonly inMs: number }
  /** Jobs per second. */
  | { readonly trend: 'grows'; readonly perSecond: number }

export interface Rates {
  readonly ready: number
  readonly inPerSecond: number
  readonly outPerSecond: number
}

/** Rates within this share of each other are equal: they are measured over a minute. */
const NOISE = 0.05
/** Less than one job in ten minutes. */
const LEAST_PER_SECOND = 1 / 600

export function forecastOf({ ready, inPerSecond, outPerSecond }: Rates): Forecast {
  // A queue without ready jobs keeps up, whatever its rates: jobs may be enqueued for later.
  if (ready === 0) return { trend: 'empty' }
  const perSecond = inPerSecond - outPerSecond
  const noise = Math.max(LEAST_PER_SECOND, NOISE * Math.max(inPerSecond, outPerSecond))
  if (Math.abs(perSecond) <= noise) return { trend: 'steady' }
  return perSecond > 0
    ? { trend: 'grows', perSecond }
    : { trend: 'drains', inMs: Math.ceil(ready / -perSecond) * 1_000 }
}
