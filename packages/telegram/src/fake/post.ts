/** Posts one update to a webhook. Never rejects: every outcome is a value. */
import http from 'node:http'
import https from 'node:https'
import type { WebhookSettings } from './bot.ts'

export interface Posted {
  readonly status: number | null
  /** The error in the words of getWebhookInfo; null for 200–299. */
  readonly error: string | null
  /** 0 if the response did not ask for a wait. */
  readonly retryAfterS: number
}

const MAX_ANSWER_BYTES = 1024 * 1024
const MAX_RETRY_AFTER_S = 3_600
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Connection refused',
  ECONNRESET: 'Connection reset by peer',
  ETIMEDOUT: 'Connection timed out',
  ENOTFOUND: 'Failed to resolve host: Name or service not known',
}

export function poster({ url, secret }: WebhookSettings, timeoutMs: number) {
  const { request, Agent } = url.startsWith('https:') ? https : http
  const agent = new Agent({ keepAlive: true })
  const underWay = new Set<http.ClientRequest>()

  function post(body: string): Promise<Posted> {
    const { promise, resolve } = Promise.withResolvers<Posted>()
    let problem: string | null = null
    const sent = request(url, {
      method: 'POST',
      agent,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        ...(secret === '' ? {} : { 'x-telegram-bot-api-secret-token': secret }),
      },
    })
    underWay.add(sent)
    const timer = setTimeout(() => {
      problem = 'Read timeout expired'
      sent.destroy()
    }, timeoutMs)
    sent.on('error', (error: NodeJS.ErrnoException) => {
      problem ??= WORDS[error.code ?? ''] ?? null
    })
    // `close` always comes last.
    sent.on('close', () =>
      resolve({ status: null, error: problem ?? 'Webhook connection closed', retryAfterS: 0 }),
    )
    sent.on('response', (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > MAX_ANSWER_BYTES) sent.destroy()
      })
      response.on('error', () => {})
      response.on('end', () => resolve(answered(response)))
    })
    sent.end(body)
    return promise.finally(() => {
      clearTimeout(timer)
      underWay.delete(sent)
    })
  }

  return {
    post,
    /** Also aborts requests in flight. */
    close: (): void => {
      for (const sent of underWay) sent.destroy()
      agent.destroy()
    },
  }
}

function answered({ statusCode: status = 0, statusMessage = '', headers }: http.IncomingMessage): Posted {
  const isTaken = status >= 200 && status <= 299
  const wait = Number(headers['retry-after'] ?? 0)
  return {
    status,
    error: isTaken ? null : `Wrong response from the webhook: ${status} ${statusMessage}`.trimEnd(),
    retryAfterS: Number.isInteger(wait) ? Math.min(Math.max(wait, 0), MAX_RETRY_AFTER_S) : 0,
  }
}
