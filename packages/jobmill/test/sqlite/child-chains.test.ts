/** A job whose child has a child, and so on: deeper than the stack of JavaScript. */
import { expect, onTestFinished, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { sqlite } from '../../src/sqlite.ts'
import { aClaim, aFinish, aJob, anInstance, only } from '../../../conformance/src/factories.ts'
import { aWait } from '../../../conformance/src/suite/steps/step-helpers.ts'

const DEPTH = 2_000

test('P8 a chain of children is cancelled with its first parent', async () => {
  const store = sqlite(freshFile())
  await store.open()
  onTestFinished(() => store.close())
  const me = anInstance({ leaseMs: 3_600_000 })
  await store.instances.register(me)
  const first = aJob()
  await store.enqueue([first])
  let last = first
  for (let depth = 0; depth < DEPTH; depth += 1) {
    const lease = only(await store.claim(aClaim(me.id, { limit: 1 })))
    const { id, token } = lease
    last = aJob()
    await store.steps.start([{ id, token, name: 'next', place: 0, jobs: [last] }])
    await store.steps.wait([aWait(lease, 'next', { forChildren: true })])
    await store.finish([{ ...aFinish(lease, { to: 'parked' }), outcome: 'parked' }])
  }
  await store.cancel([first.id], 'stop')
  expect(await store.get([last.id])).toMatchObject([{ state: 'cancelled' }])
})
