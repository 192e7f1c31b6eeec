/**
 * Records what actually ran, outside the system under test: one file per worker process and one write per
 * line, so that a line survives a kill -9 right after it.
 */
import { closeSync, existsSync, openSync, readSync, writeSync } from 'node:fs'
import { nowMs } from './clock.ts'

/** returned: it ran to the end. failed: it failed as planned. stopped: its signal interrupted it. */
export type How = 'returned' | 'failed' | 'stopped'

type Entry =
  | {
      readonly what: 'start'
      readonly id: string
      readonly token: number
      readonly attempt: number
      readonly n: number
      readonly orderKey: string | null
    }
  | { readonly what: 'end'; readonly id: string; readonly token: number; readonly how: How }
  /** The mill reported that the outcome of an attempt is committed. */
  | { readonly what: 'reported'; readonly id: string; readonly attempt: number; readonly how: How }
  /** The mill reported that its lease is lost. */
  | { readonly what: 'lost' }
  /** The store refused an outcome, because another instance held the lease. */
  | { readonly what: 'refused'; readonly id: string; readonly token: number }
  /** The wall clock of the process is off by this much from now on. */
  | { readonly what: 'clock'; readonly byMs: number }

type Written = Entry & { readonly at: number }

/** One run of a handler. */
export interface Run {
  readonly worker: number
  readonly id: string
  readonly n: number
  readonly orderKey: string | null
  readonly token: number
  readonly attempt: number
  readonly startedAt: number
  endedAt: number | null
  how: How | null
  /** When the mill reported the committed outcome. */
  reportedAt: number | null
}

interface LedgerWriter {
  readonly write: (entry: Entry) => void
  readonly close: () => void
}

export function ledgerWriter(file: string): LedgerWriter {
  const handle = openSync(file, 'a')
  return {
    write: (entry) => void writeSync(handle, `${JSON.stringify({ ...entry, at: nowMs() })}\n`),
    close: () => closeSync(handle),
  }
}

export interface LedgerReader {
  /** Reads to the end of the file. */
  read(): void
  readonly runs: readonly Run[]
  /** When the worker lost its lease. */
  readonly lostAt: readonly number[]
  /** The number of outcomes that the store refused. */
  readonly refused: () => number
  /** The observed wall clock offsets, in order. */
  readonly clocks: readonly number[]
  /** Started and not ended. */
  open(): Run[]
}

export function ledgerReader(file: string, worker: number): LedgerReader {
  const runs: Run[] = []
  const lostAt: number[] = []
  const clocks: number[] = []
  const byJob = new Map<string, Run[]>()
  let refused = 0
  let offset = 0
  let rest = ''

  function take(entry: Written): void {
    if (entry.what === 'lost') return void lostAt.push(entry.at)
    if (entry.what === 'refused') return void (refused += 1)
    if (entry.what === 'clock') return void clocks.push(entry.byMs)
    const before = byJob.get(entry.id) ?? []
    if (entry.what === 'start') {
      const { id, n, orderKey, token, attempt, at } = entry
      const run: Run = {
        worker,
        id,
        n,
        orderKey,
        token,
        attempt,
        startedAt: at,
        endedAt: null,
        how: null,
        reportedAt: null,
      }
      runs.push(run)
      byJob.set(id, [...before, run])
    } else if (entry.what === 'end') {
      const run = before.find(({ token, how }) => token === entry.token && how === null)
      if (run !== undefined) Object.assign(run, { endedAt: entry.at, how: entry.how })
    } else {
      const run = before.find(
        ({ attempt, how, reportedAt }) =>
          attempt === entry.attempt && how === entry.how && reportedAt === null,
      )
      if (run !== undefined) run.reportedAt = entry.at
    }
  }

  return {
    runs,
    lostAt,
    clocks,
    refused: () => refused,
    open: () => runs.filter(({ how }) => how === null),
    read() {
      const text = rest + readFrom(file, offset)
      offset += Buffer.byteLength(text) - Buffer.byteLength(rest)
      // A killed process may leave an incomplete line, which never becomes complete.
      const end = text.lastIndexOf('\n') + 1
      rest = text.slice(end)
      for (const line of text.slice(0, end).split('\n')) if (line !== '') take(JSON.parse(line) as Written)
    },
  }
}

/** The lines are plain ASCII, so a chunk can be cut anywhere. */
function readFrom(file: string, offset: number): string {
  if (!existsSync(file)) return ''
  const handle = openSync(file, 'r')
  try {
    const pieces: string[] = []
    const buffer = Buffer.alloc(65_536)
    for (let at = offset; ;) {
      const bytes = readSync(handle, buffer, 0, buffer.length, at)
      if (bytes === 0) return pieces.join('')
      pieces.push(buffer.toString('latin1', 0, bytes))
      at += bytes
    }
  } finally {
    closeSync(handle)
  }
}
