/** A mill for tests: in memory, with a fake clock, and with everything it did on record. */
import { DEFAULTS } from '../../../job/defaults.ts'
import type { Duration } from '../../../job/duration.ts'
import { invalidValue } from '../../../job/errors.ts'
import type { MillEvent } from '../../../job/events.ts'
import type { JobKind } from '../../../job/kind/job-kind.ts'
import { type Platform, systemPlatform } from '../../../platform/platform.ts'
import { jobmill } from '../../../runtime/jobmill.ts'
import type { Mill } from '../../../runtime/mill.ts'
import type { MillOptions } from '../../../runtime/options/options.ts'
import type { SqliteTx } from '../../../store-sqlite/connection/handle.ts'
import { withAllParts } from '../../../store/absent-parts.ts'
import type { FullStore, Store, TxOf } from '../../../store/store.ts'
import type { Middleware } from '../../../work/handler.ts'
import { atWork as handlersOn } from './at-work.ts'
import type { DrainOptions } from './drain.ts'
import { withoutFaults } from '../in-flight.ts'
import { inlineEnqueue } from './inline.ts'
import { millControl } from './mill-control.ts'
import { type EnqueuedRecord, millStore } from './mill-store.ts'
import { mayHaveEnded, promptEnqueues, promptInside } from './prompt-handle.ts'
import { type TestPlatform, testPlatform } from '../test-platform.ts'

export interface TestMillOptions<
  S extends Store<never> = FullStore<SqliteTx>,
  Context = unknown,
> extends Omit<MillOptions<Store<never>, readonly never[], Context>, 'store' | 'platform'> {
  /**
   * Another store on the same clock: `(platform) => postgres(url, { clock: platform.now })`. Default: SQLite
   * in memory.
   */
  readonly store?: (platform: TestPlatform) => S
  /** The clock of another mill, to share it. Default: a new one that starts now. */
  readonly platform?: TestPlatform
  /**
   * `enqueue` runs the job at once, and resolves after it has ended or was scheduled for later (default
   * false).
   */
  readonly inline?: boolean
  /** False: the mill is not started, so that nothing runs (default true). */
  readonly start?: boolean
}

export interface TestMill<Tx = unknown> extends Mill<Tx>, AsyncDisposable {
  readonly clock: {
    now(): number
    /**
     * Moves the clock and runs everything that becomes due, except for handlers that wait for something real.
     * Use `drain` for those.
     */
    advance(duration: Duration): Promise<void>
  }
  /** Runs until nothing is ready or running. Awaits handlers, however long they really take. */
  drain(options?: DrainOptions): Promise<void>
  /**
   * The jobs enqueued so far through this mill, including those of its handlers, in the order of
   * acknowledgment.
   */
  enqueued<Input>(job: JobKind<Input>): EnqueuedRecord<Input>[]
  enqueued(kind?: string): EnqueuedRecord[]
  /** All events so far. */
  readonly events: readonly MillEvent[]
  /** Pass it to a second mill that shares the clock. `store: () => store` also shares the store. */
  readonly platform: TestPlatform
  readonly store: FullStore<Tx>
}

/** Ends with its block: `await using mill = await testMill({ jobs: [sendEmail] })`. */
export async function testMill<S extends Store<never> = FullStore<SqliteTx>, Context = unknown>(
  options: TestMillOptions<S, Context> = {},
): Promise<TestMill<TxOf<S>>> {
  const {
    store: choose,
    platform = testPlatform({ startAt: systemPlatform.now() }),
    inline = false,
    start = true,
    ...rest
  } = options
  if (inline && !start) {
    const fix = 'Remove start or inline: a mill that runs jobs inline must be started'
    throw invalidValue('start', start, 'cannot be combined with inline', fix, 'OPTION_CONFLICT')
  }
  const store = platform.track(checkStore(await (choose ?? memoryStore)(platform)))
  const answers = { store: withoutFaults(store), platform }
  const atWork = handlersOn(platform)
  const records: EnqueuedRecord[] = []
  const events: MillEvent[] = []
  const mill = jobmill<Store, readonly never[], Context>({
    log: 'silent',
    // Ignores the environment of the test process.
    env: {},
    ...rest,
    ...(Array.isArray(rest.jobs) && { jobs: rest.jobs.map(atWork.watchChunks) }),
    middleware: around([atWork.middleware, promptInside(answers)], rest.middleware),
    store: millStore(store, {
      onEnqueued: (record) => records.push(record),
      changed: () => mayHaveEnded(platform),
    }),
    platform,
  })
  mill.on('*', (event) => events.push(event))
  const control = millControl(mill, { ...answers, atWork, jobs: rest.jobs ?? [] })
  const enqueues = promptEnqueues(mill, answers)
  const drain = (isOver: () => boolean): Promise<void> => control.drain({}, isOver)
  // Inherits from the mill, whose own functions are called from here.
  const test: TestMill<TxOf<S>> = Object.assign(Object.create(mill) as Mill, {
    ...control,
    ...(inline ? inlineEnqueue({ mill, enqueues, events, drain }) : enqueues),
    enqueued(job?: JobKind | string) {
      const kind = typeof job === 'object' ? job.kind : job
      return records.filter((record) => kind === undefined || record.kind === kind)
    },
    events,
    platform,
    store: withAllParts(store, platform),
  })
  if (start) await test.start()
  return test
}

/** Puts our middleware outermost, so that waits in user middleware are tracked too. */
function around(own: readonly Middleware[], options: readonly Middleware[] = []): readonly Middleware[] {
  // An invalid entry is passed on unchanged, so that the error of the mill names its index in the options.
  return options.every((one) => typeof one === 'function') ? [...own, ...options] : options
}

function checkStore(store: unknown): Store {
  if (typeof store === 'object' && store !== null && 'claim' in store) return store as Store
  const fix = 'Pass a function that returns one: (platform) => postgres(url, { clock: platform.now })'
  throw invalidValue('store', store, 'must return a store', fix)
}

async function memoryStore(platform: Platform): Promise<FullStore<SqliteTx>> {
  // Loaded on demand, so that tests of a custom store need no SQLite driver.
  const { createSqliteStore } = await import('../../../store-sqlite/sqlite-store.ts')
  return createSqliteStore({
    path: ':memory:',
    platform: withoutProbes(platform),
    clock: () => platform.now(),
    durability: 'full',
    busyDeadlineMs: DEFAULTS.statementDeadlineMs,
  })
}

/**
 * Drops the only timer of the store that does not keep a process alive. It checks for writes of other
 * processes, and no other process writes to an in-memory store. It would fire 144,000 times per hour.
 */
function withoutProbes(platform: Platform): Platform {
  return {
    ...platform,
    timer: (ms, task, options) =>
      options?.unref === true ? { cancel() {} } : platform.timer(ms, task, options),
  }
}
