/** HTTP client of the dashboard: one function, problems as errors, and the user's token. */
import { noteServerDate } from './clock.ts'
import { token } from './user/session.ts'
import type { ProblemBody } from './types.ts'

/** Base path of the dashboard, from its <base> element: `/` or `/ops/mill/`. */
export const BASE = new URL(document.baseURI).pathname

/** A failed request, with the code of the API and, where they help, the field and the fix. */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly field: string | undefined
  readonly fix: string | undefined
  /** Seconds after which the request may be retried. */
  readonly retryAfter: number | undefined

  constructor(status: number, said: Partial<ProblemBody>, retryAfter?: number) {
    super(said.detail ?? said.title ?? `The server responded with status ${status}`)
    this.name = 'Problem'
    this.status = status
    this.code = said.code ?? 'UNKNOWN'
    this.field = said.field
    this.fix = said.fix
    this.retryAfter = retryAfter
  }
}

/**
 * Tokens are in use only when the server reports one as missing or wrong. Otherwise the host application
 * signs users in.
 */
export function asksForToken({ code }: Problem): boolean {
  return code === 'TOKEN_MISSING' || code === 'TOKEN_UNKNOWN'
}

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** The URL of an API route. Undefined and empty values are omitted; lists are repeated. */
export function addressOf(path: string, query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue
    for (const one of Array.isArray(value) ? value : [value]) search.append(key, String(one))
  }
  const text = search.toString()
  return `${BASE}api/${path}${text === '' ? '' : `?${text}`}`
}

export function authHeaders(): Record<string, string> {
  const known = token()
  return known === null ? {} : { authorization: `Bearer ${known}` }
}

interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly query?: Query
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/**
 * `path` has no `/api/` prefix, and names in it must be encoded: `queues/${encodeURIComponent(name)}/pause`.
 */
export async function ask<T>(path: string, { method = 'GET', query, body, signal }: Asked = {}): Promise<T> {
  const response = await fetch(addressOf(path, query), {
    method,
    headers: { ...authHeaders(), ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error
    throw new Problem(0, { detail: "Can't reach the server", code: 'UNREACHABLE' })
  })
  noteServerDate(response.headers.get('date'))
  if (response.ok && response.status === 204) return undefined as T
  // The host application redirected to its login, which answers with HTML instead of JSON.
  if (response.ok && !isJson(response)) throw new Problem(401, { code: 'SIGN_IN_NEEDED' })
  if (response.ok) return (await response.json()) as T
  const said = (await response.json().catch(() => ({}))) as Partial<ProblemBody>
  throw new Problem(response.status, said, Number(response.headers.get('retry-after') ?? 'x') || undefined)
}

function isJson({ headers }: Response): boolean {
  return headers.get('content-type')?.includes('json') === true
}

/** Encodes a name for use in a URL. */
export const encodeName = encodeURIComponent
