// Outcomes that the database refuses alone: what is written in their place, and on what evidence.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { JobmillError } from '../../src/job/errors.ts'
import type { NewJob } from '../../src/job/enqueue/new-job.ts'
import type { Finish, Finished } from '../../src/store/types/finish.ts'
import { testPlatform } from '../../src/testing/index.ts'
import { aJob } from '../../../conformance/src/index.ts'
import { randomFrom } from '../../src/testing/kit/test-platform.ts'
import { finisher as createFinisher } from '../../src/work/outcome/finisher.ts'
import { aLease } from './leases.ts'

const LATER = { to: 'scheduled', delayMs: 10, refund: false } as const
const LOG = '{"at":7,"level":"info","message":"a line"}'

function anItem(overrides: Partial<Finish> = {}): Finish {
  const { id, token } = aLease()
  return { id, token, outcome: 'returned', transition: { to: 'done', result: '1' }, ranMs: 5, ...overrides }
}

const aFollowUp = (payload: unknown): NewJob =>
  aJob({ kind: 'next', payload, tags: ['t'], orderKey: 'o', dedupe: { key: 'k' } })
const withFollowUp = (payload: unknown = 'fine'): Finish => anItem({ followUps: [aFollowUp(payload)] })
const aFailure = (overrides: Partial<Finish> = {}): Finish =>
  anItem({ outcome: 'failed', transition: LATER, error: 'why', log: LOG, ...overrides })

const accepted = ({ id, transition }: Finish): Finished => ({
  id,
  accepted: true,
  state: transition.to === 'parked' ? 'scheduled' : transition.to,
  followUps: [],
})

const refused = (): JobmillError => new JobmillError('DATA_REFUSED', 'is refused')
/** An unlisted error, which may be about the data. */
const odd = (): Error => new Error('what is this?')

/** The error with which the database refuses an item. */
type Database = (item: Finish, isRehearsal: boolean) => Error | undefined

/** A finisher on a database that treats a rehearsal like a write. */
function bench(database: Database, seed = 1) {
  const platform = testPlatform({ seed })
  const state = { database, reply: accepted }
  const tries: { readonly item: Finish; readonly isRehearsal: boolean; readonly isAccepted: boolean }[] = []
  const written = new Map<string, Finish>()
  const givenUp: string[] = []
  let failures = 0
  const finisher = createFinisher({
    finish: async (items, how) => {
      const isRehearsal = how?.rehearse === true
      const error = items.map((item) => state.database(item, isRehearsal)).find((one) => one !== undefined)
      tries.push(...items.map((item) => ({ item, isRehearsal, isAccepted: error === undefined })))
      if (error !== undefined) throw error
      return items.map(state.reply)
    },
    platform,
    failing: () => {},
    working: () => {},
  })
  const put = (...items: readonly Finish[]): void => {
    for (const item of items)
      finisher.put(
        item,
        (finished, as) => void (finished === null ? givenUp.push(as.id) : written.set(as.id, as)),
        (error) => {
          failures += 1
          return { ...item, outcome: 'failed', transition: LATER, followUps: undefined, error: String(error) }
        },
      )
  }
  return {
    platform,
    state,
    tries,
    written,
    givenUp,
    finisher,
    put,
    asked: () => failures,
    async stop() {
      finisher.giveUp()
      await platform.advance('3s')
      await finisher.idle()
      expect(platform.pendingTimers).toBe(0)
    },
  }
}

const formsOf = ({ tries }: ReturnType<typeof bench>, id: string): Finish[] => {
  const all = tries.filter(({ item }) => item.id === id).map(({ item }) => item)
  return [...new Map(all.map((item) => [JSON.stringify(item), item])).values()]
}

const resultOf = ({ transition }: Finish): string | null =>
  transition.to === 'done' ? transition.result : null

const innocents = (): Finish[] => [anItem({ log: LOG }), withFollowUp(), aFailure({ cool: { forMs: 5 } })]

