/** What becomes of the backlog of a queue, in words. */
import type { Forecast } from '../../../api/types.ts'
import { rate, span } from '../../../kit/text/format.ts'

const MINUTE = 60_000

export function forecastWords(forecast: Forecast): string {
  if (forecast.trend === 'grows') return `grows ${rate(forecast.perSecond)}`
  if (forecast.trend === 'drains') {
    const { inMs } = forecast
    // Above a minute, seconds do not matter.
    return `drains in ${span(inMs < MINUTE ? inMs : inMs - (inMs % MINUTE))}`
  }
  return forecast.trend === 'steady' ? 'steady' : 'no backlog'
}

/** The most urgent first: growing by its rate, steady, draining by its time, and no backlog. */
export function forecastRank(forecast: Forecast): number {
  if (forecast.trend === 'grows') return 2 + forecast.perSecond
  if (forecast.trend === 'steady') return 2
  return forecast.trend === 'drains' ? 1 + forecast.inMs / (forecast.inMs + MINUTE) : 0
}
