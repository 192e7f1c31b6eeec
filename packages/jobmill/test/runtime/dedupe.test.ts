// Dedupe keys in every state of their holder: the outcome of an enqueue with the same key, for several
// parallel callers in two processes.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import type { EnqueuedJob, FullStore } from '../../src/index.ts'
import { type TestMill, testMill } from '../../src/testing/index.ts'
import { ENDED, type Holder, HOLDING, keyed, keyOf, type Payload, type Spot } from './dedupe-holders.ts'
import { places } from './places.ts'

interface Scene extends Spot {
  /** A mill of another process, which only enqueues. */
  readonly other: TestMill
  readonly holder: string
  readonly before: object | null
}

const CALLERS = [1, 2, 3, 4, 5, 6]
type Answer = readonly [id: string, outcome: EnqueuedJob['outcome']]

/**
 * Enqueues in parallel, half of the calls from the other process. The delay keeps new jobs from running
 * during the calls.
 */
function ask(scene: Scene, onConflict: 'keep' | 'replace'): Promise<Answer[]> {
  const { mill, other, queue } = scene
  const options = { queue, delay: '5s', dedupe: { key: keyOf(scene), onConflict } } as const
  return Promise.all(
    CALLERS.map(async (n) => {
      const from = n % 2 === 0 ? mill : other
      const { id, outcome } = await from.enqueue(keyed, { act: 'return', n }, options)
      return [id, outcome] as const
    }),
  )
}

const each = (id: string, outcome: EnqueuedJob['outcome']): Answer[] => CALLERS.map(() => [id, outcome])

const CAN_BE_REPLACED = ['scheduled', 'ready', 'between attempts']
const entries = Object.entries(HOLDING)
const waiting = entries.filter(([name]) => CAN_BE_REPLACED.includes(name))
const notWaiting = entries.filter(([name]) => !CAN_BE_REPLACED.includes(name))
const ended = Object.entries(ENDED).flatMap(([name, holder]) => [
  [name, 'keep', holder] as const,
  [name, 'replace', holder] as const,
])

describe.each(places)('target 9 on $name: a dedupe key', ({ name, create }) => {
  const test = inTurns(name, places)
  const { store } = create()
  let mill: TestMill
  let other: TestMill
  let scenes = 0

  beforeAll(async () => {
    mill = await testMill<FullStore>({ jobs: [keyed], store })
    other = await testMill<FullStore>({ jobs: [keyed], store, platform: mill.platform, start: false })
  })
  afterAll(async () => {
    await mill[Symbol.asyncDispose]()
    await other[Symbol.asyncDispose]()
  })

  async function scene({ make, is }: Holder): Promise<Scene> {
    scenes += 1
    const queue = `q${scenes}`
    await mill.serve(queue)
    const holder = await make({ mill, queue })
    const before = await mill.get(holder)
    const expected = before === null ? null : { ...before, ...is }
    expect(is === null ? null : expected).toEqual(before)
    return { mill, other, queue, holder, before }
  }

  test.each(entries)(
    'target 9: whose holder is %s is kept, and all callers get its holder',
    async (_, holder) => {
      const there = await scene(holder)
      expect(await ask(there, 'keep')).toEqual(each(there.holder, 'duplicate'))
      expect(await mill.get(there.holder)).toEqual(there.before)
    },
  )

  test.each(waiting)(
    'target 9: whose holder is %s can be replaced: one job, with payload and time of one of the callers',
    async (name, holder) => {
      const there = await scene(holder)
      const { queue } = there
      expect(await ask(there, 'replace')).toEqual(each(there.holder, 'replaced'))
      const after = await mill.get(there.holder)
      const { n } = (after?.payload ?? {}) as Payload
      expect(CALLERS).toContain(n)
      expect(after).toMatchObject({ state: 'scheduled', dueAt: mill.clock.now() + 5_000 })
      if (name === 'ready') await mill.resume(queue)
      await mill.clock.advance('5s')
      expect(await mill.get(there.holder)).toMatchObject({ state: 'done', result: n })
      expect((await mill.list({ queue })).jobs).toHaveLength(1)
    },
  )

  test.each(notWaiting)(
    'target 9: whose holder is %s cannot be replaced, and the callers get a duplicate',
    async (_, holder) => {
      const there = await scene(holder)
      expect(await ask(there, 'replace')).toEqual(each(there.holder, 'duplicate'))
      expect(await mill.get(there.holder)).toEqual(there.before)
    },
  )

  test.each(ended)(
    'target 9: whose holder is %s is free (%s): one caller gets it, and the others are duplicates or replace it',
    async (_, mode, holder) => {
      const there = await scene(holder)
      const answers = await ask(there, mode)
      const ids = new Set(answers.map(([id]) => id))
      expect(ids.size).toBe(1)
      expect(ids).not.toContain(there.holder)
      const others = CALLERS.slice(1).map(() => (mode === 'keep' ? 'duplicate' : 'replaced'))
      expect(answers.map(([, outcome]) => outcome).toSorted()).toEqual([...others, 'enqueued'].toSorted())
      expect(await mill.get(there.holder)).toEqual(there.before)
      const { queue } = there
      expect((await mill.list({ queue, state: 'scheduled' })).jobs).toMatchObject([{ id: [...ids][0] }])
    },
  )

  test('target 9: whose holder keeps waiting is replaced by every caller, from any number of processes', async () => {
    const more = { jobs: [keyed], store, platform: mill.platform, start: false }
    const mills = [other, ...(await Promise.all([1, 2, 3].map(() => testMill<FullStore>(more))))]
    const dedupe = { key: 'asked for by many', onConflict: 'replace' } as const
    const first = await other.enqueue(keyed, { act: 'return', n: 0 }, { queue: 'many', delay: '1d', dedupe })
    const ask = async (from: TestMill, n: number): Promise<Answer> => {
      const options = { queue: 'many', delay: `${n + 1}h`, dedupe } as const
      const { id, outcome } = await from.enqueue(keyed, { act: 'return', n }, options)
      return [id, outcome]
    }
    const calls = mills.flatMap((from) => Array.from({ length: 10 }, (_, n) => ask(from, n)))
    const answers = await Promise.all(calls)
    for (const from of mills.slice(1)) await from[Symbol.asyncDispose]()
    expect(answers).toEqual(answers.map(() => [first.id, 'replaced']))
  })

  test('target 9: is independent in each scope: global, queue, kind', async () => {
    const where = [
      { kind: 'keyed', queue: 'one' },
      { kind: 'keyed', queue: 'two' },
      { kind: 'other', queue: 'one' },
      { kind: 'other', queue: 'two' },
    ]
    const ask = async (scope: 'global' | 'queue' | 'kind'): Promise<number[]> => {
      const jobs = await Promise.all(
        where.map(({ kind, queue }) =>
          other.enqueue(kind, null, { queue, dedupe: { key: 'scoped', scope } }),
        ),
      )
      const ids = [...new Set(jobs.map(({ id }) => id))]
      expect(jobs.filter(({ outcome }) => outcome === 'enqueued')).toHaveLength(ids.length)
      return jobs.map(({ id }) => ids.indexOf(id))
    }
    expect(await ask('global')).toEqual([0, 0, 0, 0])
    expect(await ask('queue')).toEqual([0, 1, 0, 1])
    expect(await ask('kind')).toEqual([0, 0, 1, 1])
  })
})
