/**
 * A worker process of a scene with its own kinds. It records every handler run and the kind that the job was
 * enqueued as. It reports `ready`; SIGTERM stops it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { appendFileSync } from 'node:fs'
import { defineJob, jobmill } from 'jobmill'
import { z } from 'zod'
import { nowMs } from '../../cluster/clock.ts'
import { type Place, storeAt } from '../../cluster/places.ts'

export interface CrewTask {
  readonly place: Place
  readonly ledger: string
  readonly kinds: readonly CrewKind[]
  readonly lease: string
}

export interface CrewKind {
  readonly kind: string
  readonly queue: string
  /** The enum values in the payload that this release knows; omitted if payloads are not checked. */
  readonly colors?: readonly string[]
}

export interface CrewPayload {
  readonly n: number
  /** The kind that the job was enqueued as. */
  readonly kind: string
  readonly ms: number
  readonly color?: string
}

/** One line of the ledger. */
export interface CrewLine {
  readonly what: 'start' | 'returned' | 'stopped'
  readonly n: number
  /** The kind that the job was enqueued as, and the kind of the handler that ran it. */
  readonly kind: string
  readonly ranAs: string
  readonly at: number
}

const task = JSON.parse(process.argv[2] ?? '{}') as CrewTask

function write(line: Omit<CrewLine, 'at'>): void {
  appendFileSync(task.ledger, `${JSON.stringify({ ...line, at: nowMs() })}\n`)
}

function schemaOf(colors: readonly string[] | undefined) {
  const color = colors === undefined ? z.string() : z.enum(colors)
  return z.object({ n: z.number(), kind: z.string(), ms: z.number(), color: color.optional() })
}

const jobs = task.kinds.map(({ kind, queue, colors }) =>
  defineJob({
    kind,
    queue,
    backoff: { fixed: '200ms' },
    payload: schemaOf(colors),
    async run({ payload, signal }) {
      const about = { n: payload.n, kind: payload.kind, ranAs: kind }
      write({ what: 'start', ...about })
      try {
        if (payload.ms > 0) await sleep(payload.ms, undefined, { signal })
      } catch {
        write({ what: 'stopped', ...about })
        throw signal.reason
      }
      write({ what: 'returned', ...about })
    },
  }),
)

const mill = jobmill({
  store: await storeAt(task.place),
  jobs,
  lease: task.lease,
  renewEvery: '1s',
  log: 'error',
})
// The parent is gone, or Ctrl+C reached all processes; the parent decides.
process.on('disconnect', () => process.exit())
process.on('SIGINT', () => {})
process.on('SIGTERM', () => void mill.stop().then(() => process.disconnect()))
await mill.start()
process.send?.('ready')
