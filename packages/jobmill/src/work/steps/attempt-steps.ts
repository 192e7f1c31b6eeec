/** `step` of one attempt: looks up what is recorded, runs the rest, and parks the attempt while it waits. */
import { BOUNDS } from '../../job/defaults.ts'
import { durationMs, instantAt, timeoutMs } from '../../job/duration.ts'
import { schemaOfEvent } from '../../job/kind/event-schemas.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { storedKind } from '../../job/kind/kind-name.ts'
import { applySchema } from '../../job/payload/schema.ts'
import type { EventOptions, ReceivedEvent, Step, StepOptions } from '../../job/step/step.ts'
import { isJobmillError, JobmillError } from '../../job/errors.ts'
import type { Emit } from '../../job/events.ts'
import { checkFunction } from '../../job/numbers.ts'
import { jsonText } from '../../job/text/json-text.ts'
import type { Platform } from '../../platform/platform.ts'
import type {
  ChildRecord,
  ChildrenStart,
  Memo,
  StepKind,
  StepWait,
  StepWrite,
  Waited,
} from '../../store/types/step.ts'
import { type Attempt, interrupt } from '../attempt.ts'
import { checkLive } from '../make-context.ts'
import { type Activity, activity, type PendingWait, SHORT_MS } from './activity.ts'
import { childSteps, type PrepareJobs } from './child-steps.ts'
import { asStepOf, isInsideStep } from './inside-step.ts'
import { type CalledStep, type Memos, memosOf } from './memos.ts'
import * as errors from './step-errors.ts'
import { handled } from './handled.ts'
import { parsed, RESULT_FIX, stepRunner } from './run-step.ts'

export interface StepTools {
  readonly platform: Platform
  readonly emit: Emit
  /** Resolves after the commit; false if the lease was lost. */
  readonly record: (item: StepWrite, attempt: Attempt) => Promise<boolean>
  /** On SQLite, the write has happened when the call returns. */
  readonly recordInTx: (item: StepWrite, tx: unknown) => Promise<boolean>
  readonly wait: (item: StepWait, attempt: Attempt) => Promise<Waited>
  readonly start: (item: ChildrenStart, attempt: Attempt) => Promise<boolean>
  /** The children of a step of this attempt. */
  readonly children: (step: string, attempt: Attempt) => Promise<readonly ChildRecord[]>
  readonly prepareJobs: PrepareJobs
  /** Whether the attempt holds a permit of a concurrency limit. */
  readonly holdsPermit: (attempt: Attempt) => Promise<boolean>
}

const EMPTY_RECORD = { result: null, checkpoint: null }

/** Returned to an abandoned handler: it must not continue, and no code would handle its error. */
const never = (): Promise<never> => new Promise(() => {})

export interface StepJob {
  /** What earlier attempts recorded. */
  readonly memos: readonly Memo[]
  /** Of the definition. */
  readonly version: number | undefined
}

