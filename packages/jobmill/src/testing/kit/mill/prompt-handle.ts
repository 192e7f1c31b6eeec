/**
 * Handles whose `result()` does not wait for the clock. Normally a job that ended without a waiter is found
 * by polling. On a clock that does not move the poll would never happen, and a handler that awaits two jobs
 * would hang.
 */
import { valueOf } from '../../../enqueue/job-handle.ts'
import { runApi } from '../../../enqueue/run.ts'
import type { JobHandle, ResultOptions } from '../../../job/enqueue/handle.ts'
import { checkObject } from '../../../job/options/known-keys.ts'
import { isEnded } from '../../../job/state.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { JobResult } from '../../../store/types/job-record.ts'
import type { Mill } from '../../../runtime/mill.ts'
import type { Store } from '../../../store/store.ts'
import type { Middleware } from '../../../work/handler.ts'

export interface PromptTools {
  readonly store: Pick<Store, 'results'>
  readonly platform: Platform
}

/**
 * Callbacks by clock, called when a job may have ended, because another mill on the same clock may have run
 * it.
 */
const waiting = new WeakMap<Platform, Set<() => void>>()

function listenersOn(platform: Platform): Set<() => void> {
  const known = waiting.get(platform) ?? new Set()
  waiting.set(platform, known)
  return known
}

/** Call this when jobs may have just ended. */
export function mayHaveEnded(platform: Platform): void {
  for (const listener of listenersOn(platform)) listener()
}

/** `mayAppear`: the job may not exist yet, because of an open transaction or a completion to come. */
function promptHandle<Handle extends JobHandle>(
  handle: Handle,
  tools: PromptTools,
  mayAppear: boolean,
): Handle {
  async function result(options: ResultOptions = {}): Promise<unknown> {
    checkObject(options, 'options', "{ timeout: '10s' }, or omit it")
    const answered = new AbortController()
    const signals = options.signal === undefined ? [answered.signal] : [options.signal, answered.signal]
    // The regular wait handles everything except the poll: timeout, signal, and the stop of the mill.
    const usual = handle.result({ ...options, signal: AbortSignal.any(signals) })
    const asked = async (): Promise<unknown> => {
      const answer = await untilEnded(handle.id, tools, { mayAppear, signal: answered.signal })
      // The regular wait comes first: it knows the result of a job that ended here and is not retained.
      await new Promise<void>((resolve) => tools.platform.nextTurn(resolve))
      return valueOf(handle.id, answer)
    }
    try {
      return await Promise.race([usual, asked()])
    } finally {
      usual.catch(() => {})
      answered.abort()
    }
  }
  return { ...handle, result }
}

/** Resolves when the job has ended. Queries at once, and again whenever a job may have ended. */
async function untilEnded(
  id: string,
  { store, platform }: PromptTools,
  { mayAppear, signal }: { readonly mayAppear: boolean; readonly signal: AbortSignal },
): Promise<JobResult | null> {
  const listeners = listenersOn(platform)
  for (;;) {
    const changed = Promise.withResolvers<void>()
    listeners.add(changed.resolve)
    signal.addEventListener('abort', () => changed.resolve(), { once: true })
    // If the query fails, the regular wait reports the error.
    const [answer] = await store.results([id]).catch(() => [])
    const isKnown = answer === null ? !mayAppear : answer !== undefined && isEnded(answer.state)
    if (!isKnown) await changed.promise
    listeners.delete(changed.resolve)
    if (isKnown || signal.aborted) return answer ?? null
  }
}

type Options = { readonly tx?: unknown; readonly withCompletion?: boolean } | undefined

/** Wraps `enqueue` or `enqueueMany` to return prompt handles. */
function promptly<Enqueue>(enqueue: Enqueue, tools: PromptTools): Enqueue {
  type Plain = (...call: [unknown, unknown?, Options?]) => Promise<JobHandle | JobHandle[]>
  const prompt: Plain = async (...call) => {
    const result = await (enqueue as Plain)(...call)
    const [, , options] = call
    const mayAppear = options?.tx !== undefined || options?.withCompletion === true
    return Array.isArray(result)
      ? result.map((handle) => promptHandle(handle, tools, mayAppear))
      : promptHandle(result, tools, mayAppear)
  }
  return prompt as Enqueue
}

/** Gives handlers prompt handles of the jobs that they enqueue. */
export function promptInside(tools: PromptTools): Middleware {
  return (context, next) => {
    const { enqueue, enqueueMany } = context
    // The context belongs to this attempt only, and the handler gets this object.
    Object.assign(context, {
      enqueue: promptly(enqueue, tools),
      enqueueMany: promptly(enqueueMany, tools),
    })
    return next()
  }
}

/** Wraps the functions of a mill that return handles. */
export function promptEnqueues(
  mill: Mill,
  tools: PromptTools,
): Pick<Mill, 'enqueue' | 'enqueueMany' | 'job' | 'run'> {
  const job = (target: string, id: string): JobHandle =>
    promptHandle(mill.job(target as never, id), tools, false)
  const enqueue = promptly(mill.enqueue.bind(mill), tools)
  return {
    enqueue,
    ...runApi({ client: { enqueue }, cancel: (id, how) => mill.cancel(id, how) }),
    enqueueMany: promptly(mill.enqueueMany.bind(mill), tools),
    job: job as Mill['job'],
  }
}
