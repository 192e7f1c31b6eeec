/** Starts, advances and ends a test mill. */
import type { AnyJob } from '../../../job/kind/definition.ts'
import { type Duration, durationMs } from '../../../job/duration.ts'
import { JobmillError } from '../../../job/errors.ts'
import { onCancelledKind } from '../../../job/attempt/on-cancelled.ts'
import { kindsOfVersion } from '../../../job/kind/kind-name.ts'
import { onDeadKind } from '../../../job/attempt/on-dead.ts'
import type { Mill } from '../../../runtime/mill.ts'
import type { Store } from '../../../store/store.ts'
import type { AtWork } from './at-work.ts'
import { drain, type DrainOptions, outlook } from './drain.ts'
import { leap, LEAST_LEAP_MS } from './leap.ts'
import { openAttempts } from './open-attempts.ts'
import type { TestPlatform } from '../test-platform.ts'

export interface ControlTools {
  readonly platform: TestPlatform
  readonly atWork: AtWork
  readonly jobs: readonly AnyJob[]
  readonly store: Store
}

const PER_PASS = 1_000

/** The functions that replace or extend those of the mill. */
export function millControl(mill: Mill, { platform, atWork, jobs, store }: ControlTools) {
  const served = new Set(mill.queuesServed)
  const open = openAttempts(mill)
  let isWorking = false
  let isQuiet = false
  mill.on('mill-quiet', () => void (isQuiet = true))
  mill.on('mill-resumed', () => void (isQuiet = false))
  mill.on('mill-stopping', ended)

  /** An operator may have resumed the mill, which it only learns from its next heartbeat. */
  async function isStillQuiet(): Promise<boolean> {
    const me = (await store.instances.list()).find(({ id }) => id === mill.instance.id)
    return me !== undefined && me.requested !== null
  }

  async function advance(duration: Duration): Promise<void> {
    const until = platform.now() + durationMs(duration, 'duration')
    // Long times in steps, because a job that starts in one of them needs the heartbeats after it.
    while (atWork.mills.size > 0 && until - platform.now() > LEAST_LEAP_MS) {
      await platform.settled()
      if (await leap({ platform, atWork }, until)) await move(0)
      else await platform.advance(LEAST_LEAP_MS)
    }
    await move(until - platform.now())
  }

  async function move(ms: number): Promise<void> {
    await platform.advance(ms)
    if (!isWorking) return
    // A heartbeat would find due jobs within a second. They are staged at once, so that tests need not know
    // about heartbeats.
    while ((await store.stage(PER_PASS)).more);
    await platform.settled()
  }

  const leaping = {
    id: () => mill.instance.id,
    store,
    async nextMs(): Promise<number | undefined> {
      const { idle, nextMs, scheduleInMs } = await outlook(tools)
      if (!idle || open.size > 0) return undefined
      return Math.min(nextMs ?? Infinity, scheduleInMs ?? Infinity)
    },
  }

  function ended(): void {
    isWorking = false
    atWork.mills.delete(leaping)
  }

  const tools = {
    store,
    platform,
    atWork,
    areOutcomesWritten: () => open.size === 0,
    // A quiet mill claims nothing, so `drain` leaves the ready jobs to other mills.
    queues: async () => (isQuiet && (await isStillQuiet()) ? [] : [...served]),
    kinds: jobs.flatMap(({ kind, version, onDead, onCancelled }) => [
      ...kindsOfVersion(kind, version),
      ...(onDead === undefined ? [] : [onDeadKind(kind)]),
      ...(onCancelled === undefined ? [] : [onCancelledKind(kind)]),
    ]),
    wake: () => mill.wake(),
    advance,
  }

  /**
   * Stops without a grace period and moves the clock as far as necessary, because a test must end whatever
   * its handlers do.
   */
  async function dispose(): Promise<void> {
    ended()
    const stopping = mill.stop({ grace: 0 })
    const stopped = stopping.then(() => true)
    while (!(await Promise.race([stopped, platform.settled().then(() => false)])))
      if (!(await platform.advanceToNextTimer())) break
    await stopping
  }

  return {
    clock: { now: () => platform.now(), advance },
    async start() {
      await mill.start()
      isWorking = true
      atWork.mills.add(leaping)
    },
    stop(how) {
      ended()
      return mill.stop(how)
    },
    async serve(queue, settings) {
      await mill.serve(queue, settings)
      served.add(queue)
    },
    async drain(options?: DrainOptions, isOver?: () => boolean) {
      if (!isWorking) throw notWorking()
      await drain(tools, options, isOver)
    },
    [Symbol.asyncDispose]: dispose,
  } satisfies Pick<Mill, 'start' | 'stop' | 'serve'> & Record<string | symbol, unknown>
}

function notWorking(): JobmillError {
  return new JobmillError('MILL_NOT_STARTED', 'drain needs a started mill', {
    fix: 'Remove start: false, or call start(). Call drain() before stop()',
  })
}
