/** A job that is about to be written: checked, complete, JSON already text. Made by `prepareJobs`, and by `onDeadJob`. */

export interface NewJob {
  /** Minted by the caller's process before the write, so that a repeated write is recognised. */
  readonly id: string
  readonly kind: string
  readonly queue: string
  /** JSON text. */
  readonly payload: string
  /** Lower runs first. */
  readonly priority: number
  readonly maxAttempts: number
  /** An instant that the user named, or null: then `delayMs` from the database's now. */
  readonly dueAt: number | null
  readonly delayMs: number
  readonly timeoutMs: number | null
  readonly tags: readonly string[]
  /** JSON text of an object that travels with the job and is never searched, or null. */
  readonly metadata: string | null
  readonly dedupe: Dedupe | null
  /** Jobs of one queue that share this key run one at a time, in their order. */
  readonly orderKey: string | null
  /** In front of all that wait in the line of its order key, behind others that are: what has to happen before any of them goes on. */
  readonly first?: boolean
}

/** How far in front of all other places those of `first` are: they rise like them, and never meet them. */
export const FIRST_PLACES = 2 ** 52

export const DEDUPE_SCOPES = ['global', 'queue', 'kind'] as const
export type DedupeScope = (typeof DEDUPE_SCOPES)[number]

/** After which ends a key is held on: when its job is done, or however it ended. */
export const HOLDS_AFTER = ['done', 'ended'] as const
export type HoldAfter = (typeof HOLDS_AFTER)[number]

export interface Dedupe {
  /** The key with its scope written in front, as it is kept. */
  readonly key: string
  /** How long the key stays held after the job is done, or has ended. */
  readonly holdMs: number
  readonly holdAfter: HoldAfter
  /** What a new job does to the one that holds its key. */
  readonly onConflict: 'keep' | 'replace'
}

/** Names have no spaces, so the scope and the name can always be told from the key. */
export function scopedKey(
  scope: DedupeScope,
  key: string,
  { queue, kind }: { queue: string; kind: string },
): string {
  if (scope === 'global') return `global ${key}`
  return scope === 'queue' ? `queue ${queue} ${key}` : `kind ${kind} ${key}`
}
