/** The state of the form of an alert rule: its text, its problems and the request. */
import type { Alert, CheckName } from '../../../api/types.ts'
import { durationError, durationText } from '../../../kit/forms/duration.ts'

export interface Draft {
  readonly name: string
  /** Empty: every check. */
  readonly checks: readonly CheckName[]
  readonly queue: string
  readonly kind: string
  readonly url: string
  /** Empty: unchanged. */
  readonly secret: string
  readonly for: string
  readonly coolFor: string
  readonly recovery: boolean
}

export type Wrong = Readonly<Partial<Record<keyof Draft, string>>>

export const NEW: Draft = {
  name: '',
  checks: ['failing', 'dead', 'served', 'waiting'],
  queue: '',
  kind: '',
  url: '',
  secret: '',
  for: '0s',
  coolFor: '1h',
  recovery: true,
}

export function draftOf({ name, checks, queue, kind, url, forMs, coolDownMs, recovery }: Alert): Draft {
  return {
    name,
    checks: checks ?? [],
    queue: queue ?? '',
    kind: kind ?? '',
    url,
    secret: '',
    for: durationText(forMs),
    coolFor: durationText(coolDownMs),
    recovery,
  }
}

const LONGEST_NAME = 128
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]*$/
const SECRET = /^whsec_[A-Za-z0-9+/]+={0,2}$/
const SHORTEST_MS = 10_000

export function wrongIn(draft: Draft, isNew: boolean): Wrong {
  const isName = NAME.test(draft.name) && draft.name.length <= LONGEST_NAME
  const found: Record<string, string | undefined> = {
    name: isName ? undefined : 'Use letters, digits and . _ : / - and start with a letter or digit.',
    url: /^https?:\/\/[^/]/i.test(draft.url.trim()) ? undefined : 'Enter an http or https URL.',
    secret: secretError(draft.secret.trim(), isNew),
    for: durationError(draft.for),
    coolFor: durationError(draft.coolFor, { leastMs: SHORTEST_MS }),
  }
  return Object.fromEntries(Object.entries(found).filter(([, error]) => error !== undefined))
}

function secretError(secret: string, isNew: boolean): string | undefined {
  if (secret === '') return isNew ? 'Enter a secret, or generate one.' : undefined
  return SECRET.test(secret) ? undefined : 'Enter whsec_ and 24 to 64 bytes in base64.'
}

/** The changed options. For a new rule, all of them. */
export function changeOf(before: Draft | null, draft: Draft): Record<string, unknown> {
  const all: Record<string, unknown> = {
    checks: draft.checks.length === 0 ? null : draft.checks,
    queue: draft.queue.trim() === '' ? null : draft.queue.trim(),
    kind: draft.kind.trim() === '' ? null : draft.kind.trim(),
    url: draft.url.trim(),
    secret: draft.secret.trim(),
    for: draft.for.trim(),
    coolFor: draft.coolFor.trim(),
    recovery: draft.recovery,
  }
  const isChanged = (field: string): boolean =>
    before === null ||
    JSON.stringify(before[field as keyof Draft]) !== JSON.stringify(draft[field as keyof Draft])
  return Object.fromEntries(
    Object.entries(all).flatMap(([field, value]) =>
      isChanged(field) ? [[field === 'checks' ? 'check' : field, value]] : [],
    ),
  )
}

/** The form field that a problem of the server is about. */
export function fieldOf(path: string | undefined): keyof Draft | undefined {
  const [field = ''] = (path ?? '').split('.')
  if (field === 'check') return 'checks'
  return Object.hasOwn(NEW, field) ? (field as keyof Draft) : undefined
}

const SECRET_BYTES = 32

/** A new secret of 32 random bytes. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
  return `whsec_${btoa(String.fromCharCode(...bytes))}`
}
