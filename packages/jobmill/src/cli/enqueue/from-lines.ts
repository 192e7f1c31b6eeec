/**
 * Enqueues one job for each line, in batches. It stops at the first invalid line: all lines before it are
 * written, none after it, so that the user can fix the line and continue from there.
 */
import { isJobmillError, JobmillError, rephrase } from '../../job/errors.ts'
import type { EnqueuedJob } from '../../job/enqueue/handle.ts'
import { jsonOf } from '../program/typed-values.ts'
import type { Line } from './lines.ts'

export interface FromLines {
  readonly lines: AsyncIterable<Line>
  /** Writes the jobs of all these payloads, or none. */
  readonly write: (payloads: readonly unknown[]) => Promise<readonly EnqueuedJob[]>
  /** Called with the number of jobs sent and the bytes read so far. */
  readonly onProgress: (jobs: number, bytes: number) => void
}

export interface LinesReport {
  readonly counts: Readonly<Record<EnqueuedJob['outcome'], number>>
  /**
   * The first line whose job was not written, or may not have been. The jobs of all earlier lines were
   * written.
   */
  readonly failure: { readonly line: number; readonly error: unknown } | null
}

const BATCH_LINES = 500
const BATCH_BYTES = 4 * 1024 * 1024

interface Item {
  readonly line: number
  readonly payload: unknown
}

export async function enqueueLines({ lines, write, onProgress }: FromLines): Promise<LinesReport> {
  const counts = { enqueued: 0, duplicate: 0, replaced: 0 }
  let items: Item[] = []
  let waiting = 0
  let bytes = 0
  /** The line that is read next. The reader may fail before it returns that line. */
  let next = 1

  /** Resolves with the failure, or null. */
  async function flush(): Promise<LinesReport['failure']> {
    const sent = items
    items = []
    waiting = 0
    if (sent.length === 0) return null
    try {
      for (const { outcome } of await write(sent.map(({ payload }) => payload))) counts[outcome] += 1
      onProgress(counts.enqueued + counts.duplicate + counts.replaced, bytes)
      return null
    } catch (error) {
      const at = placeOf(error)
      const bad = at === undefined ? undefined : sent[at]
      if (at === undefined || bad === undefined)
        return { line: sent[0]?.line ?? 0, error: atLine(error, sent[0]?.line) }
      items = sent.slice(0, at)
      return (await flush()) ?? { line: bad.line, error: atLine(error, bad.line) }
    }
  }

  try {
    for await (const line of lines) {
      next = line.number
      bytes += line.bytes.length + 1
      const payload = payloadOf(line)
      next += 1
      if (payload === undefined) continue
      items.push({ line: line.number, payload })
      waiting += line.bytes.length
      if (items.length < BATCH_LINES && waiting < BATCH_BYTES) continue
      const failure = await flush()
      if (failure !== null) return { counts, failure }
    }
  } catch (error) {
    return { counts, failure: (await flush()) ?? { line: next, error } }
  }
  return { counts, failure: await flush() }
}

/** Undefined for a blank line. */
function payloadOf({ number, bytes }: Line): unknown {
  const field = `line ${number}`
  let text: string
  try {
    text = UTF8.decode(bytes)
  } catch (error) {
    throw new JobmillError('PAYLOAD_NOT_JSON', 'is not UTF-8', {
      field,
      fix: 'Convert the file to UTF-8',
      cause: error,
    })
  }
  return text.trim() === ''
    ? undefined
    : jsonOf(text, `${field}, payload`, 'Write one JSON value on each line')
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** The index of the invalid item in the batch. Schema errors name it only in the path. */
function placeOf(error: unknown): number | undefined {
  if (!isJobmillError(error)) return undefined
  const [, inPath] = /^items\[(\d+)\]/.exec(error.field ?? '') ?? []
  return error.index ?? (inPath === undefined ? undefined : Number(inPath))
}

/** Replaces the position in the batch by the line number. Errors about other options apply to all lines. */
function atLine(error: unknown, line: number | undefined): unknown {
  if (!isJobmillError(error) || line === undefined) return error
  const field = (path: string): string =>
    path.replace(/^items\[\d+\]\.payload/, `line ${line}, payload`).replace(/^items\[\d+\]/, 'job')
  return rephrase(error, { field })
}