describe('errors that do not depend on the data', () => {
  test('D1 H2 for the first n statements lose nothing, whatever n is', async () => {
    for (let n = 1; n <= 40; n += 1) {
      for (const error of [refused, odd]) {
        let left = n
        const at = bench(() => (left-- > 0 ? error() : undefined), n)
        const item = anItem({ log: LOG, followUps: [aFollowUp(1)] })
        at.put(item)
        await at.platform.advance('1m')
        expect([n, at.written.get(item.id)]).toEqual([n, item])
        expect(at.tries.filter(({ isAccepted, isRehearsal }) => isAccepted && !isRehearsal)).toHaveLength(1)
      }
    }
  })

  const rates = [10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 95]
  test.each(inFull(rates, [10, 50, 80, 90, 95]))(
    'D1 at random, %i in 100, blame no innocent job, and the one whose data is refused is settled',
    async (percent) => {
      for (let seed = 1; seed <= inFull(50, 10); seed += 1) {
        const random = randomFrom(seed * 1_000 + percent)
        const bad = anItem({ transition: { to: 'done', result: '"bad"' } })
        const isBad = (item: Finish): boolean => item.id === bad.id && resultOf(item) !== null
        const at = bench((item) => (isBad(item) || random() < percent / 100 ? refused() : undefined), seed)
        const items = innocents()
        at.put(...items, bad)
        await at.platform.advance('1m')
        at.state.database = (item) => (isBad(item) ? refused() : undefined)
        await at.platform.advance('2m')
        expect([seed, items.map(({ id }) => at.written.get(id))]).toEqual([seed, items])
        expect(at.written.get(bad.id)).toMatchObject({
          transition: { to: 'done', result: null },
          error: expect.stringContaining('the result of this attempt could not be stored') as string,
        })
      }
    },
  )

  test('D1 in every second statement blame no job', async () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      let count = seed
      const at = bench(() => (count++ % 2 === 0 ? refused() : undefined), seed)
      const items = innocents().slice(seed % 3)
      at.put(...items)
      await at.platform.advance('5m')
      expect([seed, items.map(({ id }) => at.written.get(id))]).toEqual([seed, items])
    }
  })

  test('D1 in any order blame no job', async () => {
    const pattern = fc.array(fc.boolean(), { maxLength: 80 })
    await fc.assert(
      fc.asyncProperty(pattern, fc.nat(1_000), async (isRefused, seed) => {
        const left = [...isRefused]
        const at = bench(() => (left.shift() === true ? refused() : undefined), seed)
        const items = innocents()
        at.put(...items)
        await at.platform.advance('2m')
        expect(items.map(({ id }) => at.written.get(id))).toEqual(items)
      }),
      { numRuns: inFull(300, 50), seed: 1 },
    )
  })

  test('D1 H2 for all outcomes of one shape blame none of them, and all are written as they were afterwards', async () => {
    const at = bench(({ followUps }) => (followUps === undefined ? undefined : refused()))
    const [shaped, others] = [
      Array.from({ length: 30 }, () => withFollowUp()),
      [anItem(), aFailure(), anItem({ log: LOG })],
    ]
    at.put(...shaped, ...others)
    await at.platform.advance('3m')
    expect(others.map(({ id }) => at.written.get(id))).toEqual(others)
    expect(at.written.size).toBe(others.length)
    // 20 tries per pause: a failing database is not flooded.
    expect(at.tries.length).toBeLessThan(12_000)
    at.state.database = () => undefined
    await at.platform.advance('5s')
    expect(shaped.map(({ id }) => at.written.get(id))).toEqual(shaped)
  })

  test('D1 D8 H2 for every outcome blame none: leases are kept, so that no handler runs twice', async () => {
    const at = bench(refused)
    const dead = aFailure({ transition: { to: 'dead' } })
    const items = [...innocents(), dead, ...Array.from({ length: 30 }, () => anItem())]
    at.put(...items)
    await at.platform.advance('3m')
    expect(at.written.size).toBe(0)
    at.state.database = () => undefined
    await at.platform.advance('5s')
    expect(items.map(({ id }) => at.written.get(id))).toEqual(items)
  })

  test('D1 outages and locks say nothing: only the full form is tried', async () => {
    for (const code of ['STORE_BUSY', 'STORE_UNAVAILABLE', 'OUTCOME_UNKNOWN', 'STORE_REFUSED'] as const) {
      const at = bench(({ log }) => (log === undefined ? undefined : new JobmillError(code, 'for now')))
      const item = anItem({ log: LOG })
      at.put(item)
      await at.platform.advance('10m')
      expect(formsOf(at, item.id)).toEqual([item])
      at.state.database = () => undefined
      await at.platform.advance('3s')
      expect(at.written.get(item.id)).toEqual(item)
    }
  })
})

