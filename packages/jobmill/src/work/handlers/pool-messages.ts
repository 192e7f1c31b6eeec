/** The two JSON lines that a pool and a child exchange for each job. */
import type { JobContext } from '../../job/context.ts'
import { quote } from '../../job/errors.ts'
import { Dead, Throttled } from '../../job/attempt/thrown.ts'

const STATUSES = ['ok', 'error', 'throttled', 'dead'] as const

export interface Answer {
  readonly status: (typeof STATUSES)[number]
  readonly result?: unknown
  readonly message?: unknown
  readonly retryAfterMs?: number | null
  /** The same in seconds. `retryAfterMs` wins if both are set. */
  readonly retry_after_secs?: number | null
}

export function requestLine(id: string, { payload, job }: Pick<JobContext, 'payload' | 'job'>): string {
  const { id: jobId, kind, attempt, maxAttempts } = job
  return `${JSON.stringify({ id, payload, job: { id: jobId, kind, attempt, maxAttempts } })}\n`
}

/** Returns the answer, or what is wrong with it as the end of a sentence that starts with "the child". */
export function readAnswer(line: string, id: string): Answer | { readonly wrong: string } {
  const said = parsed(line)
  if (typeof said !== 'object' || said === null) {
    return { wrong: `responded with a line that is not a JSON object: ${quote(line)}` }
  }
  if (!('id' in said) || said.id === null) return { wrong: 'responded without an id' }
  if (said.id !== id) return { wrong: `responded with id ${quote(said.id)} instead of ${quote(id)}` }
  const status: unknown = 'status' in said ? said.status : undefined
  if (!STATUSES.some((one) => one === status)) {
    return { wrong: `responded with status ${quote(status)}, which is not one of ${STATUSES.join(', ')}` }
  }
  const answer = said as { readonly id: unknown } & Answer
  for (const name of ['retryAfterMs', 'retry_after_secs'] as const) {
    const wait: unknown = answer[name] ?? undefined
    if (wait !== undefined && typeof wait !== 'number')
      return { wrong: `responded with a ${name} that is not a number: ${quote(wait)}` }
  }
  return answer
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Converts the answer to the result of the job. */
export function resultOf({ status, result, message, ...waits }: Answer): unknown {
  const said = typeof message === 'string' && message !== '' ? message : 'the child gave no message'
  switch (status) {
    case 'ok':
      return result
    case 'error':
      throw new Error(said)
    case 'dead':
      throw new Dead(said)
    case 'throttled':
      throw new Throttled(waitOf(waits))
  }
}

function waitOf({ retryAfterMs, retry_after_secs: seconds }: Partial<Answer>): { retryAfter?: number } {
  const ms = retryAfterMs ?? (typeof seconds === 'number' ? Math.round(seconds * 1_000) : undefined)
  return ms === undefined ? {} : { retryAfter: ms }
}
