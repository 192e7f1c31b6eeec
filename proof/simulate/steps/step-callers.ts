/** In some seeds, enqueues jobs with steps, and acts on them as an operator. */
import { isJobmillError, type Mill } from 'jobmill'
import type { Callers, CallersOptions } from '../callers.ts'
import type { Owner } from '../world.ts'
import { senders } from './senders.ts'
import { STEP_KIND, type StepPayload } from './step-job.ts'

/** Only this share of the seeds has jobs with steps. The histories of the other seeds are as before. */
const SHARE = 0.25
const OPERATED = 0.25

export function stepCallers(options: CallersOptions): Callers {
  const { world, recorder, chance, client, workers } = options
  if (!chance.isIt(SHARE)) return { stop() {}, isOver: () => true, check() {} }
  let stopped = false
  let wrong: Error | undefined
  const open = new Map<symbol, Owner>()
  const ids: string[] = []
  const checkEvents = senders({ ...options, chance: chance.fork() })

  async function enqueue(mill: Mill): Promise<void> {
    const payload: StepPayload = {
      napMs: chance.pick([5, 300, 1_200]),
      remindMs: chance.pick([20, 1_300]),
      timeoutMs: chance.pick([200, 1_500]),
    }
    const { id } = await mill.enqueue(STEP_KIND, payload, {
      queue: chance.pick(['default', 'side']),
      maxAttempts: 4,
      ...(chance.isIt(0.15) && { delay: chance.whole(1, 1_000) }),
      ...(chance.isIt(0.15) && { orderKey: 'steps' }),
    })
    ids.push(id)
    recorder.note({ what: 'acknowledged', job: id })
  }

  /** The job may be in any state, and the call may be refused. */
  async function operate(mill: Mill, id: string): Promise<void> {
    const drawn = chance.next()
    if (drawn < 0.4) await mill.runNow(id)
    else if (drawn < 0.7) await mill.retry(id)
    else {
      const askedAt = Math.floor(world.now())
      if ((await mill.cancel(id)).state === 'cancelled')
        recorder.note({ what: 'cancelled', job: id, askedAt })
    }
  }

  /** An unreachable store or a stopped process is expected; an error that blames the call is not. */
  function failed(error: unknown): void {
    if (isJobmillError(error) && (error.retryable || error.code === 'MILL_STOPPED')) return
    wrong ??= new Error('a call was wrong', { cause: error })
  }

  function step(): void {
    if (stopped) return
    const isOperated = ids.length > 0 && chance.isIt(OPERATED)
    const worker = chance.pick(workers)
    const { mill, owner } = chance.isIt(0.5) && worker.owner.state === 'alive' ? worker : client
    const asking = Symbol(owner.name)
    open.set(asking, owner)
    void (isOperated ? operate(mill, chance.pick(ids.slice(-5))) : enqueue(mill))
      .catch(failed)
      .finally(() => open.delete(asking))
    world.after(chance.between(200, 2_400), client.owner, step)
  }
  world.after(500, client.owner, step)
  return {
    stop: () => void (stopped = true),
    isOver: () => [...open.values()].every(({ state }) => state === 'dead'),
    check() {
      if (wrong !== undefined) throw wrong
      checkEvents()
    },
  }
}
