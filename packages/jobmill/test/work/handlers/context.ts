/** A context like the runtime's, with the fields that a test needs, and with the log recorded. */
import type { JobContext, JobInfo, JobLog } from '../../../src/job/context.ts'
import type { AnyJob } from '../../../src/job/kind/definition.ts'
import { Interruption, type InterruptionCause } from '../../../src/job/attempt/interruption.ts'
import { systemPlatform } from '../../../src/platform/platform.ts'

interface Line {
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export interface TestContext extends JobContext {
  readonly lines: readonly Line[]
}

export interface ContextOptions {
  readonly signal?: AbortSignal
  readonly job?: Partial<JobInfo>
  readonly onLog?: (line: Line) => void
}

export function aContext(payload: unknown, { signal, job, onLog }: ContextOptions = {}): TestContext {
  const info = aJobInfo(job)
  const lines: Line[] = []
  const log = (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    lines.push({ message, fields })
    onLog?.({ message, fields })
  }
  return {
    payload,
    context: undefined,
    job: info,
    attempt: info.attempt,
    signal: signal ?? new AbortController().signal,
    progress: notHere,
    log: Object.assign(log, { debug: log, info: log, warn: log, error: log }) satisfies JobLog,
    now: () => systemPlatform.now(),
    instance: { id: systemPlatform.id(), label: null },
    enqueue: notHere,
    enqueueMany: notHere,
    snooze: notHere,
    previousError: notHere,
    complete: notHere,
    step: {
      run: notHere,
      sleep: notHere,
      sleepUntil: notHere,
      waitForEvent: notHere,
      child: notHere,
      children: notHere,
      transaction: notHere,
    },
    limit: { acquire: notHere, tryAcquire: notHere, drain: notHere },
    lines,
  }
}

function aJobInfo(job: Partial<JobInfo> = {}): JobInfo {
  return {
    id: systemPlatform.id(),
    kind: 'some.kind',
    queue: 'default',
    priority: 0,
    attempt: 1,
    maxAttempts: 5,
    crashes: 0,
    enqueuedAt: 0,
    tags: [],
    metadata: null,
    orderKey: null,
    group: null,
    token: 1,
    ...job,
  }
}

function notHere(): never {
  throw new Error('a built-in handler uses nothing of this')
}

/** What the handler of a definition returns or throws. */
export async function run(
  definition: AnyJob,
  payload: unknown,
  options: ContextOptions = {},
): Promise<unknown> {
  return await definition.run(aContext(payload, options))
}

/** What it throws; fails when it throws nothing. */
export async function failure(attempt: Promise<unknown>): Promise<Error> {
  try {
    await attempt
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

/** A signal as the runtime fires it. */
export function interruptible(): {
  readonly signal: AbortSignal
  readonly interrupt: (why: InterruptionCause) => Interruption
} {
  const controller = new AbortController()
  return {
    signal: controller.signal,
    interrupt(why) {
      const reason = new Interruption(why, `${why}, says the test`)
      controller.abort(reason)
      return reason
    },
  }
}
