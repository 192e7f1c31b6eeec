// Writing outcomes: many in one statement, retried until the database answers, and none delayed by another.
import { describe, expect, test } from 'vitest'
import { JobmillError } from '../../src/job/errors.ts'
import type { Finish, Finished } from '../../src/store/types/finish.ts'
import { aJob } from '../../../conformance/src/factories.ts'
import { testPlatform } from '../../src/testing/index.ts'
import { finisher as createFinisher, type FinisherOptions } from '../../src/work/outcome/finisher.ts'
import { aLease, microtasks, unavailable } from './leases.ts'

function anItem(overrides: Partial<Finish> = {}): Finish {
  const { id, token } = aLease()
  return { id, token, outcome: 'returned', transition: { to: 'done', result: '1' }, ranMs: 5, ...overrides }
}

const accepted = ({ id, transition }: Finish): Finished => ({
  id,
  accepted: true,
  state: transition.to === 'parked' ? 'scheduled' : transition.to,
  followUps: [],
})

function bench(overrides: Partial<FinisherOptions> = {}) {
  const platform = testPlatform()
  const writes: { readonly at: number; readonly items: readonly Finish[] }[] = []
  const calls: string[] = []
  const state = { answer: async (items: readonly Finish[]): Promise<Finished[]> => items.map(accepted) }
  const finisher = createFinisher({
    finish: (items) => {
      writes.push({ at: platform.monotonic(), items })
      return state.answer(items)
    },
    platform,
    failing: () => void calls.push('failing'),
    working: () => void calls.push('working'),
    ...overrides,
  })
  const ids = (): string[][] => writes.map(({ items }) => items.map(({ id }) => id))
  return { platform, writes, calls, state, finisher, ids }
}

describe('outcomes', () => {
  test('of a write are reported to every caller, also when it is given up', async () => {
    const outcomes: string[] = []
    const { platform, finisher, state } = bench()
    const put = (name: string, item = anItem()): void =>
      finisher.put(item, (finished) => void outcomes.push(`${name} ${finished?.state ?? 'given up'}`))
    put('a')
    put('b')
    await platform.settled()
    expect(outcomes.splice(0)).toEqual(['a done', 'b done'])
    state.answer = () => Promise.reject(new JobmillError('STORE_CLOSED', 'closed'))
    put('c')
    await platform.settled()
    expect(outcomes).toEqual(['c given up'])
  })

  test('D low wait for the migration of an outdated schema, and are then written unchanged', async () => {
    const { platform, finisher, state, writes } = bench()
    const migrated = state.answer
    state.answer = () => Promise.reject(new JobmillError('SCHEMA_OUTDATED', 'tables are missing'))
    const items = [anItem(), anItem()]
    const replies = Promise.all(items.map((item) => finisher.add(item)))
    await platform.settled()
    // The next try comes after a pause, and the outcomes stay together.
    expect(writes.map((write) => write.items)).toEqual([items])
    await platform.advance('1m')
    state.answer = migrated
    await platform.advance('1m')
    expect((await replies).map((reply) => reply?.state)).toEqual(['done', 'done'])
    expect(writes.flatMap((write) => write.items).every((item) => items.includes(item))).toBe(true)
  })

  test('of one event loop turn share a write, and so do those that arrive during it', async () => {
    const { platform, finisher, state, ids } = bench()
    const first = Promise.withResolvers<void>()
    state.answer = async (items) => (await first.promise, items.map(accepted))
    const items = Array.from({ length: 6 }, () => anItem())
    const replies = items.slice(0, 3).map((item) => finisher.add(item))
    await platform.settled()
    replies.push(...items.slice(3, 5).map((item) => finisher.add(item)))
    await platform.settled()
    replies.push(...items.slice(5).map((item) => finisher.add(item)))
    await platform.settled()
    const [a, b, c, d, e, f] = items.map(({ id }) => id)
    expect(ids()).toEqual([[a, b, c]])
    first.resolve()
    expect((await Promise.all(replies)).map((reply) => reply?.id)).toEqual(items.map(({ id }) => id))
    expect(ids()).toEqual([
      [a, b, c],
      [d, e, f],
    ])
  })

  test('are written in order, at most 500 at once', async () => {
    const { finisher, ids } = bench()
    const items = Array.from({ length: 1_201 }, () => anItem())
    await Promise.all(items.map((item) => finisher.add(item)))
    expect(ids().map((write) => write.length)).toEqual([500, 500, 201])
    expect(ids().flat()).toEqual(items.map(({ id }) => id))
  })

  const large = 'x'.repeat(1_000_000)
  const LARGE = {
    results: { transition: { to: 'done', result: large } },
    logs: { log: large },
    'follow-ups': { followUps: [aJob({ payload: large })] },
  } satisfies Record<string, Partial<Finish>>

  test.each(Object.entries(LARGE))('D7 with large %s are written about 4 MB at a time', async (_, parts) => {
    const { finisher, ids } = bench()
    const items = Array.from({ length: 10 }, (_each, at) => anItem(at === 8 ? {} : parts))
    await Promise.all(items.map((item) => finisher.add(item)))
    expect(ids().map((write) => write.length)).toEqual([4, 5, 1])
    expect(ids().flat()).toEqual(items.map(({ id }) => id))
  })

  test('D7 with a larger result than fits into a write are written alone', async () => {
    const { finisher, ids } = bench()
    const result = large.repeat(5)
    const items = [{}, { transition: { to: 'done', result } as const }, {}].map(anItem)
    await Promise.all(items.map((item) => finisher.add(item)))
    expect(ids().map((write) => write.length)).toEqual([1, 1, 1])
  })

  test('D7 of concurrent writes are sent about 4 MB per event loop turn', async () => {
    const tasks: (() => void)[] = []
    const nextTurn = (task: () => void): void => void tasks.push(task)
    const { finisher, writes } = bench({ platform: { ...testPlatform(), nextTurn }, perWrite: 1, width: 100 })
    const answered = Promise.all(Array.from({ length: 20 }, () => finisher.add(anItem(LARGE.results))))
    const perTurn: number[] = []
    while (writes.length < 20) {
      const before = writes.length
      for (const task of tasks.splice(0)) {
        task()
        await microtasks(20)
      }
      perTurn.push(writes.length - before)
    }
    expect(Math.max(...perTurn)).toBe(5)
    while (tasks.length > 0) tasks.shift()?.()
    expect(await answered).toHaveLength(20)
  })

  test('that arrive around the end of a write are written', async () => {
    for (let moment = 0; moment < 12; moment += 1) {
      const { platform, finisher, state, ids } = bench()
      const first = Promise.withResolvers<void>()
      const [a, b] = [anItem(), anItem()]
      state.answer = async (items) => (await first.promise, items.map(accepted))
      void finisher.add(a)
      await platform.settled()
      first.resolve()
      await microtasks(moment)
      void finisher.add(b)
      await finisher.idle()
      expect(ids(), `added ${moment} microtasks after the answer`).toEqual([[a.id], [b.id]])
    }
  })

  test('can have several single writes in flight, and one that hangs delays no other', async () => {
    const { finisher, state, ids } = bench({ perWrite: 1, width: 3 })
    const [hanging, ...others] = Array.from({ length: 6 }, () => anItem())
    const gate = Promise.withResolvers<void>()
    state.answer = async (items) => {
      if (items[0]?.id === hanging?.id) await gate.promise
      return items.map(accepted)
    }
    const held = finisher.add(hanging ?? anItem())
    await Promise.all(others.map((item) => finisher.add(item)))
    expect(ids().map((write) => write.length)).toEqual([1, 1, 1, 1, 1, 1])
    gate.resolve()
    expect(await held).toMatchObject({ accepted: true })
  })
})

