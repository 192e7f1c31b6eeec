/**
 * Handles whose `result()` does not wait for the clock. A job that ended in the same process while nobody awaited it is found by asking the database now and
 * then; on a clock that stands still that would be never, and a handler that awaits two jobs would wait for ever.
 */
import { jobHandle } from '../../enqueue/job-handle.ts'
import type { Results } from '../../enqueue/results.ts'
import type { JobHandle, ResultOptions } from '../../job/handle.ts'
import { checkObject } from '../../job/known-keys.ts'
import { isEnded } from '../../job/state.ts'
import type { Platform } from '../../platform/platform.ts'
import type { JobResult } from '../../store/job-record.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { ReadSide } from '../../store/store.ts'
import type { Middleware } from '../../work/handler.ts'

export interface PromptTools {
  readonly store: Pick<ReadSide, 'results'>
  readonly platform: Platform
}

/** Those who want to know when a job may have ended, by clock: another mill on it may have run the job. */
const waiting = new WeakMap<Platform, Set<() => void>>()

function listenersOn(platform: Platform): Set<() => void> {
  const known = waiting.get(platform) ?? new Set()
  waiting.set(platform, known)
  return known
}

/** Some jobs may have ended just now. */
export function mayHaveEnded(platform: Platform): void {
  for (const listener of listenersOn(platform)) listener()
}

/** `mayAppear`: it may not exist yet, in a transaction that was not committed or with a completion that is to come. */
function promptHandle<Handle extends JobHandle>(
  handle: Handle,
  tools: PromptTools,
  mayAppear: boolean,
): Handle {
  async function result(options: ResultOptions = {}): Promise<unknown> {
    checkObject(options, 'options', "{ timeout: '10s' }, or leave it out")
    const found = new AbortController()
    const signals = options.signal === undefined ? [found.signal] : [options.signal, found.signal]
    // As usual, for everything but the asking: the time-out, the signal, the end of the mill.
    const usual = handle.result({ ...options, signal: AbortSignal.any(signals) })
    const asked = ended(handle.id, tools, { mayAppear, signal: found.signal })
    try {
      return await Promise.race([usual, asked.then((answer) => valueOf(handle.id, answer, tools))])
    } finally {
      usual.catch(() => {})
      found.abort()
    }
  }
  return { ...handle, result }
}

/** Asks at once, and whenever something ended. */
async function ended(
  id: string,
  { store, platform }: PromptTools,
  { mayAppear, signal }: { readonly mayAppear: boolean; readonly signal: AbortSignal },
): Promise<JobResult | null> {
  const listeners = listenersOn(platform)
  for (;;) {
    const changed = Promise.withResolvers<void>()
    listeners.add(changed.resolve)
    signal.addEventListener('abort', () => changed.resolve(), { once: true })
    // A store that cannot be asked is trouble for whoever waits as usual to tell of.
    const [answer] = await store.results([id]).catch(() => [])
    const isKnown = answer === null ? !mayAppear : answer !== undefined && isEnded(answer.state)
    if (!isKnown) await changed.promise
    listeners.delete(changed.resolve)
    if (isKnown || signal.aborted) return answer ?? null
  }
}

/** What `result()` makes of an answer. */
function valueOf(id: string, answer: JobResult | null, { platform }: PromptTools): Promise<unknown> {
  const results: Results = {
    add(_id, waiter) {
      // Not at once: whoever adds itself does not know yet that it was added.
      platform.nextTurn(() => waiter.settle(answer))
      return () => {}
    },
    ended: () => {},
    forget: () => {},
    stop: () => {},
  }
  return jobHandle(id, { results, platform }).result()
}

type Options = { readonly tx?: unknown; readonly withCompletion?: boolean } | undefined

/** An `enqueue` or `enqueueMany` of a mill or of a handler, with handles that are prompt. */
function promptly<Enqueue>(enqueue: Enqueue, tools: PromptTools): Enqueue {
  type Plain = (target: unknown, what: unknown, options: Options) => Promise<JobHandle | JobHandle[]>
  const prompt: Plain = async (target, what, options) => {
    const given = await (enqueue as Plain)(target, what, options)
    const mayAppear = options?.tx !== undefined || options?.withCompletion === true
    return Array.isArray(given)
      ? given.map((handle) => promptHandle(handle, tools, mayAppear))
      : promptHandle(given, tools, mayAppear)
  }
  return prompt as Enqueue
}

/** The same for what handlers enqueue. */
export function promptInside(tools: PromptTools): Middleware {
  return (context, next) => {
    const { enqueue, enqueueMany } = context
    // The context of this attempt is nobody else's, and the handler gets this very object.
    Object.assign(context, {
      enqueue: promptly(enqueue, tools),
      enqueueMany: promptly(enqueueMany, tools),
    })
    return next()
  }
}

/** The same for a mill, and for the handles of jobs that it is asked for. */
export function promptEnqueues(
  mill: Mill,
  tools: PromptTools,
): Pick<Mill, 'enqueue' | 'enqueueMany' | 'job'> {
  const job = (target: string, id: string): JobHandle =>
    promptHandle(mill.job(target as never, id), tools, false)
  return {
    enqueue: promptly(mill.enqueue.bind(mill), tools),
    enqueueMany: promptly(mill.enqueueMany.bind(mill), tools),
    job: job as Mill['job'],
  }
}
