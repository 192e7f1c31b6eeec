/** A call that Telegram answers with an error, in Telegram's words. */
import { STATUS_CODES } from 'node:http'
import type { FaultyAnswer } from './types.ts'

export class Refusal extends Error {
  readonly code: number
  readonly parameters: Readonly<Record<string, unknown>> | undefined

  constructor(code: number, description: string, parameters?: Readonly<Record<string, unknown>>) {
    super(description)
    this.code = code
    this.parameters = parameters
  }
}

export const badRequest = (what: string): Refusal => new Refusal(400, `Bad Request: ${what}`)

export const tooMany = (retryAfter: number): Refusal =>
  new Refusal(429, `Too Many Requests: retry after ${retryAfter}`, { retry_after: retryAfter })

/** The refusal that a test injected. */
export function refusalOf({ error, description, retryAfter, parameters }: FaultyAnswer): Refusal {
  const usual = retryAfter === undefined ? (STATUS_CODES[error] ?? 'Error') : tooMany(retryAfter).message
  const all = { ...(retryAfter === undefined ? {} : { retry_after: retryAfter }), ...parameters }
  return new Refusal(error, description ?? usual, Object.keys(all).length === 0 ? undefined : all)
}
