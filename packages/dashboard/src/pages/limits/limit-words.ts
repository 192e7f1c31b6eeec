/** Describes limits in words. */
import type { Limit } from '../../api/types.ts'
import { number, plural, span } from '../../kit/text/format.ts'

/** "6 per 1 min, burst 6"; "1 per 1 s, burst 3, per key"; "5 concurrent" */
export function limitWords(settings: Limit['settings']): string {
  if (settings.type === 'concurrency') return `${number(settings.most)} concurrent`
  const { amount, perMs, burst } = settings
  const rate = `${number(amount)} per ${span(perMs)}, burst ${number(burst)}`
  return isPerKey(settings) ? `${rate}, per key` : rate
}

/** Whether each key has a budget of its own. */
export const isPerKey = (settings: Limit['settings']): boolean =>
  settings.type === 'rate' && settings.perKey === true

const COUNTED = 10_000

/** "3 keys in use" */
export function keysWords(keys: number): string {
  return `${plural(keys, 'key')}${keys >= COUNTED ? ' or more' : ''} in use`
}

export const unitOf = ({ type }: Limit['settings']): string => (type === 'rate' ? 'token' : 'permit')

export const mostOf = (settings: Limit['settings']): number =>
  settings.type === 'rate' ? settings.burst : settings.most

/** "3 tokens available" */
export function availableWords({ available, settings }: Limit): string {
  return `${plural(available, unitOf(settings))} available`
}
