// Everything is transferred from one store to the other and back, and is equal at each step.
import { describe, expect, test } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { verify } from '../../src/cli/transfer/verify.ts'
import { anInstance, aClaim, aJob, aTick } from '../../../conformance/src/factories.ts'
import { furnish } from './furnish.ts'
import { planned, SERVED_AT } from './furnish-cluster.ts'
import { waiting } from './furnish-jobs.ts'
import { keyed } from './furnish-keys.ts'
import { liveOn } from './live.ts'
import { lookAt } from './look.ts'
import { transferredTo, transferTo, freshPlace, type Place, type Sort, WAY } from './places.ts'
import { HOUR } from './words.ts'

async function furnished(sort: Sort, parts?: Parameters<typeof furnish>[1]): Promise<Place> {
  const place = await freshPlace(sort)
  await furnish(place, parts)
  return place
}

describe.each([
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const)('from %s to %s', (from, to) => {
  // histories.test.ts transfers in both directions.
  const test = inTurns(from, ['sqlite', 'postgres'])

  test('and back: jobs, histories, counts, settings, schedules and checksums are the same', async () => {
    const first = await furnished(from)
    const contents = await lookAt(first.store)
    const second = await freshPlace(to, first.clock.now())
    const there = await transferTo(first.store, second.store)
    expect(there.differences).toEqual([])
    expect(await lookAt(second.store)).toEqual(contents)
    const third = await freshPlace(from, first.clock.now())
    const back = await transferTo(second.store, third.store)
    expect(back.differences).toEqual([])
    expect(await lookAt(third.store)).toEqual(contents)
    expect(back.target).toEqual(there.source)
    // The source was only read.
    expect(await lookAt(first.store)).toEqual(contents)
  })

  test('P2 P3 work continues as on the source: the same jobs, in the same order, with the same outcomes', async () => {
    const source = await furnished(from)
    const target = await transferredTo(to, source)
    const outcomes = await liveOn(source)
    expect(outcomes.length).toBeGreaterThan(50)
    expect(await liveOn(target)).toEqual(outcomes)
    expect(await target.store.counts()).toEqual(await source.store.counts())
  })

  test('P2 a token of the target is above every token of the source', async () => {
    const source = await furnished(from, [waiting])
    const { lastToken } = await source.store.tools.exportRest()
    const { store } = await transferredTo(to, source)
    const instance = anInstance()
    await store.instances.register(instance)
    const [lease] = await store.claim(aClaim(instance.id, { limit: 1 }))
    expect(lease?.token).toBeGreaterThan(lastToken)
    await store.instances.deregister(instance.id)
  })

  test('P12 a tick that was served is not served again, and the next one is', async () => {
    const { store } = await transferredTo(to, await furnished(from, [planned]))
    const served = (await store.schedules.list()).find(({ name }) => name === 'served')
    const fires = [SERVED_AT, SERVED_AT + 180_000].map((at) => ({ at, job: aJob({ queue: 'mail' }) }))
    const { revision = 0, nextAt = null } = served ?? {}
    const [reply] = await store.schedules.tick([aTick('served', { revision, from: nextAt, fires })])
    expect(reply).toMatchObject({ accepted: true, fired: [{ at: SERVED_AT + 180_000, outcome: 'enqueued' }] })
  })

  test('N1 a schedule that an operator deleted stays deleted, with its author', async () => {
    const { store } = await transferredTo(to, await furnished(from, [planned]))
    const [definition] = (await store.schedules.list()).flatMap(({ code }) => code ?? [])
    if (definition !== undefined) await store.schedules.declare([{ name: 'deleted', version: 3, definition }])
    expect((await store.schedules.list()).map(({ name }) => name)).not.toContain('deleted')
    const of = (await store.overrides.list()).filter(({ name }) => name === 'deleted')
    expect(of).toMatchObject([{ option: 'deleted', by: 'ops', at: expect.any(Number) as number }])
  })

  test('dedupe keys keep their holders and their hold times', async () => {
    const { store, clock } = await transferredTo(to, await furnished(from, [keyed]))
    const meet = async (...keys: string[]): Promise<string[]> =>
      (await store.enqueue(keys.map((key) => aJob({ dedupe: { key } })))).map(({ outcome }) => outcome)
    const [held, free] = ['duplicate', 'enqueued']
    expect(await meet('ready', 'later', 'done', 'forgotten', 'deleted')).toEqual([
      held,
      held,
      held,
      held,
      held,
    ])
    expect(await meet('over', 'free', 'dead')).toEqual([free, free, free])
    clock.advance(2 * HOUR)
    expect(await meet('ready', 'later', 'done', 'forgotten', 'deleted')).toEqual([
      held,
      held,
      free,
      free,
      free,
    ])
  })
})

async function outcomesOf({ store }: Place, requests: Parameters<typeof aJob>[0][]): Promise<string[]> {
  return (await store.enqueue(requests.map(aJob))).map(({ outcome }) => outcome)
}

describe.each(['sqlite', 'postgres'] as const)('to %s', (to) => {
  test('windows, keys until the start and debounced jobs continue', async () => {
    const target = await transferredTo(to, await furnished('sqlite', [keyed]))
    const { store, clock } = target
    const keys = ['in its window', 'until the start', 'between attempts', 'over its window']
    const asked = keys.map((key) => ({ dedupe: { key } }))
    expect(await outcomesOf(target, asked)).toEqual(['duplicate', 'duplicate', 'duplicate', 'enqueued'])
    const debounced = ['debounced', 'due'].map((key) => ({ debounce: { key, wait: 2 * HOUR }, payload: 2 }))
    expect(await outcomesOf(target, debounced)).toEqual(['replaced', 'enqueued'])
    const instance = anInstance()
    await store.instances.register(instance)
    await store.claim(aClaim(instance.id))
    expect(await outcomesOf(target, asked.slice(0, 3))).toEqual(['duplicate', 'enqueued', 'enqueued'])
    clock.advance(HOUR)
    expect(await outcomesOf(target, asked.slice(0, 1))).toEqual(['enqueued'])
  })
})

test('differences are detected', async () => {
  const source = await furnished('sqlite', [waiting])
  const target = await transferredTo('sqlite', source)
  const [id = ''] = await target.store.tools.exportIds({ after: null, limit: 1 })
  await target.store.queues.change('mail', { settings: { workers: 5 }, coolMs: null })
  await target.store.delete([id])
  const { differences } = await verify({ source: source.store, target: target.store }, WAY)
  expect(differences).toEqual([
    expect.stringMatching(/^queue \S+ has \d+ \w+ jobs? on the source and \d+ on the target$/),
    'the checksums of the jobs differ',
    'the checksums of the settings differ',
    `job ${id} is missing on the target`,
  ])
})
