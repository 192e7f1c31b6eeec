/**
 * The jobs of the simulated processes: they take time, fail, retry, use limits and obey their signal, and
 * record it all in the history.
 */
import { type AnyJob, Dead, defineJob, type JobContext, Snooze, Throttled } from 'jobmill'
import type { Chance } from './chance.ts'
import { pause } from './process/pause.ts'
import type { SimulatedProcess } from './process/process.ts'
import type { Recorder } from './recorder.ts'

/** So short that most early jobs are deleted at the end. */
export const KEEP_DONE_MS = 4_000
const ALL = { backoff: { base: '200ms', max: '2s' }, retain: { done: KEEP_DONE_MS } } as const
export const QUEUES = {
  default: { workers: 3, ...ALL },
  side: { workers: 2, ...ALL },
  narrow: { workers: 3, limit: 'narrow', ...ALL },
} as const
export const LIMITS = {
  narrow: { concurrency: 2 },
  seats: { concurrency: 1 },
  drops: { rate: 4, per: '1s', burst: 4 },
} as const
export const KINDS = ['plain', 'failing', 'seated', 'dripping', 'following', 'spreading'] as const
export type Kind = (typeof KINDS)[number]

export interface Payload {
  /** How long it takes. */
  readonly ms: number
}

/** Its ending, drawn for each attempt. */
function ending(chance: Chance): void {
  const drawn = chance.next()
  if (drawn < 0.3) throw new Error('as planned')
  if (drawn < 0.4) throw new Snooze('300ms')
  if (drawn < 0.45) throw new Throttled({ retryAfter: '500ms' })
  if (drawn < 0.5) throw new Dead('as planned')
}

export function simulatedJobs(
  { owner, platform }: Pick<SimulatedProcess, 'owner' | 'platform'>,
  recorder: Recorder,
  chance: Chance,
): readonly AnyJob[] {
  async function work({ payload, job, signal }: JobContext<Payload>): Promise<void> {
    const attempt = { job: job.id, token: job.token, instance: owner.name }
    for (let part = 0; part < 2; part += 1) {
      await pause(platform, payload.ms / 2, signal)
      recorder.note({ what: 'effect', ...attempt, awakeMs: platform.awakeMs() })
    }
  }

  const make = (
    kind: Kind,
    run: (context: JobContext<Payload>, working: () => Promise<void>) => Promise<unknown>,
  ): AnyJob =>
    defineJob({
      kind,
      async run(context: JobContext<Payload>) {
        const { job, signal } = context
        const attempt = { job: job.id, token: job.token, instance: owner.name }
        recorder.note({ what: 'started', ...attempt, heldUpMs: 0 })
        try {
          return (await run(context, () => work(context))) ?? null
        } finally {
          if (!signal.aborted) recorder.note({ what: 'ended', ...attempt })
        }
      },
    })

  return [
    make('plain', (_, working) => working()),
    make('failing', async (_, working) => {
      await working()
      ending(chance)
    }),
    make('seated', async ({ limit }, working) => {
      const seat = await limit.acquire('seats')
      await working()
      if (chance.isIt(0.5)) return
      // The release may arrive when the next attempt already holds its own permit.
      void seat.release()
      ending(chance)
    }),
    make('dripping', async ({ limit }, working) => {
      await limit.acquire('drops')
      await working()
    }),
    make('following', async ({ enqueue }, working) => {
      await working()
      await enqueue('plain', { ms: 5 }, { withCompletion: true })
    }),
    make('spreading', async ({ enqueue }, working) => {
      await working()
      const { id } = await enqueue('plain', { ms: 5 })
      recorder.note({ what: 'acknowledged', job: id })
    }),
  ]
}
