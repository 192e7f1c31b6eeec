/** The handlers of a mill: one for every job, and one for every `onDead` and `onCancelled`. */
import type { CancelledContext, DeadContext, JobContext, RecordedStep } from '../job/context.ts'
import { DEFAULTS } from '../job/defaults.ts'
import { type AnyJob, defineJob, type JobDefinition } from '../job/kind/definition.ts'
import { invalidValue } from '../job/errors.ts'
import { onCancelledKind } from '../job/attempt/on-cancelled.ts'
import { onDeadKind } from '../job/attempt/on-dead.ts'
import { Dead } from '../job/attempt/thrown.ts'
import { kindsOfVersion } from '../job/kind/kind-name.ts'
import { orAborted } from '../platform/or-aborted.ts'
import type { Platform } from '../platform/platform.ts'
import type { KindDefaults, NewInstance } from '../store/types/instance.ts'
import type { FullStore } from '../store/store.ts'
import { runOf } from '../work/chunks.ts'
import type { Handler } from '../work/handler.ts'
import { jobView } from './operate/job-view.ts'

interface HandlerTools {
  readonly platform: Platform
  readonly store: Pick<FullStore, 'get' | 'steps'>
  /** Interrupts all attempts if the lease of the running instance is over. */
  readonly noticeLostLease: () => void
}

/** `ours` are the jobs of Jobmill itself, which no option names. */
export function handlersOf(
  jobs: readonly AnyJob[],
  ours: readonly AnyJob[],
  tools: HandlerTools,
): ReadonlyMap<string, Handler> {
  const all = [...jobs, ...ours].flatMap((job) => {
    const { kind, onDead, onCancelled } = job
    const own: Handler = {
      ...job,
      run: runOf(job, tools.platform),
      followsDeaths: onDead !== undefined,
      followsCancels: onCancelled !== undefined,
    }
    return [
      own,
      ...(onDead === undefined ? [] : [onDeadHandler(kind, onDead, tools)]),
      ...(onCancelled === undefined ? [] : [onCancelledHandler(kind, onCancelled, tools)]),
    ]
  })
  return new Map(all.map((handler) => [handler.kind, handler]))
}

/** Under which names stores keep the jobs that these handlers run. */
export function storedKinds(handlers: ReadonlyMap<string, Handler>): string[] {
  return [...handlers.values()].flatMap(({ kind, version }) => kindsOfVersion(kind, version))
}

/** The kinds whose dead or cancelled jobs get a follow-up. */
export function followedKinds(
  handlers: ReadonlyMap<string, Handler>,
): Required<Pick<NewInstance, 'onDead' | 'onCancelled'>> {
  const all = [...handlers.values()]
  return {
    onDead: all.flatMap(({ kind, followsDeaths }) => (followsDeaths ? kind : [])),
    onCancelled: all.flatMap(({ kind, followsCancels }) => (followsCancels ? kind : [])),
  }
}

/** What `enqueue` applies to the jobs of each kind: see enqueue/requests.ts. */
export function kindDefaults(options: {
  readonly jobs: readonly AnyJob[]
  readonly queueOf: (kind: string) => string
}): KindDefaults[] {
  return options.jobs.map(({ kind, queue, priority, maxAttempts, indexedPayload, group }) => ({
    kind,
    queue: queue ?? options.queueOf(kind),
    priority: priority ?? DEFAULTS.priority,
    maxAttempts: maxAttempts ?? DEFAULTS.maxAttempts,
    indexedPayload,
    groupPath: group?.path,
  }))
}

export function handlerFor(handlers: ReadonlyMap<string, Handler>, kind: string): Handler {
  const handler = handlers.get(kind)
  if (handler !== undefined) return handler
  const fix = 'Add the job definition to the jobs of jobmill()'
  throw invalidValue('kind', kind, 'has no handler in this process', fix)
}

interface Ended {
  readonly id: string
}

/** Run as ordinary jobs: retried when they fail, and enqueued once for each job that is dead or cancelled. */
function onDeadHandler(
  kind: string,
  onDead: (context: DeadContext) => unknown,
  tools: HandlerTools,
): Handler {
  const job: JobDefinition = defineJob({
    kind: onDeadKind(kind),
    async run(context: JobContext<Ended & { readonly error: string }>) {
      const { ended: dead, ...rest } = await followUpOf(context, tools)
      return onDead({ ...rest, dead, error: context.payload.error })
    },
  })
  return { ...job, ...FOLLOWS_NOTHING }
}

function onCancelledHandler(
  kind: string,
  onCancelled: (context: CancelledContext) => unknown,
  tools: HandlerTools,
): Handler {
  const job: JobDefinition = defineJob({
    kind: onCancelledKind(kind),
    async run(context: JobContext<Ended & { readonly reason: string }>) {
      const { ended: cancelled, ...rest } = await followUpOf(context, tools)
      return onCancelled({ ...rest, cancelled, reason: context.payload.reason })
    },
  })
  return { ...job, ...FOLLOWS_NOTHING }
}

const FOLLOWS_NOTHING = { followsDeaths: false, followsCancels: false }

/**
 * The context of a follow-up, with the job that it follows and the recorded steps of this job. The callback
 * must not start after the attempt was asked to stop: another process may run it by then.
 */
async function followUpOf(context: JobContext<Ended>, { store, noticeLostLease }: HandlerTools) {
  const { signal } = context
  const { id } = context.payload
  const [record] = await orAborted(store.get([id]), signal)
  if (record === undefined || record === null) throw new Dead(`job ${id} no longer exists`)
  const { complete: _complete, ...rest } = context
  const steps = await orAborted(recordedSteps(store, id), signal)
  noticeLostLease()
  signal.throwIfAborted()
  const { payload, kind, queue, attempt, crashes, tags, metadata } = jobView(record)
  return { ...rest, payload, steps, ended: { id, kind, queue, attempt, crashes, tags, metadata } }
}

async function recordedSteps({ steps }: HandlerTools['store'], id: string): Promise<readonly RecordedStep[]> {
  const [memos = []] = await steps.read([id])
  const recorded = memos.flatMap(({ name, isDone, result }) =>
    isDone ? { name, result: result === null ? undefined : (JSON.parse(result) as unknown) } : [],
  )
  return recorded.toReversed()
}
