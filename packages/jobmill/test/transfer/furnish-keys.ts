// Jobs with dedupe keys and with order keys.
import type { JobRequest } from '../../src/job/enqueue/prepare-jobs.ts'
import { aFinish, DEAD, DONE, FORGET, later } from '../../../conformance/src/factories.ts'
import { HOUR, type Words } from './words.ts'

/** Keys that are held by waiting, done and deleted jobs; and keys whose hold has expired. */
export async function keyed({ store, clock, enqueue, running }: Words): Promise<void> {
  await enqueue({ dedupe: { key: 'ready' } })
  await enqueue({ dedupe: { key: 'later' }, delay: HOUR })
  await store.finish([aFinish(await running({ dedupe: { key: 'over', holdFor: 5 } }), DONE)])
  clock.advance(10)
  await store.finish([aFinish(await running({ dedupe: { key: 'done', holdFor: HOUR } }), DONE)])
  await store.finish([aFinish(await running({ dedupe: { key: 'free' } }), DONE)])
  await store.finish([aFinish(await running({ dedupe: { key: 'forgotten', holdFor: HOUR } }), FORGET)])
  const gone = await running({ dedupe: { key: 'deleted', holdFor: HOUR } })
  await store.finish([aFinish(gone, DONE)])
  await store.delete([gone.id])
  await store.finish([aFinish(await running({ dedupe: { key: 'dead' } }), DEAD)])
  const ended = { holdFor: HOUR, holdAfter: 'ended' } as const
  await store.finish([aFinish(await running({ dedupe: { key: 'held though dead', ...ended } }), DEAD)])
  await enqueue({ dedupe: { key: 'to be held however it ends', ...ended } })
  await enqueue({ dedupe: { key: 'in its window', window: HOUR } })
  await enqueue({ dedupe: { key: 'over its window', window: 5 } })
  clock.advance(10)
  await enqueue({ dedupe: { key: 'until the start', until: 'started' } })
  const started = await running({ dedupe: { key: 'between attempts', until: 'started' } })
  await store.finish([aFinish(started, later(HOUR), { error: 'again' })])
  await enqueue({ dedupe: { key: 'between attempts', until: 'started' } })
  await enqueue({ debounce: { key: 'debounced', wait: HOUR, maxWait: 3 * HOUR }, payload: 1 })
  await enqueue({ debounce: { key: 'due', wait: 5 }, payload: 1 })
  clock.advance(10)
  await enqueue({ dedupe: { key: 'replaced' }, payload: 1 })
  await enqueue({ dedupe: { key: 'replaced', onConflict: 'replace' }, payload: 2, delay: 20_000 })
}

/**
 * Order queues: one locked by a ready job, one by a job between attempts, one not staged yet, and one whose
 * first job was cancelled.
 */
export async function inOrder({ store, enqueue, running }: Words): Promise<void> {
  const add = (orderKey: string, more: Partial<JobRequest> = {}): Promise<string> =>
    enqueue({ orderKey, queue: 'mail', ...more })
  for (let n = 0; n < 5; n += 1) await add('ready')
  await store.stage(100)
  await store.finish([aFinish(await running({ orderKey: 'between' }), later(30_000), { error: 'again' })])
  for (let n = 0; n < 3; n += 1) await add('between', { priority: n })
  await add('between', { delay: 10_000 })
  const first = await add('left')
  for (let n = 0; n < 3; n += 1) await add('left')
  await store.cancel([first], 'not first any more')
  const died = await running({ orderKey: 'retried' })
  await store.finish([aFinish(died, DEAD)])
  await add('retried')
  await store.retry([died.id])
  for (let n = 0; n < 3; n += 1) await add('open')
}