export function attemptSteps(
  attempt: Attempt,
  { memos: stored, version: minVersion }: StepJob,
  tools: StepTools,
): Step {
  const { lease } = attempt
  const { platform } = tools
  const { id, token, kind: jobKind } = lease
  const versionedKind = minVersion === undefined ? undefined : storedKind({ kind: jobKind, minVersion })
  const own = { id, token, versionedKind }
  const memos: Memos = memosOf(lease, stored)
  attempt.calledSteps = memos.called
  const steps: Activity = activity({ attempt, platform, idle: (waits) => void park(waits) })

  async function park(waits: readonly PendingWait[]): Promise<void> {
    const holds = await tools.holdsPermit(attempt)
    // Another step may have started during the read.
    if (!steps.mayPark()) return
    if (!holds) return attempt.park(platform.monotonic())
    const error = errors.holdsPermit(waits.map(({ name }) => name))
    for (const wait of waits) wait.reject(error)
  }

  /** Undefined for an abandoned handler. */
  function call(given: unknown, kind: StepKind): CalledStep | undefined {
    if (attempt.parked) return undefined
    checkLive(attempt)
    const name = errors.checkStepName(given)
    if (steps.running > 0 && isInsideStep(lease)) throw errors.insideStep(name)
    if (attempt.completedInTx) throw errors.afterComplete(name)
    steps.called()
    return memos.call(name, kind)
  }

  const writeOf = (
    { name, place }: CalledStep,
    kind: StepKind,
    ranMs: number,
    rest: Partial<StepWrite>,
  ): StepWrite => ({ ...own, name, place, kind, ranMs, isDone: true, ...EMPTY_RECORD, ...rest })

  function accept(isAccepted: boolean): void {
    if (isAccepted) return
    interrupt(attempt, 'lease-lost', platform.monotonic())
    throw errors.leaseLost(lease)
  }

  async function save(item: StepWrite): Promise<void> {
    accept(await tools.record(item, attempt))
    if (item.isDone) attempt.countsAs = 1
  }

  /** The JSON text of a result; null for undefined. */
  function resultText(name: string, value: unknown): string | null {
    if (value === undefined) return null
    const text = jsonText(value, `the result of step "${name}"`, BOUNDS.stepBytes, RESULT_FIX)
    memos.add(text)
    return text
  }

  const runStep = stepRunner({ attempt, platform, save, writeOf, resultText, emit: tools.emit })

  /** The next attempt sees the row, so this one is not spent. */
  function noteStale(error: unknown): never {
    if (isJobmillError(error) && error.code === 'TX_STALE') attempt.stale = error
    throw error
  }

  /** A handler that was asked to stop must not wait. */
  function throwIfInterrupted(): void {
    if (attempt.interruption !== null) throw attempt.interruption
  }

  async function mayWait(name: string): Promise<void> {
    throwIfInterrupted()
    if (await tools.holdsPermit(attempt)) throw errors.holdsPermit([name])
  }

  /** Waits in this process until the wait is over or the attempt is parked. */
  async function waitFor(
    step: CalledStep,
    wait: Pick<StepWait, 'events' | 'waitMs' | 'until' | 'forChildren'>,
  ): Promise<string | null> {
    const { name, place } = step
    await mayWait(name)
    const item = { ...own, name, place, ...wait }
    for (;;) {
      throwIfInterrupted()
      const waited = await steps.during(() => tools.wait(item, attempt))
      accept(waited.accepted)
      if (waited.isDone) {
        memos.count(waited.result)
        attempt.countsAs = 1
        return waited.result
      }
      await pending(name, waited.dueInMs)
    }
  }

  function pending(name: string, dueInMs: number | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (then: () => void): void => {
        timer?.cancel()
        steps.remove(wait)
        then()
      }
      const untilAt = dueInMs === null ? null : platform.monotonic() + dueInMs
      const timer =
        dueInMs === null ? undefined : platform.timer(dueInMs, () => done(resolve), { unref: true })
      const wait = {
        name,
        untilAt,
        reject: (error: Error) => done(() => reject(error)),
        abandon: () => timer?.cancel(),
      }
      steps.add(wait)
    })
  }

  /** Records a short sleep only when it is over. */
  async function shortSleep(step: CalledStep, ms: number): Promise<void> {
    await pending(step.name, ms)
    await steps.during(() => save(writeOf(step, 'sleep', ms, {})))
  }

  const children = childSteps({
    call: (name) => call(name, 'child'),
    prepareJobs: tools.prepareJobs,
    async start({ name, place }, jobs) {
      await mayWait(name)
      accept(await steps.during(() => tools.start({ ...own, name, place, jobs }, attempt)))
    },
    wait: waitFor,
    read: ({ name }) => steps.during(() => tools.children(name, attempt)),
    async record(step, text) {
      const result = text === null ? null : resultText(step.name, JSON.parse(text))
      await steps.during(() => save(writeOf(step, 'child', 0, { result })))
      return parsed(result)
    },
    stored: ({ memo }) => parsed(memo?.result ?? null),
    never,
  })

  return handled({
    ...children,
    async run(given, run, options: StepOptions = {}) {
      const step = call(given, 'run')
      if (step === undefined) return never()
      checkFunction(run, 'run', 'Pass a function, such as () => charge(order)')
      checkObjectKeys(options, 'options', ['timeout'])
      const timeout =
        options.timeout === undefined ? undefined : timeoutMs(options.timeout, 'options.timeout')
      if (step.memo?.isDone === true) return parsed(step.memo.result) as never
      return steps.during(() => runStep(step, run, timeout)) as Promise<never>
    },
    async sleep(given, time) {
      const step = call(given, 'sleep')
      if (step === undefined) return never()
      const waitMs = durationMs(time, 'time')
      if (step.memo?.isDone === true) return
      if (step.memo === undefined && waitMs <= SHORT_MS) await shortSleep(step, waitMs)
      else await waitFor(step, { events: [], waitMs, until: null })
    },
    async sleepUntil(given, instant) {
      const step = call(given, 'sleep')
      if (step === undefined) return never()
      const until = instantAt(instant, 'instant')
      if (step.memo?.isDone !== true) await waitFor(step, { events: [], waitMs: null, until })
    },
    async waitForEvent(given: string | readonly string[], options: EventOptions = {}): Promise<never> {
      const events = errors.checkEventNames(given)
      checkObjectKeys(options, 'options', ['timeout', 'schema', 'name'])
      const declared = { kind: lease.kind, events: attempt.events }
      for (const [at, name] of events.entries())
        schemaOfEvent(declared, name, typeof given === 'string' ? 'event' : `event[${at}]`)
      const step = call(options.name ?? events.join(' or '), 'event')
      if (step === undefined) return never()
      const waitMs = options.timeout === undefined ? null : durationMs(options.timeout, 'options.timeout')
      const result =
        step.memo?.isDone === true ? step.memo.result : await waitFor(step, { events, waitMs, until: null })
      const received = parsed(result) as ReceivedEvent | undefined
      if (received === undefined) return null as never
      const { schema = schemaOfEvent(declared, received.event, 'event') } = options
      const payload =
        schema === undefined ? received.payload : await applySchema(schema, received.payload, 'event.payload')
      return (typeof given === 'string' ? payload : { event: received.event, payload }) as never
    },
    /**
     * Throws what a synchronous function throws, so that `db.transaction()` of better-sqlite3 rolls back.
     * Awaits nothing unnecessary: on SQLite, the write must have happened when this returns.
     */
    transaction(tx, given, run) {
      const step = call(given, 'transaction')
      if (step === undefined) return never()
      if (tx === undefined || tx === null) throw txMissing()
      checkFunction(run, 'run', 'Pass a function, such as () => book(tx, order)')
      if (step.memo?.isDone === true) return Promise.resolve(parsed(step.memo.result) as never)
      const startedAt = platform.monotonic()
      const recorded = async (value: unknown): Promise<never> => {
        const result = resultText(step.name, value)
        const ranMs = platform.monotonic() - startedAt
        const item = writeOf(step, 'transaction', ranMs, { result })
        accept(await tools.recordInTx(item, tx).catch(noteStale))
        return parsed(result) as never
      }
      steps.begin()
      const ended = (): void => {
        steps.end()
        // After a rollback, the same transaction may be run again.
        memos.release(step.name)
      }
      try {
        const made: unknown = asStepOf(lease, () => run())()
        if (!isThenable(made)) return recorded(made).finally(ended)
        const awaited = asStepOf(lease, async () => recorded(await made))
        return awaited().finally(ended)
      } catch (error) {
        ended()
        throw error
      }
    },
  })
}

/** Query builders such as Drizzle and Knex run a query when it is awaited. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

function txMissing(): JobmillError {
  const fix = 'Pass the transaction that the step writes in, or use step.run'
  return new JobmillError('TX_INVALID', 'is missing', { field: 'tx', fix })
}
