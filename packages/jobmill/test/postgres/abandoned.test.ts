/** The children of a cancelled job, when a pass of `stage` cannot cancel all of them. */
import { expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { aClaim, anInstance, only, someJobs } from '../../../conformance/src/factories.ts'
import { postgres } from '../../src/postgres.ts'

test('P8 more children than one pass cancels are cancelled by the next ones', async () => {
  const url = inject('postgresUrl')
  const store = postgres(url, { schema: freshSchema(url, 'abandoned'), notifier: false })
  await store.open()
  onTestFinished(() => store.close())
  const parents = ['parent']
  const me = anInstance({ kinds: parents })
  await store.instances.register(me)
  await store.enqueue(someJobs([{ kind: 'parent' }]))
  const { id, token } = only(await store.claim(aClaim(me.id, { kinds: parents })))
  const jobs = someJobs(Array.from({ length: 2_500 }, () => ({ kind: 'child' })))
  await store.steps.start([{ id, token, name: 'fan', place: 0, jobs }])
  await store.cancel([id], 'stop')
  await store.finish([{ id, token, outcome: 'cancelled', error: 'stop', transition: { to: 'cancelled' } }])
  const passes: boolean[] = []
  for (let more = true; more && passes.length < 10; passes.push(more)) ({ more } = await store.stage(100))
  expect((await store.counts()).map(({ cancelled, ready }) => [cancelled, ready])).toEqual([[2_501, 0]])
  expect(passes.length).toBeLessThan(6)
})
