/** The handlers of a mill: one for every job, and one for every `onDead`. */
import type { DeadContext, JobContext, RecordedStep } from '../job/context.ts'
import { type AnyJob, defineJob, type JobDefinition } from '../job/kind/definition.ts'
import { invalidValue } from '../job/errors.ts'
import { onDeadKind } from '../job/attempt/on-dead.ts'
import { Dead } from '../job/attempt/thrown.ts'
import type { FullStore } from '../store/store.ts'
import type { Handler } from '../work/handler.ts'
import { jobView } from './operate/job-view.ts'

type HandlerStore = Pick<FullStore, 'get' | 'steps'>

/** `ours` are the jobs of Jobmill itself, which no option names. */
export function handlersOf(
  jobs: readonly AnyJob[],
  ours: readonly AnyJob[],
  store: HandlerStore,
): ReadonlyMap<string, Handler> {
  const all = [...jobs, ...ours].flatMap((job) => {
    const own: Handler = { ...job, followsDeaths: job.onDead !== undefined }
    return job.onDead === undefined ? [own] : [own, onDeadHandler(job.kind, job.onDead, store)]
  })
  return new Map(all.map((handler) => [handler.kind, handler]))
}

export function handlerFor(handlers: ReadonlyMap<string, Handler>, kind: string): Handler {
  const handler = handlers.get(kind)
  if (handler !== undefined) return handler
  const fix = 'Add the job definition to the jobs of jobmill()'
  throw invalidValue('kind', kind, 'has no handler in this process', fix)
}

/** Runs as an ordinary job: retried when it fails, and enqueued once for each dead job. */
function onDeadHandler(
  kind: string,
  onDead: (context: DeadContext) => unknown,
  store: HandlerStore,
): Handler {
  const job: JobDefinition = defineJob({
    kind: onDeadKind(kind),
    async run(context: JobContext<{ readonly id: string; readonly error: string }>) {
      const { id, error } = context.payload
      const [record] = await store.get([id])
      if (record === undefined || record === null) throw new Dead(`dead job ${id} no longer exists`)
      const { complete: _complete, ...rest } = context
      const steps = await recordedSteps(store, id)
      const { payload, queue, attempt, crashes, tags, metadata } = jobView(record)
      const dead = { id, kind, queue, attempt, crashes, tags, metadata }
      return onDead({ ...rest, payload, error, dead, steps })
    },
  })
  return { ...job, followsDeaths: false }
}

async function recordedSteps({ steps }: HandlerStore, id: string): Promise<readonly RecordedStep[]> {
  const [memos = []] = await steps.read([id])
  const recorded = memos.flatMap(({ name, isDone, result }) =>
    isDone ? { name, result: result === null ? undefined : (JSON.parse(result) as unknown) } : [],
  )
  return recorded.toReversed()
}
