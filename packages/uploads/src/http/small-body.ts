/** A JSON body of a few bytes, or none. */
import { Refusal } from '../refusal.ts'

const MOST_BYTES = 4_096

/** Null for none. */
export async function smallBody(request: Request): Promise<Record<string, unknown> | null> {
  const text = await textOf(request)
  if (text.trim() === '') return null
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw notThat(error)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notThat()
  return value as Record<string, unknown>
}

async function textOf(request: Request): Promise<string> {
  const body = request.body as ReadableStream<Uint8Array> | null
  if (body === null) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw notThat(error)
    })
    if (done) return Buffer.concat(chunks).toString()
    size += value.length
    if (size > MOST_BYTES) {
      reader.cancel().catch(() => {})
      throw new Refusal('REQUEST_TOO_LARGE', {
        fix: 'Send a small JSON object',
        file: null,
        size: null,
        max: MOST_BYTES,
      })
    }
    chunks.push(value)
  }
}

function notThat(cause?: unknown): Refusal {
  return new Refusal(
    'BODY_INVALID',
    { detail: 'the body is not a JSON object', fix: 'Send {} or nothing' },
    cause,
  )
}
