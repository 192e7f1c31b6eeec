/**
 * Collects jobs of one kind into chunks, and calls the handler once for each chunk. Everything else sees
 * ordinary attempts: each job keeps its lease, its attempt and its outcome.
 */
import type { JobContext } from '../job/context.ts'
import type { JobDefinition } from '../job/kind/definition.ts'
import type { ChunkJob, ChunkPlan, ChunkRun } from '../job/kind/chunk.ts'
import { JobmillError } from '../job/errors.ts'
import type { Platform, Timer } from '../platform/platform.ts'
import { asHandlerOf } from './inside-handler.ts'

/** A job that waits for its chunk, or is in one. */
interface Member {
  readonly context: JobContext
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  /** Leaves the chunk before it starts. */
  readonly leave: () => void
}

type Runs = Pick<JobDefinition, 'run' | 'chunk'>

/** What runs one job of a kind. For a kind with chunks, it resolves when the chunk of the job has ended. */
export function runOf({ run, chunk }: Runs, platform: Platform): JobDefinition['run'] {
  if (chunk === undefined) return run
  const collect = (onEmpty: () => void): JobDefinition['run'] =>
    inChunks(run as unknown as ChunkRun, chunk, platform, onEmpty)
  return chunk.byGroup ? perGroup(collect) : collect(() => {})
}

/** Collects the jobs of each group separately. Forgets a group when none of its jobs waits. */
function perGroup(collect: (onEmpty: () => void) => JobDefinition['run']): JobDefinition['run'] {
  const groups = new Map<string | null, JobDefinition['run']>()
  return (context) => {
    const { group } = context.job
    const known = groups.get(group) ?? collect(() => groups.delete(group))
    groups.set(group, known)
    return known(context)
  }
}

function inChunks(
  run: ChunkRun,
  { size, waitMs }: ChunkPlan,
  platform: Platform,
  onEmpty: () => void,
): JobDefinition['run'] {
  const waiting = new Set<Member>()
  let timer: Timer | null = null

  function stopTimer(): void {
    timer?.cancel()
    timer = null
  }

  function start(): void {
    stopTimer()
    const members = [...waiting]
    waiting.clear()
    onEmpty()
    for (const { context, leave } of members) context.signal.removeEventListener('abort', leave)
    const [first] = members
    if (first === undefined) return
    void asHandlerOf(first.context.instance.id, () => runChunk(run, first.context, members))()
  }

  return (context) =>
    new Promise<void>((resolve, reject) => {
      const { signal } = context
      const leave = (): void => {
        waiting.delete(member)
        if (waiting.size === 0) {
          stopTimer()
          onEmpty()
        }
        reject(signal.reason as Error)
      }
      const member: Member = { context, resolve, reject, leave }
      waiting.add(member)
      signal.addEventListener('abort', leave, { once: true })
      if (waiting.size >= size) start()
      else timer ??= platform.timer(waitMs, start)
    })
}

async function runChunk(run: ChunkRun, first: JobContext, members: readonly Member[]): Promise<void> {
  const failures = new Map<Member, unknown>()
  let isOver = false
  const jobs = members.map((member): ChunkJob => {
    const { payload, job, attempt, signal, log, progress, previousError } = member.context
    const fail = (error: unknown): void => {
      if (isOver) throw endedError(job.id)
      failures.set(member, error)
    }
    return { payload, job, attempt, signal, log, progress, previousError, fail }
  })
  const { signal, release } = whenAllAborted(jobs)
  const { context, now, instance } = first
  let thrown: { readonly error: unknown } | null = null
  try {
    await run({ jobs, signal, context, now, instance })
  } catch (error) {
    thrown = { error }
  }
  isOver = true
  release()
  for (const member of members) {
    if (failures.has(member)) member.reject(failures.get(member))
    else if (thrown === null) member.resolve()
    else member.reject(thrown.error)
  }
}

/** A signal that aborts after those of all jobs, with the reason of the last one. */
function whenAllAborted(jobs: readonly ChunkJob[]) {
  const all = new AbortController()
  let left = jobs.length
  const removals = jobs.map(({ signal }) => {
    const count = (): void => {
      left -= 1
      if (left === 0) all.abort(signal.reason)
    }
    signal.addEventListener('abort', count, { once: true })
    return () => signal.removeEventListener('abort', count)
  })
  return { signal: all.signal, release: () => removals.forEach((remove) => remove()) }
}

function endedError(id: string): JobmillError {
  const what = `the chunk of job ${id} has ended`
  return new JobmillError('ATTEMPT_ENDED', what, { fix: 'Call fail before the handler returns' })
}
