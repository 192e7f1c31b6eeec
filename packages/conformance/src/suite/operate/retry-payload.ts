/** Retries with a new payload: the payload and its index entries change with the retry, nothing else does. */
import assert from 'node:assert/strict'
import { entryOf, type NewPayload, type Verdict } from 'jobmill/store'
import { aJob, DEAD, only } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import type { Bench } from '../bench.ts'
import { isVerdict, pluck } from '../looks.ts'

const [RED, BLUE, OTHER] = [entryOf('color', 'red'), entryOf('color', 'blue'), entryOf('size', 'x')]

/** Retries a job with this payload, which was made from its payload as it is now. */
async function retryWith(t: Bench, id: string, change: Partial<NewPayload> = {}): Promise<Verdict> {
  return only(await t.store.retry([id], [await changeOf(t, id, change)]))
}

async function changeOf(t: Bench, id: string, change: Partial<NewPayload> = {}): Promise<NewPayload> {
  const { endedAt } = await t.job(id)
  return { payload: '"new"', entries: [], endedAt: endedAt ?? 0, ...change }
}

export const retryPayloadCases: readonly Case[] = [
  test('a retry with a payload changes the payload, and otherwise does what a retry does', async (t) => {
    const dedupe = { key: 'k' }
    const request = { payload: 'old', dedupe, tags: ['own'], metadata: { a: 1 }, priority: 3 }
    const id = await t.jobIn('dead', request)
    const twin = await t.jobIn('dead', { ...request, dedupe: { key: 'twin' } })
    t.clock.advance(5)
    isVerdict(await retryWith(t, id, { payload: '{"to": [1.50, "é", null]}' }), 'changed', 'ready')
    await t.store.retry([twin])
    const plain = await t.job(twin)
    const { dedupeKey, kind, enqueuedAt } = await t.job(id)
    const same = { id, kind, dedupeKey, enqueuedAt }
    assert.deepEqual(await t.job(id), { ...plain, ...same, payload: '{"to": [1.50, "é", null]}' })
    assert.equal((await t.store.history(id)).length, 1)
    assert.deepEqual(await t.store.enqueue([aJob({ dedupe })]), [{ id, outcome: 'duplicate' }])
    await t.countsAreExact()
  }),
  test('the next attempt gets the new payload, also one that is null', async (t) => {
    for (const payload of ['"new"', 'null']) {
      const lease = await t.running({ payload: 'old' })
      await t.finish(lease, DEAD)
      await retryWith(t, lease.id, { payload })
      assert.equal((await t.claimAgain(lease)).payload, payload)
    }
  }),
  test('each job of a call gets its own payload, in a mix with jobs that are refused', async (t) => {
    const [one, two] = [await t.jobIn('dead'), await t.jobIn('cancelled')]
    const [done, unknown] = [await t.jobIn('done', { payload: 'done' }), aJob().id]
    const ids = [two, done, unknown, one]
    const at = (n: number): Promise<NewPayload> => changeOf(t, ids[n] ?? '', { payload: `${n}` })
    const missing = { payload: '2', entries: [], endedAt: 0 }
    const verdicts = await t.store.retry(ids, [await at(0), await at(1), missing, await at(3)])
    assert.deepEqual(pluck(verdicts, 'id'), ids)
    assert.deepEqual(pluck(verdicts, 'verdict'), ['changed', 'refused', 'unknown', 'changed'])
    await t.jobIs(two, { payload: '0', state: 'ready' })
    await t.jobIs(one, { payload: '3', state: 'ready' })
    await t.jobIs(done, { payload: '"done"', state: 'done' })
  }),
  test('the index entries follow the new payload, and the tags stay', async (t) => {
    for (const [before, after] of [
      [
        [RED, OTHER],
        [OTHER, BLUE],
      ],
      [[], [RED]],
      [[RED], []],
      [[], []],
    ] as const) {
      const job = aJob({ tags: ['own', 'red'], kind: 'indexed' })
      await t.store.enqueue([{ ...job, tags: [...job.tags, ...before] }])
      await t.store.cancel([job.id], 'no')
      await retryWith(t, job.id, { entries: after })
      const { tags, payload } = await t.job(job.id)
      assert.deepEqual([tags.toSorted(), payload], [['own', 'red', ...after].toSorted(), '"new"'])
      for (const tag of [RED, BLUE, OTHER, 'own'])
        await t.lists({ tags: [tag], byTag: true }, tags.includes(tag) ? [job.id] : [])
      await t.store.delete([job.id])
      for (const tag of tags) await t.lists({ tags: [tag], byTag: true }, [])
    }
  }),
  test('a job that was retried since its payload was read is refused, and keeps its payload', async (t) => {
    const lease = await t.running({ payload: 'old', tags: ['own'] })
    await t.finish(lease, DEAD)
    const change = await changeOf(t, lease.id, { entries: [RED] })
    t.clock.advance(5)
    await t.store.retry([lease.id])
    const retryAgain = (): Promise<Verdict[]> => t.store.retry([lease.id], [change])
    isVerdict(only(await t.changesNothing(retryAgain)), 'refused', 'ready')
    const again = await t.claimAgain(lease)
    isVerdict(only(await t.changesNothing(retryAgain)), 'refused', 'running')
    await t.finish(again, DEAD)
    isVerdict(only(await t.changesNothing(retryAgain)), 'refused', 'dead')
    await t.jobIs(lease.id, { payload: '"old"', tags: ['own'] })
  }),
  test('D2 a retry that is refused because of the dedupe key changes no payload', async (t) => {
    const dead = await t.jobIn('dead', { payload: 'old', dedupe: { key: 'k' } })
    const holder = await t.enqueue({ dedupe: { key: 'k' } })
    const change = await changeOf(t, dead, { entries: [RED] })
    const verdict = await t.changesNothing(() => t.store.retry([dead], [change]))
    isVerdict(only(verdict), 'refused', 'dead', holder)
  }),
  test('a job with an order key joins its order queue with the new payload', async (t) => {
    const lease = await t.running({ payload: 'old', orderKey: 'o' })
    await t.finish(lease, DEAD)
    isVerdict(await retryWith(t, lease.id), 'changed', 'scheduled')
    await t.store.stage(10)
    await t.jobIs(lease.id, { payload: '"new"', orderKey: 'o', state: 'ready' })
  }),
  test('of concurrent retries with different payloads one changes the job, with its payload', async (t) => {
    const stores = await t.handles(3)
    const id = await t.jobIn('dead', { payload: 'old' })
    const changes = await Promise.all(stores.map((_, n) => changeOf(t, id, { payload: `${n}` })))
    const replies = await Promise.all(stores.map((each, n) => each.retry([id], changes.slice(n, n + 1))))
    const verdicts = pluck(replies.flat(), 'verdict')
    assert.deepEqual(verdicts.toSorted(), ['changed', 'refused', 'refused'])
    await t.jobIs(id, { payload: `${verdicts.indexOf('changed')}` })
    await t.countsAreExact()
  }),
]
