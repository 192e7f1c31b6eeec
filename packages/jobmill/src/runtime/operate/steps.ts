/** Events for jobs that wait in a step, and what the steps of a job recorded. */
import { BOUNDS } from '../../job/defaults.ts'
import { isJobmillError, invalidValue, JobmillError, quote } from '../../job/errors.ts'
import { scopedKey } from '../../job/enqueue/new-job.ts'
import { checkId, checkKey } from '../../job/names.ts'
import { checkObject, checkObjectKeys } from '../../job/options/known-keys.ts'
import { isEnded } from '../../job/state.ts'
import { jsonText } from '../../job/text/json-text.ts'
import { sleep } from '../../platform/sleep.ts'
import { MAY_LAG } from '../../store/types/job-list.ts'
import type { EventReply, SentEvent, StepKind, StepRecord } from '../../store/types/step.ts'
import type { MillTools } from '../tools.ts'
import { one } from './operate.ts'

/** A job by its id, or by the dedupe key that it holds in the scope `global`. */
type EventTarget = string | { readonly dedupeKey: string }

interface SendOptions {
  /** Your own transaction: the event is sent when it commits. */
  readonly tx?: unknown
}

interface StepView extends Omit<StepRecord, 'result' | 'checkpoint'> {
  readonly kind: StepKind
  /** What the step returned, or the event that it received. Undefined if it has no result. */
  readonly result: unknown
  /** Undefined if the step saved none. */
  readonly checkpoint: unknown
}

export interface StepsApi {
  /**
   * Sends an event to a job that has not ended. The event is kept until the handler waits for it with
   * `step.waitForEvent`. Fails with JOB_UNKNOWN, and with JOB_ENDED. Resolves to the id of the job.
   */
  sendEvent(
    target: EventTarget,
    event: string,
    payload?: unknown,
    options?: SendOptions,
  ): Promise<{ readonly id: string }>
  /** The durable steps of a job: what ran, its results, and what it waits for. Null if the job is unknown. */
  steps(id: string): Promise<StepView[] | null>
}

const RESULT_FIX = 'Store it elsewhere and send a reference'
/** The event has an id, so sending it again stores it once. */
const RESEND_AFTER_MS = [0, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800]

export function stepsApi({ opened, store, platform, lifecycle }: MillTools): StepsApi {
  async function send(event: SentEvent): Promise<EventReply> {
    for (let sends = 0; ; sends += 1) {
      try {
        return one(await store.steps.send([event]))
      } catch (error) {
        const waitMs = RESEND_AFTER_MS[sends]
        if (waitMs === undefined || !isJobmillError(error) || !error.retryable) throw error
        await sleep(platform, waitMs)
      }
    }
  }

  return {
    async sendEvent(target, event, payload = null, options = {}) {
      checkObjectKeys(options, 'options', ['tx'])
      const sent: SentEvent = {
        eventId: platform.id(),
        to: targetOf(target),
        name: checkKey(event, 'event', BOUNDS.stepNameChars),
        payload: jsonText(payload, 'payload', BOUNDS.stepBytes, RESULT_FIX),
      }
      const { tx } = options
      // Awaits only where necessary: in a transaction on SQLite, it must have written when it returns.
      const opening = lifecycle.open()
      if (opening !== undefined) await opening
      const reply = tx === undefined ? await send(sent) : one(await store.steps.send([sent], { tx }))
      if (!reply.isStored) throw notStored(target, reply)
      lifecycle.engine?.stageSoon()
      return { id: reply.id ?? '' }
    },
    async steps(id) {
      const records = await (await opened()).steps.list(checkId(id, 'id'), MAY_LAG)
      return records === null ? null : records.map(viewOf)
    },
  }
}

function targetOf(target: EventTarget): SentEvent['to'] {
  if (typeof target === 'string') return checkId(target, 'target')
  checkObject(target, 'target', "the id of a job, or { dedupeKey: 'order-42' }")
  checkObjectKeys(target, 'target', ['dedupeKey'])
  const key = checkKey(target.dedupeKey, 'target.dedupeKey')
  return { dedupeKey: scopedKey('global', key, { queue: '', kind: '' }) }
}

function notStored(target: EventTarget, { id, state }: EventReply): JobmillError {
  if (state !== null && isEnded(state)) {
    const fix = 'Send events only to jobs that have not ended'
    return new JobmillError('JOB_ENDED', `job ${id ?? ''} is ${state}, so it receives no events`, { fix })
  }
  if (typeof target === 'string')
    return invalidValue('target', target, 'no job has this id', 'Check the id', 'JOB_UNKNOWN')
  const what = `no job holds the dedupe key ${quote(target.dedupeKey)} in the scope global`
  return new JobmillError('JOB_UNKNOWN', what, {
    field: 'target.dedupeKey',
    fix: 'Pass the id of the job instead',
  })
}

function viewOf({ result, checkpoint, ...record }: StepRecord): StepView {
  return { ...record, result: parsed(result), checkpoint: parsed(checkpoint) }
}

function parsed(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text)
}
