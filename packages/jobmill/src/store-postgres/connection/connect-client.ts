/**
 * Connects a client. Calls a password function here instead of in the driver, which would blame the address
 * or hang if the function fails.
 */
import type pg from 'pg'
import { JobmillError } from '../../job/errors.ts'
import type { Platform } from '../../platform/platform.ts'
import { within } from '../../platform/within.ts'

export interface ConnectOptions {
  readonly platform: Platform
  /** Time limit of the password function. */
  readonly waitMs: number
  /** Checked after the password is known (default: always wanted). */
  readonly isWanted?: () => boolean
}

export async function connectClient(client: pg.Client, options: ConnectOptions): Promise<void> {
  const asked = client as unknown as { password: unknown }
  if (typeof asked.password === 'function') {
    asked.password = await passwordFrom(asked.password as () => unknown, options)
    if (options.isWanted?.() === false) throw new Error('the connection is no longer needed')
  }
  await client.connect()
}

/** True until the password function has answered. */
export function asksForPassword(client: pg.Client): boolean {
  return typeof (client as unknown as { readonly password: unknown }).password === 'function'
}

/** The error for a caller whose own deadline ends before that of the password function. */
export function passwordLate(waitMs: number): JobmillError {
  return passwordError(`the password function did not respond within ${waitMs} ms`, {})
}

async function passwordFrom(ask: () => unknown, { platform, waitMs }: ConnectOptions): Promise<string> {
  let answer: unknown
  try {
    answer = await within(platform, waitMs, 'it', Promise.resolve().then(ask))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw passwordError(`the password function failed: ${why}`, { cause })
  }
  if (typeof answer === 'string') return answer
  throw passwordError('the password function did not return a string', {
    // Does not show the value, which may be the password as a number.
    value: answer === null ? 'null' : typeof answer,
    fix: 'Return the password as a string or a promise of one. The next connection calls the function again',
  })
}

function passwordError(
  what: string,
  details: { readonly cause?: unknown; readonly value?: string; readonly fix?: string },
): JobmillError {
  return new JobmillError('STORE_UNAVAILABLE', what, {
    field: 'password',
    fix: 'Check what the function calls, such as the secret store. The next connection calls the function again',
    ...details,
  })
}
