/** The children of a cancelled job, when a pass of `stage` cannot cancel all of them. */
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { aClaim, anInstance, only, someJobs } from '../../../conformance/src/factories.ts'
import { postgres } from '../../src/postgres.ts'
import type { FullStore } from '../../src/store/store.ts'
import { untilWaiting, WAITING } from './waiting-sessions.ts'

const url = inject('postgresUrl')

async function opened(schema: string): Promise<FullStore> {
  const store = postgres(url, { schema, notifier: false })
  await store.open()
  onTestFinished(() => store.close())
  return store
}

/** A cancelled job whose children are ready. */
async function abandoned(store: FullStore, count: number): Promise<void> {
  const parents = ['parent']
  const me = anInstance({ kinds: parents })
  await store.instances.register(me)
  await store.enqueue(someJobs([{ kind: 'parent' }]))
  const { id, token } = only(await store.claim(aClaim(me.id, { kinds: parents })))
  const jobs = someJobs(Array.from({ length: count }, () => ({ kind: 'child' })))
  await store.steps.start([{ id, token, name: 'fan', place: 0, jobs }])
  await store.cancel([id], 'stop')
  await store.finish([{ id, token, outcome: 'cancelled', error: 'stop', transition: { to: 'cancelled' } }])
}

/** The number of passes until there is nothing left to do. */
async function staged(store: FullStore): Promise<number> {
  let passes = 0
  for (let more = true; more && passes < 10; passes += 1) ({ more } = await store.stage(100))
  return passes
}

const ends = async (store: FullStore): Promise<unknown> =>
  (await store.counts()).map(({ cancelled, ready }) => [cancelled, ready])

test('P8 more children than one pass cancels are cancelled by the next ones', async () => {
  const store = await opened(freshSchema(url, 'abandoned'))
  await abandoned(store, 2_500)
  expect(await staged(store)).toBeLessThan(6)
  expect(await ends(store)).toEqual([[2_501, 0]])
})

test('P4 P8 children are cancelled although a process stops in the middle', async () => {
  const schema = freshSchema(url, 'stops')
  const [store, other] = [await opened(schema), await opened(schema)]
  await abandoned(store, 3)
  const user = new pg.Client({ connectionString: url })
  await user.connect()
  onTestFinished(() => user.end())
  await user.query('BEGIN')
  await user.query(`SELECT FROM ${schema}.ready FOR UPDATE`)
  const stopped = store.stage(100).catch((error: unknown) => (error as { code: string }).code)
  await untilWaiting(user, schema, 1)
  await Promise.all([
    store.close(),
    user.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${WAITING}`, [`%${schema}%`]),
  ])
  expect(await stopped).not.toMatchObject({ more: true })
  await user.query('ROLLBACK')
  await staged(other)
  expect(await ends(other)).toEqual([[4, 0]])
})
