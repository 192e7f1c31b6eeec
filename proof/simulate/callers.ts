/**
 * Simulated callers: enqueue jobs with all options, cancel them, and act as operators. Half of the calls run
 * in a process that also works, so that direct dispatch applies.
 */
import { type DedupeRequest, type EnqueueOptions, isJobmillError, type Mill } from 'jobmill'
import type { Chance } from './chance.ts'
import { type Kind, KINDS, type Payload } from './jobs.ts'
import type { SimulatedProcess } from './process/process.ts'
import type { Recorder } from './recorder.ts'
import type { Owner, World } from './world.ts'

export interface Callers {
  stop(): void
  /** No living caller waits for an answer. */
  isOver(): boolean
  /** Throws if a call was refused because of the call itself. */
  check(): void
}

export interface CallersOptions {
  readonly world: World
  readonly recorder: Recorder
  readonly chance: Chance
  /** A process without faults. */
  readonly client: SimulatedProcess
  /** The current workers. */
  readonly workers: readonly SimulatedProcess[]
}

export function callers({ world, recorder, chance, client, workers }: CallersOptions): Callers {
  let stopped = false
  let wrong: Error | undefined
  const open = new Map<symbol, Owner>()
  const ids: string[] = []

  async function enqueue(mill: Mill): Promise<void> {
    const kind: Kind = chance.pick(KINDS)
    const payload: Payload = { ms: chance.pick([0, 5, 50, 50, 400, 400, 400, 2_500]) }
    const handle = await mill.enqueue(kind, payload, optionsFor(chance))
    if (handle.outcome === 'duplicate') return
    ids.push(handle.id)
    recorder.note({ what: 'acknowledged', job: handle.id })
  }

  async function cancel(mill: Mill): Promise<void> {
    if (ids.length === 0) return
    const id = chance.pick(ids.slice(-20))
    const askedAt = Math.floor(world.now())
    if ((await mill.cancel(id)).state === 'cancelled') recorder.note({ what: 'cancelled', job: id, askedAt })
  }

  /** The job may be in any state, and the call may be refused. */
  async function operate(mill: Mill): Promise<void> {
    if (ids.length === 0) return
    const id = chance.pick(ids.slice(-20))
    await (chance.isIt(0.5) ? mill.retry(id) : mill.runNow(id))
  }

  function call(mill: Mill): Promise<void> {
    const drawn = chance.next()
    if (drawn < 0.08) return cancel(mill)
    return drawn < 0.13 ? operate(mill) : enqueue(mill)
  }

  /** An unreachable store or a stopped process is expected; an error that blames the call is not. */
  function failed(error: unknown): void {
    if (isJobmillError(error) && (error.retryable || error.code === 'MILL_STOPPED')) return
    wrong ??= new Error('a call was wrong', { cause: error })
  }

  function step(): void {
    if (stopped) return
    const worker = chance.pick(workers)
    const { mill, owner } = chance.isIt(0.5) && worker.owner.state === 'alive' ? worker : client
    const asking = Symbol(owner.name)
    open.set(asking, owner)
    void call(mill)
      .catch(failed)
      .finally(() => open.delete(asking))
    world.after(chance.next() ** 2 * 400, client.owner, step)
  }
  world.after(500, client.owner, step)
  return {
    stop: () => void (stopped = true),
    isOver: () => [...open.values()].every(({ state }) => state === 'dead'),
    check() {
      if (wrong !== undefined) throw wrong
    },
  }
}

function optionsFor(chance: Chance): EnqueueOptions {
  return {
    queue: chance.pick(['default', 'default', 'side', 'narrow']),
    priority: chance.pick([0, 0, 0, -1, 1]),
    maxAttempts: 4,
    ...(chance.isIt(0.15) && { delay: chance.whole(1, 3_000) }),
    ...(chance.isIt(0.15) && { orderKey: chance.pick(['x', 'y']) }),
    ...(chance.isIt(0.2) && { dedupe: dedupeFor(chance) }),
  }
}

/** Some keys are held for longer than their job is kept. */
function dedupeFor(chance: Chance): DedupeRequest {
  const key = chance.pick(['p', 'q', 'r'])
  return {
    key,
    holdFor: key === 'r' ? 9_000 : chance.pick([0, 1_000]),
    ...(key === 'r' && { holdAfter: 'ended' as const }),
    onConflict: chance.pick(['keep', 'keep', 'replace']),
  }
}
