/**
 * The store of one test mill: records what is enqueued through it, and is closed by the last mill that uses
 * it.
 */
import type { NewJob } from '../../../job/enqueue/new-job.ts'
import type { Finish, Finished } from '../../../store/types/finish.ts'
import type { Enqueued } from '../../../store/types/replies.ts'
import type { Store } from '../../../store/store.ts'
import { type RecordedJob, recordedJob } from '../recorded-job.ts'
import { ALL_VERBS, aroundVerbs, type Verb } from '../../../store/verbs.ts'

export interface EnqueuedRecord<Payload = unknown> extends RecordedJob<Payload> {
  /** The id of the new job, or of the job that holds the dedupe key. */
  readonly id: string
  readonly outcome: Enqueued['outcome']
}

/** The number of mills that use a store. */
const users = new WeakMap<Store<never>, number>()

function use(store: Store<never>, by: 1 | -1): number {
  const now = (users.get(store) ?? 0) + by
  users.set(store, now)
  return now
}

export interface MillStoreOptions {
  /**
   * Receives every written job in the order of the replies. A job whose reply was lost is reported once its
   * write is known.
   */
  readonly onEnqueued: (record: EnqueuedRecord) => void
  /** Called when some jobs may have ended. */
  readonly changed: () => void
}

/** The verbs that can end or delete a job. */
const ENDING: ReadonlySet<Verb> = new Set<Verb>(['finish', 'cancel', 'delete', 'instances.reap'])

export function millStore<S extends Store<never>>(store: S, { onEnqueued, changed }: MillStoreOptions): S {
  let isUsed = true
  use(store, 1)

  function enqueued(jobs: readonly NewJob[], replies: readonly Enqueued[]): void {
    jobs.forEach((job, at) => {
      // A repeated finish after a lost reply does not list its follow-ups: the first one wrote them.
      const { id, outcome } = replies[at] ?? { id: job.id, outcome: 'enqueued' }
      onEnqueued({ ...recordedJob(job), id, outcome })
    })
  }

  function finished(items: readonly Finish[], replies: readonly Finished[]): void {
    items.forEach(({ followUps = [] }, at) => {
      const reply = replies[at]
      if (reply?.accepted === true) enqueued(followUps, reply.followUps)
    })
  }

  async function close(): Promise<void> {
    if (!isUsed) return
    isUsed = false
    if (use(store, -1) === 0) await store.close()
  }

  return aroundVerbs(store, ALL_VERBS, (verb, call) => async (...args) => {
    if (verb === 'close') return close()
    if (verb === 'open' && !isUsed) {
      // A failed start has closed the store.
      isUsed = true
      use(store, 1)
    }
    const reply = await call(...args)
    if (verb === 'enqueue') enqueued(args[0] as readonly NewJob[], reply as readonly Enqueued[])
    if (verb === 'finish' && !isRehearsal(args[1]))
      finished(args[0] as readonly Finish[], reply as readonly Finished[])
    if (ENDING.has(verb)) changed()
    return reply
  })
}

function isRehearsal(options: unknown): boolean {
  return typeof options === 'object' && options !== null && 'rehearse' in options && options.rehearse === true
}
