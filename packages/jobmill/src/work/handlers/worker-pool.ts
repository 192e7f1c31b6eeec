/**
 * `workerPool`: long-lived children in any language run the jobs of a kind. They read one line of JSON per
 * request and write one per answer. The pool keeps a number of them alive, and gives each job a free one.
 */
import type { JobContext } from '../../job/context.ts'
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import { defineJob, type JobDefinition } from '../../job/kind/definition.ts'
import { JobmillError, quote } from '../../job/errors.ts'
import { checkWhole } from '../../job/numbers.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import type { Stored } from '../../job/payload/stored.ts'
import { type Pauses, pauses } from '../../platform/pauses.ts'
import { systemPlatform } from '../../platform/platform.ts'
import type { Service } from '../../platform/service.ts'
import { CHILD_KEYS, checkText, checkTexts, type ChildOptions, childPlan, policyOf } from './child-options.ts'
import { FreeList } from './free-list.ts'
import { type PoolChild, startPoolChild } from './pool-child.ts'
import { resultOf } from './pool-messages.ts'

export interface WorkerPoolOptions extends ChildOptions {
  /** The kind of the jobs that the children run. */
  readonly kind: string
  /** The program and its arguments, started without a shell. */
  readonly argv: readonly [string, ...string[]]
  /** The number of children, and so of concurrent jobs (default 1). */
  readonly size?: number
  /** The working directory of the children. Default: that of this process. */
  readonly cwd?: string
  /** Replaces a child after this many jobs. Default: never. */
  readonly recycleAfter?: number
}

/** Payload and result types depend on your program: pass both type parameters, or neither. */
export function workerPool<Input = unknown, Result = unknown>(
  options: WorkerPoolOptions,
): JobDefinition<Input, Stored<Result>> {
  const pool = new Pool(poolPlan(options))
  // The caller named the payload type. Whether it is JSON is checked when it is written.
  const job: JobDefinition = defineJob({
    ...policyOf(options),
    kind: options.kind,
    service: pool,
    run: (context: JobContext) => pool.run(context),
  })
  return job as JobDefinition<Input, Stored<Result>>
}

type PoolPlan = ReturnType<typeof poolPlan>

export function poolPlan(options: WorkerPoolOptions) {
  const at = 'workerPool'
  checkObjectKeys(options, at, ['kind', 'argv', 'size', 'cwd', 'recycleAfter', ...CHILD_KEYS])
  const [file = '', ...args] = checkTexts(options.argv, `${at}.argv`, 'OPTION_INVALID')
  if (file === '') {
    throw new JobmillError('OPTION_INVALID', 'has no program', {
      field: `${at}.argv`,
      fix: 'Pass the program and its arguments, such as ["python3", "resize.py"]',
    })
  }
  const { size = DEFAULTS.poolSize, cwd, recycleAfter } = options
  return {
    ...childPlan(options, at),
    file,
    args,
    cwd: cwd === undefined ? undefined : checkText(cwd, `${at}.cwd`, 'OPTION_INVALID'),
    size: checkWhole(size, `${at}.size`, BOUNDS.poolSize),
    recycleAfter:
      recycleAfter === undefined
        ? Number.POSITIVE_INFINITY
        : checkWhole(recycleAfter, `${at}.recycleAfter`, BOUNDS.recycleAfter),
  }
}

/** The pause after a child that failed at startup, so that a broken program is not restarted in a loop. */
const PAUSE = { firstMs: 100, longestMs: 5_000 }

class Pool implements Service {
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
