// Writing outcomes: many in one statement, again until the database answers, and none held up by a neighbour.
import { describe, expect, test } from 'vitest'
import { JobmillError } from '../../src/job/errors.ts'
import type { Finish, Finished } from '../../src/store/finish.ts'
import { testPlatform } from '../../src/testing/index.ts'
import { finisher as createFinisher, type FinisherOptions } from '../../src/work/finisher.ts'
import { aLease, microtasks, unavailable } from './leases.ts'

function anItem(overrides: Partial<Finish> = {}): Finish {
  const { id, token } = aLease()
  return { id, token, outcome: 'returned', transition: { to: 'done', result: '1' }, ranMs: 5, ...overrides }
}

const accepted = ({ id, transition }: Finish): Finished => ({
  id,
  accepted: true,
  state: transition.to,
  followUps: [],
})

function bench(overrides: Partial<FinisherOptions> = {}) {
  const platform = testPlatform()
  const writes: { readonly at: number; readonly items: readonly Finish[] }[] = []
  const told: string[] = []
  const state = { answer: async (items: readonly Finish[]): Promise<Finished[]> => items.map(accepted) }
  const finisher = createFinisher({
    finish: (items) => {
      writes.push({ at: platform.monotonic(), items })
      return state.answer(items)
    },
    platform,
    failing: () => void told.push('failing'),
    working: () => void told.push('working'),
    ...overrides,
  })
  const ids = (): string[][] => writes.map(({ items }) => items.map(({ id }) => id))
  return { platform, writes, told, state, finisher, ids }
}

