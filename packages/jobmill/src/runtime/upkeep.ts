/** The duties of an instance: what the pulse asks for at once, and what is due now and then. */
import { crashError } from '../job/crash.ts'
import { DEFAULTS } from '../job/defaults.ts'
import type { Emit } from '../job/events.ts'
import type { Pulse } from '../store/instance.ts'
import type { Store } from '../store/store.ts'
import { duty } from '../upkeep/duty.ts'
import { reapExpired } from '../upkeep/reap.ts'
import { foldAll, retainAll } from '../upkeep/retain.ts'
import { singleFlight } from '../upkeep/single-flight.ts'
import { stageDue } from '../upkeep/stage.ts'
import type { Resolved } from './options.ts'
import { trouble } from '../job/trouble.ts'

export interface Upkeep {
  heard(pulse: Pulse): void
  readonly stageSoon: () => void
  reapNow(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

export interface UpkeepOptions {
  readonly store: Store
  readonly options: Resolved
  readonly emit: Emit
  readonly staged: (queues: Iterable<string>) => void
  readonly reaped: () => void
}

export function upkeep({ store, options, emit, staged, reaped }: UpkeepOptions): Upkeep {
  const { platform, crashesUntilDead } = options
  const stopping = new AbortController()
  const staging = trouble('stage', emit)
  const reaping = trouble('reap', emit)

  async function reapNow(): Promise<void> {
    const { instances, jobs } = await reapExpired(store, crashesUntilDead, stopping.signal)
    if (instances.length + jobs.length === 0) return
    emit('reaped', { instances, jobs })
    for (const { id, kind, queue, state, crashes } of jobs) {
      if (state === 'dead')
        emit('dead', {
          id,
          kind,
          queue,
          attempt: 0,
          maxAttempts: 0,
          error: crashError(crashes),
        })
    }
    reaped()
  }

  const stage = singleFlight(() =>
    stageDue(store, stopping.signal).then(({ ready, queues }) => {
      staging.working()
      if (ready > 0) staged(queues)
    }, staging.failing),
  )
  const reap = singleFlight(() => reapNow().then(reaping.working, reaping.failing))
  const often = { deadlineMs: DEFAULTS.dutyDeadlineMs, platform }
  const duties = [
    duty({
      ...often,
      name: 'retain',
      everyMs: DEFAULTS.retainEveryMs,
      pass: async (signal) => void (await retainAll(store, signal)),
      ...trouble('retain', emit),
    }),
    duty({
      ...often,
      name: 'fold',
      everyMs: DEFAULTS.foldEveryMs,
      pass: async (signal) => void (await foldAll(store, signal)),
      ...trouble('fold', emit),
    }),
  ]

  return {
    reapNow,
    stageSoon: stage.run,
    heard({ stageInMs, expired }) {
      if (expired) reap.run()
      if (stageInMs !== null && stageInMs <= 0) stage.run()
    },
    async start() {
      await Promise.all(duties.map((one) => one.start()))
    },
    async stop() {
      stopping.abort()
      await Promise.all([stage.stop(), reap.stop(), ...duties.map((one) => one.stop())])
    },
  }
}
