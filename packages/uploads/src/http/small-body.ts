/** Reads a small or empty JSON body. */
import type { Platform } from 'jobmill'
import { Refusal } from '../refusal.ts'

const MOST_BYTES = 4_096
const LONGEST_MS = 10_000

/** Reads a JSON object of at most 4,096 bytes. Null for an empty body. */
export async function smallBody(
  request: Request,
  platform: Platform,
): Promise<Record<string, unknown> | null> {
  const text = await textOf(request, platform)
  if (text.trim() === '') return null
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw notAnObject(error)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject()
  return value as Record<string, unknown>
}

async function textOf(request: Request, platform: Platform): Promise<string> {
  const body = request.body as ReadableStream<Uint8Array> | null
  if (body === null) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = body.getReader()
  let isLate = false
  const end = (): void => void reader.cancel().catch(() => {})
  const timer = platform.timer(LONGEST_MS, () => ((isLate = true), end()), { unref: true })
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw notAnObject(error)
      })
      if (isLate) throw new Refusal('TOO_SLOW', { fix: 'Send the body without delay' })
      if (done) return Buffer.concat(chunks).toString()
      size += value.length
      if (size > MOST_BYTES) {
        end()
        throw new Refusal('REQUEST_TOO_LARGE', {
          fix: `Send a JSON object of at most ${MOST_BYTES} bytes`,
          file: null,
          size,
          max: MOST_BYTES,
        })
      }
      chunks.push(value)
    }
  } finally {
    timer.cancel()
  }
}

function notAnObject(cause?: unknown): Refusal {
  return new Refusal(
    'BODY_INVALID',
    { detail: 'the body is not a JSON object', fix: 'Send a JSON object such as {}, or no body' },
    cause,
  )
}
