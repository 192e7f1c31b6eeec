/** The state of the limit form: its text, its problems and the request. */
import type { Limit } from '../../api/types.ts'
import { durationError, durationText, parseDuration } from '../../kit/forms/duration.ts'

export interface Draft {
  readonly name: string
  readonly type: 'rate' | 'rate per key' | 'concurrency'
  readonly amount: string
  readonly per: string
  /** Empty: the tokens of one second. */
  readonly burst: string
  readonly most: string
}

export type Wrong = Readonly<Partial<Record<keyof Draft, string>>>

export const NEW: Draft = { name: '', type: 'rate', amount: '', per: '1m', burst: '', most: '' }

export function draftOf({ name, settings }: Limit): Draft {
  if (settings.type === 'concurrency')
    return { ...NEW, name, type: 'concurrency', most: String(settings.most) }
  const { amount, perMs, burst, perKey } = settings
  const type = perKey === true ? 'rate per key' : 'rate'
  const draft: Draft = { ...NEW, name, type, amount: String(amount), per: durationText(perMs) }
  return burst === burstOf(draft) ? draft : { ...draft, burst: String(burst) }
}

const MOST = 1_000_000
const LONGEST_NAME = 128
/** A shorter period is nearly always a wrong unit. */
const SHORTEST_PER_MS = 100
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]*$/

function wholeError(text: string): string | undefined {
  const isWhole = /^\d+$/.test(text.trim())
  return isWhole && Number(text) >= 1 && Number(text) <= MOST
    ? undefined
    : 'Enter a whole number from 1 to 1,000,000.'
}

function nameError(name: string): string | undefined {
  if (name === '') return 'Enter a name.'
  if (name.length > LONGEST_NAME) return 'Use at most 128 characters.'
  return NAME.test(name) ? undefined : 'Use letters, digits and . _ : / - and start with a letter or digit.'
}

export function wrongIn(draft: Draft): Wrong {
  const found: Record<string, string | undefined> = {
    name: nameError(draft.name),
    ...(draft.type === 'concurrency'
      ? { most: wholeError(draft.most) }
      : {
          amount: wholeError(draft.amount),
          per: durationError(draft.per, { leastMs: SHORTEST_PER_MS }),
          burst: draft.burst.trim() === '' ? undefined : wholeError(draft.burst),
        }),
  }
  return Object.fromEntries(Object.entries(found).filter(([, error]) => error !== undefined))
}

/** The whole limit without its name. The form must be valid. */
export function settingsOf(draft: Draft): Record<string, unknown> {
  if (draft.type === 'concurrency') return { concurrency: Number(draft.most) }
  return {
    rate: Number(draft.amount),
    per: parseDuration(draft.per),
    burst: draft.burst.trim() === '' ? burstOf(draft) : Number(draft.burst),
    ...(draft.type === 'rate per key' && { perKey: true }),
  }
}

/** Only the changed options: the others keep following the code. */
export function changeOf(before: Draft, draft: Draft): Record<string, unknown> {
  const all = settingsOf(draft)
  if (before.type !== draft.type) return all
  const isChanged = (option: string): boolean => {
    const field = FIELDS[option]
    return field !== undefined && before[field].trim() !== draft[field].trim()
  }
  return Object.fromEntries(Object.entries(all).filter(([option]) => isChanged(option)))
}

/** The tokens of one second, at least one: the server's default. */
export function burstOf({ amount, per }: Pick<Draft, 'amount' | 'per'>): number {
  return Math.max(1, Math.floor((Number(amount) * 1_000) / (parseDuration(per) ?? 1_000)))
}

const FIELDS: Readonly<Record<string, keyof Draft>> = {
  name: 'name',
  rate: 'amount',
  per: 'per',
  burst: 'burst',
  perKey: 'type',
  concurrency: 'most',
}

/** The form field that a problem of the server is about, such as `limit.rate`. */
export const fieldOf = (path: string | undefined): keyof Draft | undefined =>
  FIELDS[(path ?? '').split('.').at(-1) ?? '']
