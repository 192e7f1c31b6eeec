// Writing outcomes: many in one statement, retried until the database answers, and none delayed by another.
import { describe, expect, test } from 'vitest'
import { JobmillError } from '../../src/job/errors.ts'
import type { Finish, Finished } from '../../src/store/finish.ts'
import type { Holding } from '../../src/store/holdings.ts'
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
  const calls: string[] = []
  /** Rows of jobs in other tables, by id. */
  const holdings = new Map<string, readonly Holding[]>()
  const state = { answer: async (items: readonly Finish[]): Promise<Finished[]> => items.map(accepted) }
  const finisher = createFinisher({
    finish: (items) => {
      writes.push({ at: platform.monotonic(), items })
      return state.answer(items)
    },
    held: async () =>
      writes
        .flatMap(({ items }) => items)
        .map(({ id, token }) => ({ id, token, ageMs: 0, holdings: holdings.get(id) ?? [] })),
    platform,
    failing: () => void calls.push('failing'),
    working: () => void calls.push('working'),
    ...overrides,
  })
  const ids = (): string[][] => writes.map(({ items }) => items.map(({ id }) => id))
  return { platform, writes, calls, holdings, state, finisher, ids }
}

describe('outcomes', () => {
  test('of a write are reported to each caller, and then free room once', async () => {
    const outcomes: string[] = []
    const { platform, finisher, state } = bench({ wrote: () => void outcomes.push('room') })
    const put = (name: string, item = anItem()): void =>
      finisher.put(item, (finished) => void outcomes.push(`${name} ${finished?.state ?? 'given up'}`))
    put('a')
    put('b')
    await platform.settled()
    expect(outcomes.splice(0)).toEqual(['a done', 'b done', 'room'])
    state.answer = () => Promise.reject(new JobmillError('STORE_CLOSED', 'closed'))
    put('c')
    await platform.settled()
    expect(outcomes).toEqual(['c given up', 'room'])
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

const LATER = { to: 'scheduled', delayMs: 10, refund: false } as const
const WHY = expect.stringContaining('could not be written as it was') as string

/** Accepts everything but these payloads. */
const refusing = (bad: ReadonlySet<string>) => async (items: readonly Finish[]) => {
  if (items.some(({ id, log, followUps }) => bad.has(id) && (log ?? followUps) !== undefined))
    throw new JobmillError('PAYLOAD_NOT_JSON', 'is refused')
  return items.map(accepted)
}

/** Writes other outcomes of the same shape between the retries. */
async function writingOthers(
  { platform, finisher }: Pick<ReturnType<typeof bench>, 'platform' | 'finisher'>,
  like: Partial<Finish>,
): Promise<void> {
  for (let times = 0; times < 20; times += 1) {
    void finisher.add(anItem(like))
    await platform.advance('2s')
  }
}

const dataRefused = (): Promise<never> => Promise.reject(new JobmillError('DATA_REFUSED', 'is refused'))

describe('an outcome with data that the database refuses', () => {
  test('does not block its neighbors, and is written without its data', async () => {
    const { platform, finisher, state, writes } = bench()
    const items = Array.from({ length: 20 }, () => anItem({ log: 'a line' }))
    const bad = items[13] ?? anItem()
    state.answer = refusing(new Set([bad.id]))
    const replies = Promise.all(items.map((item) => finisher.add(item)))
    await platform.settled()
    expect(new Set(writes.flatMap((write) => write.items.map(({ id }) => id))).size).toBe(20)
    await platform.advance('5s')
    expect((await replies).map((reply) => reply?.accepted)).toEqual(items.map(() => true))
    const { id, token } = bad
    expect(writes.flatMap((write) => write.items.filter((item) => item.id === id)).at(-1)).toEqual({
      id,
      token,
      outcome: 'returned',
      transition: { to: 'done', result: null },
      error: WHY,
    })
  })

  test('H2 stays unchanged while all other outcomes fail too, and is written when the database accepts it', async () => {
    const { platform, finisher, state, writes, calls } = bench()
    state.answer = dataRefused
    const items = [
      ...Array.from({ length: 30 }, () => anItem({ log: 'a line' })),
      anItem({ followUps: [] }),
      anItem({ outcome: 'failed', transition: LATER, error: 'why', cool: { forMs: 5 } }),
      anItem({ outcome: 'failed-permanently', transition: { to: 'dead', refund: false }, error: 'why' }),
    ]
    const written = new Map<string, Finish>()
    let failed = 0
    for (const item of items)
      finisher.put(
        item,
        (finished, as) => void (finished?.accepted === true && written.set(as.id, as)),
        () => ((failed += 1), anItem()),
      )
    await platform.advance('10m')
    // One outcome in two seconds, and its smaller forms: a failing database is not flooded.
    expect(writes.length).toBeLessThan(30_000)
    expect([failed, written.size, calls.includes('failing')]).toEqual([0, 0, true])
    expect(writes.flatMap((write) => write.items).filter(({ outcome }) => outcome === null)).toEqual([])
    state.answer = async (all) => all.map(accepted)
    await platform.advance('3s')
    expect(items.map(({ id }) => written.get(id))).toEqual(items)
    expect(failed).toBe(0)
  })

  test('H2 loses neither data nor an attempt if the refusal is brief', async () => {
    const { platform, finisher, state, writes } = bench()
    let refusals = 4
    state.answer = (items) => (refusals-- > 0 ? dataRefused() : Promise.resolve(items.map(accepted)))
    const item = anItem({ log: 'a line', followUps: [] })
    const outcomes: unknown[] = []
    finisher.put(
      item,
      (_, as) => void outcomes.push(as),
      () => anItem(),
    )
    await platform.advance('5s')
    expect(outcomes).toEqual([item])
    expect(writes.flatMap((write) => write.items)).toEqual(Array.from({ length: 5 }, () => item))
  })

  test('D1 H2 with follow-ups spends an attempt once others with follow-ups were written: they belong to the completion', async () => {
    const { platform, finisher, state } = bench()
    const item = anItem({ followUps: [] })
    const failed = { ...item, outcome: 'failed', transition: LATER, followUps: undefined } as const
    state.answer = refusing(new Set([item.id]))
    const outcomes: unknown[] = []
    finisher.put(
      item,
      (finished, written) => void outcomes.push(finished?.state, written),
      (error) => ({ ...failed, error: String(error) }),
    )
    await writingOthers({ platform, finisher }, {})
    expect(outcomes).toEqual([])
    await writingOthers({ platform, finisher }, { followUps: [] })
    expect(outcomes).toEqual(['scheduled', { ...failed, error: 'JobmillError: is refused.' }])
  })

  test('D8 H2 is retried with less and less data, and a failed attempt keeps an error text and is spent', async () => {
    const { platform, finisher, state, writes } = bench()
    const failed = anItem({
      outcome: 'failed',
      transition: LATER,
      error: 'why',
      log: 'a line',
      cool: { forMs: 5 },
    })
    const { id, token } = failed
    state.answer = async (items) =>
      items.some((item) => item.id === id) ? dataRefused() : items.map(accepted)
    finisher.put(
      { ...anItem(), id, token },
      () => {},
      () => failed,
    )
    const shapes = [
      {},
      { outcome: 'failed', transition: LATER, cool: { forMs: 5 } },
      { outcome: 'failed', transition: LATER },
    ] as const
    for (const like of shapes) await writingOthers({ platform, finisher }, like)
    const tried = writes.flatMap(({ items }) => items).filter((item) => item.id === id)
    const forms = [...new Map(tried.map((item) => [JSON.stringify(item), item])).values()]
    const bare = { id, token, outcome: 'failed', transition: LATER }
    const reason = 'the error of this attempt could not be stored'
    const errors = [`${reason}: JobmillError: is refused.`, reason]
    expect(forms.slice(1)).toEqual([
      { id, token, outcome: 'returned', transition: { to: 'done', result: null }, error: WHY },
      { id, token, outcome: 'returned', transition: { to: 'done', result: null } },
      failed,
      { ...bare, error: 'why', cool: { forMs: 5 } },
      ...errors.map((error) => ({ ...bare, error, cool: { forMs: 5 } })),
      { ...bare, error: 'why' },
      ...errors.map((error) => ({ ...bare, error })),
      { ...bare, outcome: null },
    ])
    finisher.giveUp()
    await platform.advance('3s')
    await finisher.idle()
  })

  test('D8 is retried even when nothing is left to remove: the lease is kept, so no handler runs twice', async () => {
    const { platform, finisher, state, calls } = bench()
    state.answer = dataRefused
    const reply = finisher.add(anItem())
    await platform.advance('10m')
    state.answer = async (items) => items.map(accepted)
    await platform.advance('2s')
    expect(await reply).toMatchObject({ accepted: true, state: 'done' })
    expect(new Set(calls)).toEqual(new Set(['failing', 'working']))
  })
})

const odd = (): Promise<never> => Promise.reject(new Error('what is this?'))

describe('an outcome that fails with an unknown error', () => {
  test('D1 is written unchanged when the database recovers, however long that takes: an outage blames no outcome', async () => {
    const { platform, finisher, state, writes } = bench()
    state.answer = odd
    const items = Array.from({ length: 10 }, () => anItem({ log: 'a line' }))
    const replies = items.slice(0, 1).map((item) => finisher.add(item))
    await platform.advance('1s')
    replies.push(...items.slice(1).map((item) => finisher.add(item)))
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

  test('D1 does not block its neighbors, and is blamed once similar outcomes were written repeatedly', async () => {
    const { platform, finisher, state, writes } = bench()
    const bad = anItem()
    const isBad = (item: Finish): boolean =>
      item.id === bad.id && item.transition.to === 'done' && item.transition.result !== null
    state.answer = async (items) => (items.some(isBad) ? odd() : items.map(accepted))
    const stuck = finisher.add(bad)
    const neighbours = Array.from({ length: 4 }, () => finisher.add(anItem()))
    await platform.advance('2s')
    expect(await Promise.all(neighbours)).toHaveLength(4)
    // Outcomes of another shape use other tables, and prove nothing about it.
    for (let times = 0; times < 60; times += 1) {
      void finisher.add(anItem({ transition: LATER, outcome: 'failed', error: 'x' }))
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

  test('D1 is not blamed while all outcomes with the same rows in other tables fail, whatever succeeds without them', async () => {
    const { platform, finisher, holdings, state, writes } = bench()
    const keyed = Array.from({ length: 3 }, () => anItem())
    for (const { id } of keyed) holdings.set(id, ['key'])
    const isKeyed = ({ id }: Finish): boolean => holdings.has(id)
    state.answer = async (items) => (items.some(isKeyed) ? odd() : items.map(accepted))
    const replies = keyed.map((item) => finisher.add(item))
    await writingOthers({ platform, finisher }, {})
    expect(writes.flatMap(({ items }) => items.filter(isKeyed)).every((item) => keyed.includes(item))).toBe(
      true,
    )
    state.answer = async (items) => items.map(accepted)
    await platform.advance('3s')
    expect(await Promise.all(replies)).toMatchObject(keyed.map(({ id }) => ({ id, accepted: true })))
    expect(writes.flatMap(({ items }) => items.filter(isKeyed)).slice(-3)).toEqual(keyed)
  })

  test('D1 is blamed once outcomes with the same rows in other tables were written', async () => {
    const { platform, finisher, holdings, state } = bench()
    const bad = anItem()
    holdings.set(bad.id, ['key', 'permit'])
    const isBad = ({ id, transition }: Finish): boolean =>
      id === bad.id && transition.to === 'done' && transition.result !== null
    const released: Holding[] = ['key']
    state.answer = async (items) =>
      items.some(isBad) ? odd() : items.map((item) => ({ ...accepted(item), released }))
    let isWritten = false
    finisher.put(bad, () => void (isWritten = true))
    await writingOthers({ platform, finisher }, {})
    expect(isWritten).toBe(false)
    released.push('permit')
    await writingOthers({ platform, finisher }, {})
    expect(isWritten).toBe(true)
  })

  test.each([
    ['were refused as stale', { accepted: false, state: null }],
    ['were written before', { again: true }],
    ['ended as cancelled instead', { state: 'cancelled' }],
  ] as const)('D1 is not blamed because of others that %s', async (_, reply) => {
    const { platform, finisher, state, writes } = bench()
    const bad = anItem()
    state.answer = async (items) =>
      items.some(({ id }) => id === bad.id) ? odd() : items.map((item) => ({ ...accepted(item), ...reply }))
    void finisher.add(bad)
    await writingOthers({ platform, finisher }, {})
    const tried = writes.flatMap(({ items }) => items).filter(({ id }) => id === bad.id)
    expect(tried.every((item) => item === bad)).toBe(true)
    finisher.giveUp()
    await platform.advance('3s')
  })

  test('D1 is not blamed if the error changes: the new one came only after the others were written', async () => {
    const { platform, finisher, state, writes } = bench()
    const bad = anItem()
    let reason = 'one reason'
    state.answer = async (items) => {
      if (items.some(({ id }) => id === bad.id)) throw new Error(reason)
      return items.map(accepted)
    }
    void finisher.add(bad)
    await platform.advance('1s')
    for (let times = 0; times < 20; times += 1) void finisher.add(anItem())
    await platform.advance('1s')
    reason = 'another reason'
    await platform.advance('1m')
    const tried = writes.flatMap(({ items }) => items).filter(({ id }) => id === bad.id)
    expect(tried.every((item) => item === bad)).toBe(true)
    finisher.giveUp()
    await platform.advance('3s')
  })

  test('D1 is settled within 10 s after one burst of similar outcomes', async () => {
    const { platform, finisher, state } = bench()
    const bad = anItem()
    state.answer = async (items) =>
      items.some((item) => item.id === bad.id && item.ranMs !== undefined) ? odd() : items.map(accepted)
    let isWritten = false
    finisher.put(bad, () => void (isWritten = true))
    await platform.advance('3s')
    expect(isWritten).toBe(false)
    for (let times = 0; times < 10; times += 1) void finisher.add(anItem())
    await platform.advance('10s')
    expect(isWritten).toBe(true)
  })

  test.each([0, 1])(
    'D1 delays neither its neighbors nor later outcomes, even if most of its neighbors fail too (%i)',
    async (late) => {
      const { platform, finisher, state } = bench()
      const bad = new Set<string>()
      state.answer = async (items) => (items.some(({ id }) => bad.has(id)) ? odd() : items.map(accepted))
      for (let times = 0; times < 3; times += 1) {
        const item = anItem()
        bad.add(item.id)
        void finisher.add(item)
      }
      const others = [finisher.add(anItem())]
      await platform.advance('1s')
      for (let times = 0; times < late; times += 1) others.push(finisher.add(anItem()))
      await platform.advance('30s')
      const pending = Symbol('pending')
      const replies = await Promise.all(
        others.map((other) => Promise.race([other, Promise.resolve(pending)])),
      )
      expect(replies).not.toContain(pending)
      finisher.giveUp()
      await platform.advance('3s')
    },
  )

  test('D1 is blamed at once for the same error in its next attempt, but not for another error', async () => {
    const { platform, finisher, state } = bench()
    const bad = anItem({ followUps: [] })
    let reason = 'one reason'
    state.answer = async (items) => {
      if (items.some(({ id, followUps }) => id === bad.id && followUps !== undefined)) throw new Error(reason)
      return items.map(accepted)
    }
    const outcomes: unknown[] = []
    const run = (token: number): void =>
      finisher.put(
        { ...bad, token },
        (finished) => void outcomes.push(finished?.state ?? 'given up'),
        () => ({ id: bad.id, token, outcome: 'failed', transition: LATER, error: 'why' }),
      )
    run(1)
    await platform.advance('1m')
    expect(outcomes).toEqual([])
    await writingOthers({ platform, finisher }, { followUps: [] })
    expect(outcomes).toEqual(['scheduled'])
    run(2)
    await platform.advance('1m')
    expect(outcomes).toEqual(['scheduled', 'scheduled'])
    reason = 'another reason'
    run(3)
    await platform.advance('1m')
    expect(outcomes).toHaveLength(2)
    finisher.giveUp()
    await platform.advance('3s')
  })

  test('D1 is never blamed for a lock that another transaction holds', async () => {
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
    const tried = writes.flatMap(({ items }) => items).filter(({ id }) => id === locked.id)
    expect(tried.every((item) => item === locked)).toBe(true)
  })
})
