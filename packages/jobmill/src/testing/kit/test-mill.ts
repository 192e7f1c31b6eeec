/** A mill for tests: in memory, on a clock that the test moves, with everything that it did to look at. */
import type { AnyJob, JobDefinition } from '../../job/definition.ts'
import type { Duration } from '../../job/duration.ts'
import { JobmillError, shown } from '../../job/errors.ts'
import type { MillEvent } from '../../job/events.ts'
import { jobmill, type Mill } from '../../runtime/mill.ts'
import type { MillOptions } from '../../runtime/options.ts'
import { systemPlatform } from '../../platform/platform.ts'
import type { Store, TxOf } from '../../store/store.ts'
import type { Middleware } from '../../work/handler.ts'
import type { SqliteTx } from '../../store-sqlite/handle.ts'
import { atWork as handlersOn } from './at-work.ts'
import type { DrainOptions } from './drain.ts'
import { withoutFaults } from './in-flight.ts'
import { inlineEnqueue } from './inline.ts'
import { memoryStore } from './memory-store.ts'
import { millControl } from './mill-control.ts'
import { type EnqueuedRecord, millStore } from './mill-store.ts'
import { mayHaveEnded, promptEnqueues, promptInside } from './prompt-handle.ts'
import { type TestPlatform, testPlatform } from './test-platform.ts'

export interface TestMillOptions<S extends Store<never> = Store<SqliteTx>> extends Omit<
  MillOptions,
  'store' | 'platform'
> {
  /** Another store on the same clock: `(platform) => postgres(url, { clock: platform.now })`. Default: SQLite in memory. */
  readonly store?: (platform: TestPlatform) => S
  /** The clock of another mill, to share it. Default: a new one that begins now. */
  readonly platform?: TestPlatform
  /** `enqueue` runs the job at once, and resolves after it has ended or was scheduled for later (default false). */
  readonly inline?: boolean
  /** False: the mill is not started, so that nothing runs (default true). */
  readonly start?: boolean
}

export interface TestMill<Tx = unknown> extends Mill<Tx>, AsyncDisposable {
  readonly clock: {
    now(): number
    /** Hours pass at once; what becomes due meanwhile has run then, except for handlers that wait for something real: `drain` waits for those. */
    advance(duration: Duration): Promise<void>
  }
  /** Works until nothing is ready or running; handlers are awaited, however long they really take. */
  drain(options?: DrainOptions): Promise<void>
  /** What was enqueued so far through this mill, also by its handlers, in the order in which it was acknowledged. */
  enqueued<Input>(job: JobDefinition<Input>): EnqueuedRecord<Input>[]
  enqueued(kind?: string): EnqueuedRecord[]
  /** Everything that happened so far. */
  readonly events: readonly MillEvent[]
  /** For a second mill on the same clock and store. */
  readonly platform: TestPlatform
  readonly store: Store<Tx>
}

/** Ends with its block: `await using mill = await testMill({ jobs: [sendEmail] })`. */
export async function testMill<S extends Store<never> = Store<SqliteTx>>(
  options: TestMillOptions<S> = {},
): Promise<TestMill<TxOf<S>>> {
  const {
    store: choose,
    platform = testPlatform({ startAt: systemPlatform.now() }),
    inline = false,
    start = true,
    ...rest
  } = options
  if (inline && !start) throw contradiction()
  const store = platform.track(checkStore(await (choose ?? memoryStore)(platform)))
  const answers = { store: withoutFaults(store), platform }
  const atWork = handlersOn(platform)
  const records: EnqueuedRecord[] = []
  const events: MillEvent[] = []
  const mill = jobmill<Store>({
    log: 'silent',
    // Not what happens to be set where the tests run.
    env: {},
    ...rest,
    middleware: around([atWork.middleware, promptInside(answers)], rest.middleware),
    store: millStore(store, {
      told: (record) => records.push(record),
      changed: () => mayHaveEnded(platform),
    }),
    platform,
  })
  mill.on('*', (event) => events.push(event))
  const control = millControl(mill, { ...answers, atWork, jobs: rest.jobs ?? [] })
  const enqueues = promptEnqueues(mill, answers)
  const drain = (isOver: () => boolean): Promise<void> => control.drain({}, isOver)
  // On top of the mill, whose own verbs are called from here.
  const test: TestMill<TxOf<S>> = Object.assign(Object.create(mill) as Mill, {
    ...control,
    ...(inline ? inlineEnqueue({ mill, enqueues, events, drain }) : enqueues),
    enqueued(job?: AnyJob | string) {
      const kind = typeof job === 'object' ? job.kind : job
      return records.filter((record) => kind === undefined || record.kind === kind)
    },
    events,
    platform,
    store,
  })
  if (start) await test.start()
  return test
}

/** Around everything, so that what a user's own middleware waits for is waited for too. */
function around(own: readonly Middleware[], given: readonly Middleware[] = []): readonly Middleware[] {
  // What cannot be used is refused by its own index.
  return given.every((one) => typeof one === 'function') ? [...own, ...given] : given
}

function checkStore(store: unknown): Store {
  if (typeof store === 'object' && store !== null && 'claim' in store) return store as Store
  throw new JobmillError('OPTION_INVALID', 'gives no store', {
    field: 'store',
    value: shown(store),
    fix: 'Give a function that returns one: (platform) => postgres(url, { clock: platform.now })',
  })
}

function contradiction(): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'contradicts inline', {
    field: 'start',
    value: 'false',
    fix: 'A mill that runs jobs inline must be started: leave out start or inline',
  })
}
