/** The built-in kind that sends one message of an alert rule to its webhook. */
import { ALERT_KIND } from '../../job/alert/rule.ts'
import { Dead } from '../../job/attempt/thrown.ts'
import type { JobContext } from '../../job/context.ts'
import { DEFAULTS } from '../../job/defaults.ts'
import { defineJob, type JobDefinition } from '../../job/kind/definition.ts'
import { VERSION } from '../../job/payload/version.ts'
import type { Platform } from '../../platform/platform.ts'
import type { FullStore } from '../../store/store.ts'
import { BULK_QUEUE } from '../operate/bulk/bulk-filter.ts'
import { createHmac } from 'node:crypto'
import { keyOf } from '../../job/alert/alert-options.ts'

/** The queue of all jobs of Jobmill itself. */
export const ALERT_QUEUE = BULK_QUEUE

/** Contains no secret: the handler reads the rule. */
export interface AlertPayload {
  readonly rule: string
  readonly id: string
  /** The body of the request, the same in every attempt. */
  readonly body: {
    readonly type: `jobmill.${string}`
    readonly timestamp: string
    readonly data: Readonly<Record<string, unknown>>
  }
}

export interface AlertResult {
  readonly sent: boolean
  /** The HTTP status of the response, or why nothing was sent. */
  readonly answer: number | string
}

interface AlertJobTools {
  readonly opened: () => Promise<Pick<FullStore, 'alerts'>>
  readonly platform: Platform
}

/** Statuses that say nothing about the message: the next attempt may succeed. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429])

export function alertJob({ opened, platform }: AlertJobTools): JobDefinition<AlertPayload, AlertResult> {
  return defineJob({
    kind: ALERT_KIND,
    queue: ALERT_QUEUE,
    maxAttempts: DEFAULTS.alertAttempts,
    timeout: 3 * DEFAULTS.alertTimeoutMs,
    async run({ payload, signal }: JobContext<AlertPayload>): Promise<AlertResult> {
      const { rule: name, id, body } = payload
      const record = (await (await opened()).alerts.list()).find((one) => one.name === name)
      if (record === undefined) return { sent: false, answer: 'the rule was deleted' }
      const { url, secrets } = record.rule
      const text = JSON.stringify(body)
      const headers = signedHeaders({ id, at: platform.now(), body: text }, secrets)
      const status = await post(platform, url, { headers, body: text, signal })
      if (status >= 200 && status < 300) return { sent: true, answer: status }
      const what = `the webhook ${hostOf(url)} responded with ${status}`
      if (status < 400) throw new Dead(`${what}. Redirects are not followed: set the final URL`)
      if (status < 500 && !TEMPORARY.has(status)) throw new Dead(what)
      throw new Error(what)
    },
  })
}

interface Request {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
}

/** Resolves with the status. No error shows more of the URL than its host. */
async function post(platform: Platform, url: string, { headers, body, signal }: Request): Promise<number> {
  const target = new URL(url)
  const { username, password } = target
  // fetch refuses a URL with a user name.
  const basic = Buffer.from(`${decoded(username)}:${decoded(password)}`)
  target.username = ''
  target.password = ''
  const late = new AbortController()
  const timer = platform.timer(DEFAULTS.alertTimeoutMs, () => late.abort())
  try {
    const response = await fetch(target, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([signal, late.signal]),
      headers: {
        ...headers,
        'content-type': 'application/json',
        'user-agent': `jobmill/${VERSION}`,
        ...(username + password !== '' && { authorization: `Basic ${basic.toString('base64')}` }),
      },
      body,
    })
    // Frees the connection. The body of the response does not matter.
    await response.body?.cancel()
    return response.status
  } catch (error) {
    signal.throwIfAborted()
    const why = late.signal.aborted ? `no response within ${DEFAULTS.alertTimeoutMs} ms` : reasonOf(error)
    // oxlint-disable-next-line preserve-caught-error -- a cause is stored too, and may quote the whole URL
    throw new Error(`the webhook ${target.host} cannot be reached: ${why}`)
  } finally {
    timer.cancel()
  }
}

/** The code of the cause: messages of fetch only say that it failed. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (typeof cause === 'object' && cause !== null && 'code' in cause) return String(cause.code)
  return cause instanceof Error ? cause.message : 'unknown error'
}

/** Unlike `decodeURIComponent`, accepts bytes that are not UTF-8. */
function decoded(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
  )
}

function hostOf(url: string): string {
  return new URL(url).host
}

/** The headers of Standard Webhooks: id, time of this attempt, and a signature for each secret. */
function signedHeaders(
  { id, at, body }: { readonly id: string; readonly at: number; readonly body: string },
  secrets: readonly string[],
): Record<string, string> {
  const seconds = Math.floor(at / 1_000)
  const signatures = secrets.flatMap((secret) => {
    const key = keyOf(secret)
    if (key === null) return []
    return [`v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`]
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  }
}
