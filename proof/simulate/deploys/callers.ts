/**
 * Enqueues jobs, cancels them in whatever state they are, and retries them, so that one job is cancelled
 * several times. Half of the calls come from a process that also works.
 */
import { isJobmillError, type Mill } from 'jobmill'
import type { Callers, CallersOptions } from '../callers.ts'
import type { Owner } from '../world.ts'
import { DEPLOYED, type DeployPayload, PLAIN } from './jobs.ts'

const LONGEST_BETWEEN_MS = 600
const CANCELS = 0.35
const RETRIES = 0.15
/** Calls are about the newest jobs. */
const NEWEST = 12

export function deployCallers({ world, recorder, chance, client, workers }: CallersOptions): Callers {
  let stopped = false
  let wrong: Error | undefined
  const open = new Map<symbol, Owner>()
  const ids: string[] = []

  async function enqueue(mill: Mill): Promise<void> {
    const payload: DeployPayload = {
      ms: chance.pick([0, 5, 400, 1_200, 2_500]),
      timeoutMs: chance.pick([200, 1_500]),
      isDeaf: chance.isIt(0.25),
    }
    const { id } = await mill.enqueue(chance.isIt(0.6) ? DEPLOYED : PLAIN, payload, {
      queue: chance.pick(['default', 'side']),
      maxAttempts: 4,
      ...(chance.isIt(0.2) && { delay: chance.whole(1, 3_000) }),
      ...(chance.isIt(0.15) && { orderKey: chance.pick(['x', 'y']) }),
    })
    ids.push(id)
    recorder.note({ what: 'acknowledged', job: id })
  }

  async function cancel(mill: Mill, id: string): Promise<void> {
    const askedAt = Math.floor(world.now())
    if ((await mill.cancel(id)).state === 'cancelled') recorder.note({ what: 'cancelled', job: id, askedAt })
  }

  /** The job may be in any state, and the call may be refused. */
  async function call(mill: Mill): Promise<unknown> {
    const drawn = chance.next()
    if (ids.length === 0 || drawn > CANCELS + RETRIES) return enqueue(mill)
    const id = chance.pick(ids.slice(-NEWEST))
    if (drawn < CANCELS) return cancel(mill, id)
    return chance.isIt(0.7) ? mill.retry(id) : mill.runNow(id)
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
    world.after(chance.between(0, LONGEST_BETWEEN_MS), client.owner, step)
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
