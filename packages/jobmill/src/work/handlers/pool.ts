/** The children of a pool as a service: so many are kept alive, and a job takes any that is free. */
import type { JobContext } from '../../job/context.ts'
import { JobmillError, shown } from '../../job/errors.ts'
import { type Pauses, pauses } from '../../platform/pauses.ts'
import { systemPlatform } from '../../platform/platform.ts'
import type { Service } from '../../platform/service.ts'
import { FreeList } from './free-list.ts'
import { type PoolChild, startPoolChild } from './pool-child.ts'
import { resultOf } from './pool-messages.ts'
import type { PoolPlan } from './pool-options.ts'

/** How long a place stays empty after a child that broke at its start: a broken program must not spin. */
const PAUSE = { firstMs: 100, longestMs: 5_000 }

export class Pool implements Service {
  readonly #plan: PoolPlan
  readonly #free = new FreeList<PoolChild>()
  /** All that have not ended, also those that leave. */
  readonly #children = new Set<PoolChild>()
  #places: Promise<void>[] = []
  /** Fires at a stop; undefined while the pool is not started. */
  #halt: AbortController | undefined
  /** Starts and stops happen one after the other, in the order they were called. */
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
      // The pool of a mill that stops must not come back to life for a job that is over.
      signal.throwIfAborted()
      // Nobody started it for a handler that is called by hand, as in a test.
      if (this.#halt?.signal.aborted !== false) await this.start()
      const child = await this.#free.take(signal)
      // A stop may have come while it changed hands.
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
      new JobmillError('MILL_STOPPED', 'the pool was stopped before a child was free for the job'),
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

  /** One place in the pool: whoever leaves it is replaced, until the pool stops. */
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
        // A stop that came meanwhile has not seen this one.
        if (halt.aborted) child.retire()
        return child
      } catch (error) {
        // Whoever waits would wait for nothing.
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
      throw new JobmillError('OPTION_INVALID', 'is a program that cannot be started', {
        field: 'workerPool.argv',
        value: shown(this.#plan.file),
        fix: 'Check that the program and cwd are there, and that it may be executed',
        cause,
      })
    }
  }
}
