/** Limits as people say them. */
import type { Limit } from '../../api/types/mill.ts'
import { number, plural, span } from '../../kit/format.ts'

/** "6 per 1 min, burst 6"; "5 at once" */
export function limitWords(settings: Limit['settings']): string {
  if (settings.type === 'concurrency') return `${number(settings.most)} at once`
  const { amount, perMs, burst } = settings
  return `${number(amount)} per ${span(perMs)}, burst ${number(burst)}`
}

export const unitOf = ({ type }: Limit['settings']): string => (type === 'rate' ? 'token' : 'permit')

export const mostOf = (settings: Limit['settings']): number =>
  settings.type === 'rate' ? settings.burst : settings.most

/** "3 tokens can be taken now" */
export function availableWords({ available, settings }: Limit): string {
  return `${plural(available, unitOf(settings))} can be taken now`
}
