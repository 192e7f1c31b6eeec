/** Keeps a number of children alive, and gives each job a free one. */
import type { JobContext } from '../../job/context.ts'
import { JobmillError, quote } from '../../job/errors.ts'
import { type Pauses, pauses } from '../../platform/pauses.ts'
import { systemPlatform } from '../../platform/platform.ts'
import type { Service } from '../../platform/service.ts'
import { FreeList } from './free-list.ts'
import { type PoolChild, startPoolChild } from './pool-child.ts'
import { resultOf } from './pool-messages.ts'
import type { PoolPlan } from './pool-options.ts'

/** The pause after a child that failed at startup, so that a broken program is not restarted in a loop. */
const PAUSE = { firstMs: 100, longestMs: 5_000 }

export class Pool implements Service {
  readonly #plan: PoolPlan
  readonly #free = new FreeList<PoolChild>()
  /** All children that have not ended, including those that are leaving. */
  readonly #children = new Set<PoolChild>()
  #places: Promise<void>[] = []
  /** Fires at a stop. Undefined while the pool is not started. */
  #halt: AbortController | undefined
  /** Serializes starts and stops in the order of the calls. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(plan: PoolPlan) {
    this.#plan = plan
  }

  start(): Promise<void> {
    return this.#next(async () => {
      if (this.#halt === undefined) await this.#begin()
    })
  }

  stop(): Promise<void> {
    return this.#next(async () => {
      if (this.#halt !== undefined) await this.#end(this.#halt)
    })
  }

  async run(context: JobContext): Promise<unknown> {
    const child = await this.#takeChild(context.signal)
    try {
      return resultOf(await child.ask(context))
    } finally {
      if (child.answered >= this.#plan.recycleAfter) child.retire()
      else if (child.isReady) this.#free.offer(child)
    }
  }

  async #takeChild(signal: AbortSignal): Promise<PoolChild> {
    for (;;) {
      // The pool of a stopping mill must not restart for an interrupted job.
      signal.throwIfAborted()
      // A handler that is called directly, as in a test, starts the pool.
      if (this.#halt?.signal.aborted !== false) await this.start()
      const child = await this.#free.take(signal)
      // A stop may have happened in between.
      if (child.isReady) return child
    }
  }

  #next(step: () => Promise<void>): Promise<void> {
    const done = this.#last.then(step)
    this.#last = done.catch(() => {})
    return done
  }

  async #begin(): Promise<void> {
    const first = await Promise.allSettled(Array.from({ length: this.#plan.size }, () => this.#spawn()))
    const failed = first.find((one) => one.status === 'rejected')
    if (failed !== undefined) {
      await this.#endChildren()
      throw failed.reason
    }
    const halt = new AbortController()
    this.#halt = halt
    this.#places = first.flatMap((one) =>
      one.status === 'fulfilled' ? [this.#keepFilled(one.value, halt.signal)] : [],
    )
  }

  async #end(halt: AbortController): Promise<void> {
    halt.abort()
    this.#free.refuseAll(
      new JobmillError('MILL_STOPPED', 'the pool stopped before a child was free for the job'),
    )
    await this.#endChildren()
    this.#halt = undefined
  }

  async #endChildren(): Promise<void> {
    for (const child of this.#children) child.retire()
    await Promise.all(this.#places)
    this.#places = []
    await Promise.all([...this.#children].map((child) => child.ended))
  }

  /** Keeps one place in the pool filled: a child that leaves is replaced until the pool stops. */
  async #keepFilled(first: PoolChild, halt: AbortSignal): Promise<void> {
    const pause = pauses(systemPlatform, PAUSE)
    let child: PoolChild | undefined = first
    while (child !== undefined) {
      if (child.isReady) this.#free.offer(child)
      await child.left
      if (child.brokeEarly) await pause.wait(halt)
      else pause.reset()
      child = await this.#replacement(pause, halt)
    }
  }

  async #replacement(pause: Pauses, halt: AbortSignal): Promise<PoolChild | undefined> {
    while (!halt.aborted) {
      try {
        const child = await this.#spawn()
        // A stop in between has not seen this child.
        if (halt.aborted) child.retire()
        return child
      } catch (error) {
        // No child is left that could run the waiting jobs, so fail them now.
        if (this.#children.size === 0) this.#free.refuseAll(error as Error)
        await pause.wait(halt)
      }
    }
    return undefined
  }

  async #spawn(): Promise<PoolChild> {
    try {
      const child = await startPoolChild(this.#plan, (leaving) => this.#free.remove(leaving))
      this.#children.add(child)
      void child.ended.then(() => this.#children.delete(child))
      return child
    } catch (cause) {
      throw new JobmillError('OPTION_INVALID', 'could not be started', {
        field: 'workerPool.argv',
        value: quote(this.#plan.file),
        fix: 'Check that the program and cwd exist and that the program is executable',
        cause,
      })
    }
  }
}