describe('a write that fails temporarily', () => {
  test('is retried with growing backoff until the database answers, and loses no outcome', async () => {
    const { platform, finisher, state, writes, ids } = bench()
    state.answer = () => Promise.reject(unavailable())
    const [a, b] = [anItem(), anItem()]
    const replies = [finisher.add(a), finisher.add(b)]
    await platform.advance('30s')
    const pauses = writes.slice(1).map(({ at }, n) => at - (writes[n]?.at ?? 0))
    for (const [n, pause] of pauses.entries()) {
      const full = Math.min(2_000, 50 * 2 ** n)
      expect(pause).toBeGreaterThanOrEqual(full / 2)
      expect(pause).toBeLessThanOrEqual(full + 1)
    }
    expect(pauses.length).toBeGreaterThan(15)
    expect(new Set(ids().flat())).toEqual(new Set([a.id, b.id]))
    state.answer = async (items) => items.map(accepted)
    await platform.advance('2s')
    expect(await Promise.all(replies)).toMatchObject([{ id: a.id }, { id: b.id }])
    expect(platform.pendingTimers).toBe(0)
  })

  test.each(['OUTCOME_UNKNOWN', 'STORE_BUSY', 'STORE_REFUSED', 'STORE_UNSUPPORTED'] as const)(
    'with %s is retried unchanged',
    async (code) => {
      const { platform, finisher, state, writes, calls } = bench()
      state.answer = () => {
        state.answer = async (items) => items.map(accepted)
        return Promise.reject(new JobmillError(code, 'for now'))
      }
      const item = anItem({ log: 'a line' })
      const reply = finisher.add(item)
      await platform.advance('1s')
      expect(await reply).toMatchObject({ accepted: true })
      expect(writes.map(({ items }) => items)).toEqual([[item], [item]])
      expect(calls).toEqual(['failing', 'working'])
    },
  )

  test('is dropped after giveUp, and at once if the store is closed', async () => {
    const { platform, finisher, state, writes } = bench()
    state.answer = () => Promise.reject(unavailable())
    const reply = finisher.add(anItem())
    await platform.advance('10s')
    finisher.giveUp()
    expect(await reply).toBeNull()
    await finisher.idle()
    expect(platform.pendingTimers).toBe(0)
    const before = writes.length
    state.answer = () => Promise.reject(new JobmillError('STORE_CLOSED', 'the store is not open'))
    expect(await finisher.add(anItem())).toBeNull()
    expect(writes).toHaveLength(before + 1)
  })

  test('delays idle() until it is written', async () => {
    const { platform, finisher, state } = bench()
    state.answer = () => Promise.reject(unavailable())
    void finisher.add(anItem())
    let idle = false
    const waiting = finisher.idle().then(() => (idle = true))
    await platform.advance('5s')
    expect(idle).toBe(false)
    state.answer = async (items) => items.map(accepted)
    await platform.advance('2s')
    await waiting
  })
})
