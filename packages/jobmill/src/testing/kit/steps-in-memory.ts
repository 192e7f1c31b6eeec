/**
 * Durable steps for a handler that runs without a store. Given steps return their results without running,
 * sleeps end at once, and a wait for an event that was not given parks the attempt.
 */
import { BOUNDS } from '../../job/defaults.ts'
import { jsonText } from '../../job/text/json-text.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Memo, StepKind, StepWait, StepWrite, Waited } from '../../store/types/step.ts'
import type { Attempt } from '../../work/attempt.ts'
import { attemptSteps } from '../../work/steps/attempt-steps.ts'
import type { PrepareJobs } from '../../work/steps/child-steps.ts'
import { checkStepName } from '../../work/steps/step-errors.ts'

/** A step that the handler ran. */
export interface StepRun {
  readonly name: string
  readonly kind: StepKind
  readonly result: unknown
}

export interface GivenSteps {
  /** Results of steps that an earlier attempt recorded, by name. */
  readonly steps?: Readonly<Record<string, unknown>>
  /** Payloads of events that have arrived, by event. */
  readonly events?: Readonly<Record<string, unknown>>
}

/** `enqueue` records the child jobs, which never run. */
export function stepsInMemory(
  { steps = {}, events = {} }: GivenSteps,
  platform: Platform,
  children: { readonly prepare: PrepareJobs; readonly enqueue: (jobs: readonly NewJob[]) => void },
) {
  const ran: StepRun[] = []
  const waited = new Set<string>()
  const arrived = new Map(Object.entries(events).map(([name, value]) => [name, textOf(value) ?? 'null']))

  function record({ name, kind, isDone, result }: StepWrite): boolean {
    if (isDone) ran.push({ name, kind, result: parsed(result) })
    return true
  }

  function wait({ name, events: names, waitMs, forChildren }: StepWait): Waited {
    if (forChildren === true) return { accepted: true, isDone: false, result: null, dueInMs: null }
    const isSleep = names.length === 0
    const event = names.find((one) => arrived.has(one))
    const payload = event === undefined ? undefined : arrived.get(event)
    const result = payload === undefined ? null : `{"event":${JSON.stringify(event)},"payload":${payload}}`
    if (event !== undefined) arrived.delete(event)
    // Called again, so the timeout is over.
    const isDone = isSleep || result !== null || waited.has(name)
    waited.add(name)
    if (isDone) ran.push({ name, kind: isSleep ? 'sleep' : 'event', result: parsed(result) })
    return { accepted: true, isDone, result, dueInMs: waitMs }
  }

  const memos = Object.entries(steps).map(([name, value], place): Memo => ({
    name: checkStepName(name, 'steps'),
    place,
    kind: 'run',
    isDone: true,
    result: textOf(value),
    checkpoint: null,
  }))

  return {
    ran,
    of: (attempt: Attempt) =>
      attemptSteps(
        attempt,
        { memos, version: undefined },
        {
          platform,
          emit: () => {},
          record: async (item) => record(item),
          recordInTx: async (item) => record(item),
          wait: async (item) => wait(item),
          start: async ({ jobs }) => {
            children.enqueue(jobs)
            return true
          },
          children: async () => [],
          prepareJobs: children.prepare,
          holdsPermit: async () => false,
        },
      ),
  }
}

function textOf(value: unknown): string | null {
  return value === undefined ? null : jsonText(value, 'steps', BOUNDS.stepBytes, 'Pass a smaller value')
}

function parsed(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text)
}
