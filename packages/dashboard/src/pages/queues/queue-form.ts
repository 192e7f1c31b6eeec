/** The state of the queue form: its text, its problems and its changes. */
import type { Body, Queue } from '../../api/types.ts'
import { durationError, durationText, FOREVER, parseDuration } from '../../kit/forms/duration.ts'
import {
  limitsFieldOf,
  type LimitsDraft,
  limitsChangeOf,
  limitsDraftOf,
  limitsWrongIn,
  numberText,
} from './groups/group-form.ts'

export interface Draft extends LimitsDraft {
  readonly workers: string
  readonly limit: string
  /** Empty: no target. */
  readonly targetLatencyMs: string
  readonly groupFair: boolean
  readonly backoffEnabled: boolean
  readonly backoffBaseMs: string
  readonly backoffMaxMs: string
  readonly retainDoneMs: string
  readonly retainCancelledMs: string
  readonly retainDeadMs: string
  readonly keepDone: string
  readonly keepCancelled: string
  readonly keepDead: string
}

export type Wrong = Readonly<Partial<Record<keyof Draft, string>>>

export function draftOf(settings: Queue): Draft {
  return {
    workers: numberText(settings.workers),
    limit: settings.limit ?? '',
    targetLatencyMs: settings.targetLatencyMs === null ? '' : durationText(settings.targetLatencyMs),
    groupFair: settings.groupFair,
    ...limitsDraftOf(settings),
    backoffEnabled: settings.backoffEnabled,
    backoffBaseMs: durationText(settings.backoffBaseMs),
    backoffMaxMs: durationText(settings.backoffMaxMs),
    retainDoneMs: durationText(settings.retainDoneMs),
    retainCancelledMs: durationText(settings.retainCancelledMs),
    retainDeadMs: durationText(settings.retainDeadMs),
    keepDone: numberText(settings.keepDone),
    keepCancelled: numberText(settings.keepCancelled),
    keepDead: numberText(settings.keepDead),
  }
}

const MOST_WORKERS = 10_000
const MOST_KEPT = 10_000_000
export const RETAINED = [
  ['done', 'retainDoneMs', 'keepDone'],
  ['cancelled', 'retainCancelledMs', 'keepCancelled'],
  ['dead', 'retainDeadMs', 'keepDead'],
] as const

function wholeError(text: string, most: number): string | undefined {
  if (text.trim() === '') return undefined
  if (!/^\d+$/.test(text.trim())) return 'Enter a whole number of 0 or more, or leave blank.'
  return Number(text) > most ? `The maximum is ${most.toLocaleString('en')}.` : undefined
}

export function wrongIn(draft: Draft): Wrong {
  const base = parseDuration(draft.backoffBaseMs)
  const max = parseDuration(draft.backoffMaxMs)
  const found: Record<string, string | undefined> = {
    workers: wholeError(draft.workers, MOST_WORKERS),
    targetLatencyMs: draft.targetLatencyMs.trim() === '' ? undefined : durationError(draft.targetLatencyMs),
    backoffBaseMs:
      durationError(draft.backoffBaseMs) ??
      (base !== null && max !== null && base > max
        ? 'The initial backoff is longer than the maximum.'
        : undefined),
    backoffMaxMs: durationError(draft.backoffMaxMs),
    ...limitsWrongIn(draft),
  }
  for (const [, age, number] of RETAINED) {
    found[age] = durationError(draft[age], { orForever: true })
    found[number] = wholeError(draft[number], MOST_KEPT)
  }
  return Object.fromEntries(Object.entries(found).filter(([, error]) => error !== undefined))
}

const whole = (text: string): number | null => (text.trim() === '' ? null : Number(text))
const age = (text: string): number | string =>
  text.trim() === FOREVER ? FOREVER : (parseDuration(text) ?? FOREVER)

/** The body of PATCH /api/queues/{name}: only what changed. The form must be valid. */
export function changeOf(before: Queue, draft: Draft): Body<'queues.change'> {
  const was = draftOf(before)
  const differs = (key: keyof Draft): boolean => was[key] !== draft[key]
  // Sent together, because each is validated against the other.
  const isBackoff = differs('backoffBaseMs') || differs('backoffMaxMs')
  const backoff = {
    ...(differs('backoffEnabled') && { enabled: draft.backoffEnabled }),
    ...(isBackoff && { base: age(draft.backoffBaseMs), max: age(draft.backoffMaxMs) }),
  }
  const groups = {
    ...(differs('groupFair') && { fair: draft.groupFair }),
    ...limitsChangeOf(was, draft),
  }
  const retain = Object.fromEntries(
    RETAINED.flatMap(([state, ageKey, numberKey]) => {
      const kept = {
        ...(differs(ageKey) && { for: age(draft[ageKey]) }),
        ...(differs(numberKey) && { most: whole(draft[numberKey]) }),
      }
      return Object.keys(kept).length === 0 ? [] : [[state, kept]]
    }),
  )
  return {
    ...(differs('workers') && { workers: whole(draft.workers) }),
    ...(differs('limit') && { limit: draft.limit === '' ? null : draft.limit }),
    ...(differs('targetLatencyMs') && { targetLatency: parseDuration(draft.targetLatencyMs) }),
    ...(Object.keys(groups).length > 0 && { groups }),
    ...(Object.keys(backoff).length > 0 && { backoff }),
    ...(Object.keys(retain).length > 0 && { retain }),
  }
}

/** The form field that a problem of the server is about, such as `queue.retain.done.for`. */
export function fieldOf(path: string | undefined): keyof Draft | undefined {
  const parts = (path ?? '').split('.').filter((part) => part !== 'queue')
  const [first, second, third] = parts
  if (first === 'groups') return limitsFieldOf(second) ?? 'groupFair'
  if (first === 'workers' || first === 'limit') return first
  if (first === 'targetLatency') return 'targetLatencyMs'
  if (first === 'backoff') return second === 'max' ? 'backoffMaxMs' : 'backoffBaseMs'
  const kept = first === 'retain' ? RETAINED.find(([state]) => state === second) : undefined
  return kept === undefined ? undefined : kept[third === 'most' ? 2 : 1]
}