describe('an outcome whose data the database refuses', () => {
  test.each([
    ['data', refused],
    ['unknown', odd],
  ])(
    'D1 H2 does not delay its neighbours, and is written without its data, with a note: %s error',
    async (_, error) => {
      const bad = anItem({ log: LOG })
      const at = bench((item) => (item.id === bad.id && resultOf(item) !== null ? error() : undefined))
      const items = Array.from({ length: 19 }, () => anItem({ log: LOG }))
      at.put(...items.slice(0, 13), bad, ...items.slice(13))
      await at.platform.advance('1s')
      expect(items.map(({ id }) => at.written.get(id))).toEqual(items)
      await at.platform.advance('30s')
      const { id, token } = bad
      expect(at.written.get(id)).toEqual({
        id,
        token,
        outcome: 'returned',
        transition: { to: 'done', result: null },
        error: expect.stringMatching(
          /^the result and the log of .* could not be stored: .*(refused|what is)/,
        ) as string,
      })
    },
  )

  test('D1 is written in a smaller form only right after a refusal of the full form, and after ten of both', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const bad = anItem()
      const at = bench((item) => (resultOf(item) === null ? undefined : refused()), seed)
      at.put(bad)
      await at.platform.advance('1m')
      expect(resultOf(at.written.get(bad.id) ?? bad)).toBeNull()
      const last = at.tries.at(-2)
      expect(last).toEqual({ item: bad, isRehearsal: false, isAccepted: false })
      const first = at.tries.findIndex(({ isAccepted }) => isAccepted)
      const after = at.tries.slice(first)
      expect(after.filter(({ isRehearsal }) => isRehearsal).length).toBeGreaterThanOrEqual(10)
      expect(after.filter(({ item }) => item === bad).length).toBeGreaterThanOrEqual(10)
    }
  })

  test('D1 H2 with follow-ups costs an attempt if the same follow-ups without their data are accepted', async () => {
    const bad = withFollowUp('bad')
    const at = bench(({ followUps }) => (followUps?.[0]?.payload === '"bad"' ? refused() : undefined))
    at.put(bad)
    await at.platform.advance('2m')
    expect(at.written.get(bad.id)).toMatchObject({ outcome: 'failed', transition: LATER })
    const control = at.tries.findLast(({ item }) => item.followUps !== undefined && item !== bad)?.item
    expect(control).toMatchObject({ id: bad.id, transition: { to: 'done', result: null } })
    const [job, own] = [control?.followUps?.[0], bad.followUps?.[0]]
    expect(job).toMatchObject({ kind: 'next', queue: own?.queue, payload: 'null', tags: ['control'] })
    expect([job?.orderKey, job?.dedupe?.key]).not.toContain('o')
    expect(
      at.tries.filter(
        ({ item, isRehearsal }) => item.followUps !== undefined && item !== bad && !isRehearsal,
      ),
    ).toEqual([])
  })

  test.each([
    [
      'a completion that became a failure',
      withFollowUp('bad'),
      ({ followUps }: Finish) => followUps?.[0]?.payload === '"bad"',
    ],
    ['a completion without its result', anItem(), (item: Finish) => resultOf(item) !== null],
  ])('D low is reported as it was written if the reply is lost: %s', async (_what, bad, isBad) => {
    // A pooler may answer with an error of its own, which looks like one of the server.
    const cause = { severity: 'ERROR', code: 'XX000' }
    let stored: Finish | undefined
    const at = bench((item, isRehearsal) => {
      // Once the job is finished, a finish changes nothing and is not refused.
      if (stored !== undefined) return undefined
      if (isBad(item)) return refused()
      if (isRehearsal) return undefined
      stored = item
      return new JobmillError('OUTCOME_UNKNOWN', 'the reply was lost', { cause })
    })
    at.state.reply = (item) => ({ ...accepted(stored ?? item), ...(stored !== undefined && { again: true }) })
    at.put(bad)
    await at.platform.advance('5m')
    expect(stored).toBeDefined()
    expect(at.written.get(bad.id)).toEqual(stored)
  })

  test('D1 is not asked to fail unless smaller forms are refused too', async () => {
    const bad = withFollowUp()
    const at = bench((item) => (resultOf(item) === null ? undefined : refused()))
    at.put(bad)
    await at.platform.advance('1m')
    expect([at.asked(), at.written.get(bad.id)?.followUps]).toEqual([0, bad.followUps])
  })

  test('D8 H2 is tried with less and less of it, and a failed attempt keeps an error text and is spent', async () => {
    const failed = aFailure({ cool: { forMs: 5 } })
    const { id, token } = failed
    const at = bench((item) => (item.outcome === null ? undefined : refused()))
    at.put(failed)
    await at.platform.advance('5m')
    const bare = { id, token, outcome: 'failed', transition: LATER, cool: { forMs: 5 } }
    const why = 'JobmillError: is refused.'
    const unstored = 'the error of this attempt could not be stored'
    expect(formsOf(at, id)).toEqual([
      failed,
      { ...bare, error: `why\n  the log of this attempt could not be stored: ${why}` },
      { ...bare, error: `${unstored}: ${why}` },
      { ...bare, error: unstored },
      { ...bare, error: unstored, cool: undefined },
      { id, token, outcome: null, transition: LATER },
    ])
    expect(at.written.get(id)).toEqual({ id, token, outcome: null, transition: LATER })
  })

  test('D8 that should end keeps its record: it is tried on until the database accepts one', async () => {
    for (const item of [aFailure({ transition: { to: 'dead' } }), anItem()]) {
      const at = bench(({ outcome }) => (outcome === null ? undefined : refused()))
      at.put(item)
      await at.platform.advance('10m')
      expect([at.written.size, at.asked()]).toEqual([0, 0])
      await at.stop()
      expect(at.givenUp).toEqual([item.id])
    }
  })

  test('D1 without a result has the note in its log, because an error would mean that its result is missing', async () => {
    const bad = anItem({ transition: { to: 'done', result: null }, log: LOG })
    const at = bench(({ log }) => (log === LOG ? refused() : undefined))
    at.put(bad)
    await at.platform.advance('1m')
    const { log = '', ...rest } = at.written.get(bad.id) ?? bad
    const message = 'the log of this attempt could not be stored: JobmillError: is refused.'
    expect(JSON.parse(log)).toEqual({ at: 7, level: 'warn', message })
    expect(rest.error).toBeUndefined()
  })

  test('D1 has a note that fits, whatever the lengths of the error and of the reason', async () => {
    const bad = aFailure({ error: 'e'.repeat(100_000) })
    const at = bench(({ log }) => (log === LOG ? new Error('r'.repeat(100_000)) : undefined))
    at.put(bad)
    await at.platform.advance('1m')
    const { error = '' } = at.written.get(bad.id) ?? bad
    expect(error).toMatch(/^e+…\n {2}the log of this attempt could not be stored: Error: r+…$/)
    expect(error.length).toBeLessThan(20_000)
  })

  test.each([
    ['stale', { accepted: false, state: null }],
    ['written before', { again: true }],
  ] as const)('D1 is not at fault for a rehearsal that finds it %s', async (_, reply) => {
    const bad = anItem()
    const at = bench((item) => (resultOf(item) === null ? undefined : refused()))
    at.state.reply = (item) => ({ ...accepted(item), ...reply })
    at.put(bad)
    await at.platform.advance('5m')
    expect(at.written.size).toBe(0)
    await at.stop()
  })

  test.each([0, 1])(
    'D1 with most of its neighbours delays neither the others nor those that come later (%i)',
    async (late) => {
      const bad = Array.from({ length: 3 }, () => anItem())
      const ids = new Set(bad.map(({ id }) => id))
      const at = bench(({ id }) => (ids.has(id) ? odd() : undefined))
      const others = Array.from({ length: 1 + late }, () => anItem())
      at.put(...bad, ...others.slice(0, 1))
      await at.platform.advance('1s')
      at.put(...others.slice(1))
      await at.platform.advance('30s')
      expect(others.map(({ id }) => at.written.get(id))).toEqual(others)
      await at.stop()
      expect(new Set(at.givenUp)).toEqual(ids)
    },
  )

  test('D1 among hundreds is settled like them: none starves another', async () => {
    const at = bench((item) => (resultOf(item) === null ? undefined : refused()))
    const items = Array.from({ length: 300 }, () => anItem())
    at.put(...items)
    await at.platform.advance('5m')
    expect(items.filter(({ id }) => at.written.get(id)?.error === undefined)).toEqual([])
  })
})
