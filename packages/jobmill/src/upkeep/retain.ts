/** Deletes what exceeds the retention settings, in bounded batches until nothing is left. */
import { JobmillError, isJobmillError, quote } from '../job/errors.ts'
import { NOTHING_RETAINED, type Retained, type RetainRequest } from '../store/types/replies.ts'
import type { FullStore } from '../store/store.ts'
import type { Counts } from './duty.ts'

type RetainStore = Pick<FullStore, 'retain' | 'queues' | 'retainBatch'>
type Ages = Omit<RetainRequest, 'limit'>

const PER_BATCH = 500

/** Errors of an unreachable database, which would fail every queue. */
const OF_ALL: ReadonlySet<string> = new Set(['STORE_UNAVAILABLE', 'STORE_REFUSED', 'STORE_CLOSED'])

/**
 * Returns how many jobs, by final state, and how many other records were deleted. If a queue fails, processes
 * the other queues, calls `partly` with these numbers, and rejects.
 */
export async function retainAll(
  store: RetainStore,
  ages: Ages,
  signal: AbortSignal,
  partly: (counts: Counts) => void = () => {},
): Promise<Counts> {
  const { more: _more, ...counts } = { ...NOTHING_RETAINED }
  const all: Record<keyof typeof counts, number> = counts
  const add = (gone: Retained): void => {
    for (const what of Object.keys(all) as (keyof typeof counts)[]) all[what] += gone[what]
  }
  try {
    await retainUntilLess(store, ages, signal, add)
    return all
  } catch (error) {
    if (signal.aborted || (isJobmillError(error) && OF_ALL.has(error.code))) throw error
  }
  const [first, ...others] = await retainEach(store, ages, signal, add)
  if (first === undefined) return all
  partly(all)
  if (others.length === 0) throw first
  throw new AggregateError([first, ...others], 'retention failed in several queues')
}

/** One queue after the other, so that a failing queue does not stop the others. */
async function retainEach(
  store: RetainStore,
  ages: Ages,
  signal: AbortSignal,
  add: (gone: Retained) => void,
): Promise<Error[]> {
  const errors: Error[] = []
  await retainUntilLess(store, { ...ages, queues: [] }, signal, add)
  for (const { name } of await store.queues.list()) {
    if (signal.aborted) break
    try {
      await retainUntilLess(store, { ...ages, queues: [name] }, signal, add)
    } catch (cause) {
      errors.push(
        new JobmillError('STORE_REFUSED', `retention of queue ${quote(name)} failed`, {
          fix: 'Run "jobmill db doctor". Retention of the other queues continues',
          cause,
        }),
      )
    }
  }
  return errors
}

async function retainUntilLess(
  store: RetainStore,
  ages: Ages,
  signal: AbortSignal,
  add: (gone: Retained) => void,
): Promise<void> {
  for (;;) {
    const gone = await store.retain({ limit: store.retainBatch ?? PER_BATCH, ...ages })
    add(gone)
    if (!gone.more || signal.aborted) return
  }
}