describe('outcomes', () => {
  test('of a write are told to whoever waits, and then once that there may be room', async () => {
    const heard: string[] = []
    const { platform, finisher, state } = bench({ wrote: () => void heard.push('room') })
    const put = (name: string, item = anItem()): void =>
      finisher.put(item, (finished) => void heard.push(`${name} ${finished?.state ?? 'given up'}`))
    put('a')
    put('b')
    await platform.settled()
    expect(heard.splice(0)).toEqual(['a done', 'b done', 'room'])
    state.answer = () => Promise.reject(new JobmillError('STORE_CLOSED', 'closed'))
    put('c')
    await platform.settled()
    expect(heard).toEqual(['c given up', 'room'])
  })

  test('of one turn share a write, and so do those that come while it is on its way', async () => {
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

  test('are at most 500 in one write, in their order', async () => {
    const { finisher, ids } = bench()
    const items = Array.from({ length: 1_201 }, () => anItem())
    await Promise.all(items.map((item) => finisher.add(item)))
    expect(ids().map((write) => write.length)).toEqual([500, 500, 201])
    expect(ids().flat()).toEqual(items.map(({ id }) => id))
  })

  test('that are added at whatever moment around the end of a write are written', async () => {
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

  test('may have several writes of one each on their way, and one that hangs holds up no other', async () => {
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

describe('a write that fails for a while', () => {
  test('is made again with pauses that grow, until the database answers; nothing is lost meanwhile', async () => {
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
    'with %s is made again as it was',
    async (code) => {
      const { platform, finisher, state, writes, told } = bench()
      state.answer = () => {
        state.answer = async (items) => items.map(accepted)
        return Promise.reject(new JobmillError(code, 'for now'))
      }
      const item = anItem({ log: 'a line' })
      const reply = finisher.add(item)
      await platform.advance('1s')
      expect(await reply).toMatchObject({ accepted: true })
      expect(writes.map(({ items }) => items)).toEqual([[item], [item]])
      expect(told).toEqual(['failing', 'working'])
    },
  )

  test('is given up when that is asked for, and at once when the store is closed', async () => {
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

  test('is waited for by who waits for everything to be written', async () => {
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

const LATER = { to: 'scheduled', delayMs: 10, refund: false } as const
const WHY = expect.stringContaining('could not be written as it was') as string

/** Takes everything but what these carry. */
const refusing = (bad: ReadonlySet<string>) => async (items: readonly Finish[]) => {
  if (items.some(({ id, log, followUps }) => bad.has(id) && (log ?? followUps) !== undefined))
    throw new JobmillError('PAYLOAD_NOT_JSON', 'is refused')
  return items.map(accepted)
}

describe('an outcome that the database will never take', () => {
  test('does not stop its neighbours, and is written as plainly as can be', async () => {
    const { finisher, state, writes } = bench()
    const items = Array.from({ length: 20 }, () => anItem({ log: 'a line' }))
    const bad = items[13] ?? anItem()
    state.answer = refusing(new Set([bad.id]))
    const replies = await Promise.all(items.map((item) => finisher.add(item)))
    expect(replies.map((reply) => reply?.accepted)).toEqual(items.map(() => true))
    const { id, token } = bad
    expect(writes.flatMap((write) => write.items.filter((item) => item.id === id)).at(-1)).toEqual({
      id,
      token,
      outcome: 'returned',
      transition: { to: 'done', result: null },
      error: WHY,
    })
  })

  test('D1 with follow-ups costs an attempt: they were part of the completion, and one write error kills no job', async () => {
    const { platform, finisher, state } = bench()
    const item = anItem({ followUps: [] })
    const failed = { ...item, outcome: 'threw', transition: LATER, followUps: undefined } as const
    state.answer = refusing(new Set([item.id]))
    const heard: unknown[] = []
    finisher.put(
      item,
      (finished, written) => void heard.push(finished?.state, written),
      (error) => ({ ...failed, error: String(error) }),
    )
    await platform.settled()
    expect(heard).toEqual(['scheduled', { ...failed, error: 'JobmillError: is refused.' }])
  })

  test('D8 becomes plainer step by step, and each form of a failed attempt spends it', async () => {
    const { platform, finisher, state, writes } = bench()
    const failed = anItem({
      outcome: 'threw',
      transition: LATER,
      error: 'why',
      log: 'a line',
      cool: { forMs: 5 },
    })
    state.answer = () => Promise.reject(new JobmillError('DATA_REFUSED', 'is refused'))
    const { id, token } = failed
    finisher.put(
      {
        ...failed,
        outcome: 'returned',
        transition: { to: 'done', result: '1' },
        error: undefined,
        cool: undefined,
      },
      () => {},
      () => failed,
    )
    await platform.settled()
    const bare = { id, token, outcome: 'threw', transition: LATER }
    expect(writes.slice(1).map(({ items }) => items[0])).toEqual([
      { id, token, outcome: 'returned', transition: { to: 'done', result: null }, error: WHY },
      { id, token, outcome: 'returned', transition: { to: 'done', result: null } },
      failed,
      { ...bare, error: 'why', cool: { forMs: 5 } },
      bare,
      { ...bare, outcome: null },
      { ...bare, outcome: null },
    ])
    finisher.giveUp()
    await platform.advance('1s')
    await finisher.idle()
  })

  test('D8 even plainly is tried on: its lease is held, so that no handler runs a second time', async () => {
    const { platform, finisher, state, told } = bench()
    state.answer = () => Promise.reject(new JobmillError('DATA_REFUSED', 'is refused'))
    const reply = finisher.add(anItem())
    await platform.advance('10m')
    state.answer = async (items) => items.map(accepted)
    await platform.advance('2s')
    expect(await reply).toMatchObject({ accepted: true, state: 'done' })
    expect(new Set(told)).toEqual(new Set(['failing', 'working']))
  })
})

const odd = (): Promise<never> => Promise.reject(new Error('what is this?'))

describe('an outcome that fails with an error that nobody knows', () => {
  test('D1 is written as it was once the database is well, however long that takes: nothing is judged in an outage', async () => {
    const { platform, finisher, state, writes } = bench()
    state.answer = odd
    const items = Array.from({ length: 9 }, () => anItem({ log: 'a line' }))
    const replies = items.map((item) => finisher.add(item))
    await platform.advance('1s')
    const late = anItem({ followUps: [] })
    replies.push(finisher.add(late))
    await platform.advance('10m')
    state.answer = async (all) => all.map(accepted)
    const before = writes.length
    await platform.advance('3s')
    expect((await Promise.all(replies)).every((reply) => reply?.state === 'done')).toBe(true)
    expect(writes.slice(before).flatMap((write) => write.items)).toEqual(
      expect.arrayContaining([...items, late]),
    )
  })

  test('D1 alone lets its neighbours through, and is at fault once its like was written again and again', async () => {
    const { platform, finisher, state, writes } = bench()
    const bad = anItem()
    const isBad = (item: Finish): boolean =>
      item.id === bad.id && item.transition.to === 'done' && item.transition.result !== null
    state.answer = async (items) => (items.some(isBad) ? odd() : items.map(accepted))
    const stuck = finisher.add(bad)
    const neighbours = Array.from({ length: 8 }, () => finisher.add(anItem()))
    await platform.advance('2s')
    expect(await Promise.all(neighbours)).toHaveLength(8)
    // Others of another shape go to other tables, and say nothing of it.
    for (let times = 0; times < 60; times += 1) {
      void finisher.add(anItem({ transition: LATER, outcome: 'threw', error: 'x' }))
      await platform.advance('2s')
    }
    expect(
      writes
        .flatMap(({ items }) => items)
        .filter(({ id }) => id === bad.id)
        .every(isBad),
    ).toBe(true)
    for (let times = 0; times < 20; times += 1) {
      void finisher.add(anItem())
      await platform.advance('2s')
    }
    expect(await stuck).toMatchObject({ accepted: true, state: 'done' })
    expect(writes.flatMap(({ items }) => items).findLast(({ id }) => id === bad.id)).toEqual({
      id: bad.id,
      token: bad.token,
      outcome: 'returned',
      transition: { to: 'done', result: null },
      error: WHY,
    })
  })

  test('D1 is never at fault for a lock that another transaction holds', async () => {
    const { platform, finisher, state, writes } = bench()
    const locked = anItem()
    state.answer = async (items) => {
      if (items.some(({ id }) => id === locked.id)) throw new JobmillError('STORE_BUSY', 'locked')
      return items.map(accepted)
    }
    const reply = finisher.add(locked)
    for (let times = 0; times < 40; times += 1) {
      void finisher.add(anItem())
      await platform.advance('2s')
    }
    state.answer = async (items) => items.map(accepted)
    await platform.advance('3s')
    expect(await reply).toMatchObject({ accepted: true })
    expect(writes.flatMap(({ items }) => items).findLast(({ id }) => id === locked.id)).toBe(locked)
  })
})
