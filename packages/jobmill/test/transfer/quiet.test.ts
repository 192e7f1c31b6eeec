// No process may work on a database that is transferred; jobs of dead processes are recovered first.
import { expect, test } from 'vitest'
import { storeAt } from '../../src/cli/config/choose-store.ts'
import { checkSchema } from '../../src/cli/transfer/places.ts'
import {
  checkNoneStarted,
  checkQuiet,
  knownInstances,
  returnAbandonedJobs,
} from '../../src/cli/transfer/quiet.ts'
import { aClaim, anInstance, someJobs } from '../../../conformance/src/factories.ts'
import { freshPlace } from './places.ts'

test.each(['sqlite', 'postgres'] as const)(
  'running jobs of a crashed process on %s are returned to the queue',
  async (sort) => {
    const { store, clock } = await freshPlace(sort)
    const { store: target } = await freshPlace('sqlite')
    const instance = anInstance({ label: 'web-1', leaseMs: 1_000 })
    await store.instances.register(instance)
    await store.enqueue(someJobs([{}, {}]))
    await store.claim(aClaim(instance.id))
    await expect(checkQuiet({ source: store, target })).rejects.toThrow(
      `instance web-1 (${instance.id}) is running on ${store.name}`,
    )
    await expect(returnAbandonedJobs(store)).rejects.toThrow('2 jobs are still running')
    clock.advance(2_000)
    await checkQuiet({ source: store, target })
    expect(await returnAbandonedJobs(store)).toBe(2)
    expect(await returnAbandonedJobs(store)).toBe(0)
    expect(await store.counts()).toMatchObject([{ ready: 2, running: 0 }])
  },
)

test('a running instance of the target blocks the transfer too', async () => {
  const [{ store: source }, { store: target }] = [await freshPlace('sqlite'), await freshPlace('sqlite')]
  const instance = anInstance()
  await target.instances.register(instance)
  await expect(checkQuiet({ source, target })).rejects.toThrow(
    `instance ${instance.id} is running on ${target.name}`,
  )
  await target.instances.deregister(instance.id)
  await checkQuiet({ source, target })
})

test('an instance that ran on the source during the transfer is detected', async () => {
  const [{ store: source }, { store: target }] = [await freshPlace('sqlite'), await freshPlace('sqlite')]
  const [before, during] = [anInstance(), anInstance()]
  await source.instances.register(before)
  await source.instances.deregister(before.id)
  const known = await knownInstances({ source, target })
  await checkNoneStarted({ source, target }, known)
  await source.instances.register(during)
  await source.instances.deregister(during.id)
  await expect(checkNoneStarted({ source, target }, known)).rejects.toThrow(
    `instance ${during.id} ran on ${source.name} during the transfer`,
  )
})

test('a source with pending migrations is refused', () => {
  const status = { isThere: true, applied: [], pending: [], refused: null }
  expect(() => checkSchema('sqlite jobs.db', status)).not.toThrow()
  expect(() => checkSchema('sqlite jobs.db', { ...status, pending: [{ number: 6, name: 'next' }] })).toThrow(
    'sqlite jobs.db has pending migrations',
  )
})

test('a source without tables is called that, because migrating it would only create empty ones', () => {
  const status = { isThere: false, applied: [], pending: [{ number: 1, name: 'first' }], refused: null }
  expect(() => checkSchema('sqlite jobs.db', status)).toThrow('sqlite jobs.db has no Jobmill tables')
})

test('an unsupported URL is reported with the option that it was passed to', async () => {
  await expect(storeAt('mysql://db/app', '--to')).rejects.toMatchObject({ field: '--to' })
})
