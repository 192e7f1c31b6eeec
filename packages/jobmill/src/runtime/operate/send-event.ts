/** `mill.sendEvent`: an event for the handler of a job, which waits for it in a step. */
import { BOUNDS } from '../../job/defaults.ts'
import { isJobmillError, invalidValue, JobmillError, quote } from '../../job/errors.ts'
import { scopedKey } from '../../job/enqueue/new-job.ts'
import { isDeclaration, type JobDeclaration } from '../../job/kind/declaration.ts'
import {
  type EventName,
  type EventSchemas,
  schemaOfEvent,
  type SentPayload,
} from '../../job/kind/event-schemas.ts'
import { checkId, checkKey } from '../../job/names.ts'
import { checkObject, checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkStored } from '../../job/payload/check-stored.ts'
import { isEnded } from '../../job/state.ts'
import { jsonText } from '../../job/text/json-text.ts'
import { sleep } from '../../platform/sleep.ts'
import type { EventReply, SentEvent } from '../../store/types/step.ts'
import type { MillTools } from '../tools.ts'
import { one } from './operate.ts'

/** A job by its id, or by the dedupe key that it holds in the scope `global`. */
type EventTarget = string | { readonly dedupeKey: string }

interface SendOptions {
  /** Your own transaction: the event is sent when it commits. */
  readonly tx?: unknown
}

/** The payload can be omitted if its schema accepts null, which is then stored. */
type PayloadAndOptions<Payload> = null extends Payload
  ? readonly [payload?: Payload, options?: SendOptions]
  : readonly [payload: Payload, options?: SendOptions]

export interface SendEventApi {
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
  /**
   * Pass the definition to check the name and the payload against its option `events`. Nothing is stored if
   * they do not match, or if the job has another kind.
   */
  sendEvent<Events extends EventSchemas, Name extends EventName<Events>>(
    job: JobDeclaration<never, unknown, unknown, never, Events>,
    target: EventTarget,
    event: Name,
    ...payloadAndOptions: PayloadAndOptions<SentPayload<Events, Name>>
  ): Promise<{ readonly id: string }>
}

const FIX = 'Store it elsewhere and send a reference'
/** The event has an id, so the database stores it only once. */
const RESEND_AFTER_MS = [0, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800]

export function sendEventApi({ store, platform, lifecycle }: MillTools): SendEventApi {
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
    async sendEvent(...given: readonly unknown[]) {
      const [job, rest] = isDeclaration(given[0]) ? [given[0], given.slice(1)] : [undefined, given]
      const [target, givenName, payload = null, options = {}] = rest
      const to = targetOf(target)
      const name = checkKey(givenName, 'event', BOUNDS.stepNameChars)
      checkObjectKeys(options, 'options', ['tx'])
      const schema = job === undefined ? undefined : schemaOfEvent(job, name, 'event')
      const text = jsonText(payload, 'payload', BOUNDS.stepBytes, FIX)
      const event: SentEvent = {
        eventId: platform.id(),
        to,
        name,
        payload: text,
        ...(job !== undefined && { kind: job.kind }),
      }
      const { tx } = options as SendOptions
      // Awaits only where necessary: in a transaction on SQLite, it must have written when it returns.
      const checking = schema === undefined ? undefined : checkStored(schema, { text, payload }, 'payload')
      if (checking !== undefined) await checking
      const opening = lifecycle.open()
      if (opening !== undefined) await opening
      const reply = tx === undefined ? await send(event) : one(await store.steps.send([event], { tx }))
      if (!reply.isStored) throw notStored(target as EventTarget, event, reply)
      lifecycle.engine?.stageSoon()
      return { id: reply.id ?? '' }
    },
  }
}

function targetOf(target: unknown): SentEvent['to'] {
  if (typeof target === 'string') return checkId(target, 'target')
  checkObject(target, 'target', "the id of a job, or { dedupeKey: 'order-42' }")
  if ('id' in target) throw invalidValue('target', target, 'must be the id of a job', 'Pass job.id')
  checkObjectKeys(target, 'target', ['dedupeKey'])
  const key = checkKey((target as { readonly dedupeKey?: unknown }).dedupeKey, 'target.dedupeKey')
  return { dedupeKey: scopedKey('global', key, { queue: '', kind: '' }) }
}

function notStored(
  target: EventTarget,
  { kind = '' }: SentEvent,
  { id, state, otherKind }: EventReply,
): JobmillError {
  if (otherKind !== undefined) {
    const what = `job ${id ?? ''} has the kind ${quote(otherKind)}`
    return invalidValue('job', kind, what, 'Pass the definition of that kind', 'OPTION_CONFLICT')
  }
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
