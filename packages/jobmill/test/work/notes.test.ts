// Progress and logs of running attempts: written in batches, at most once per period, and only after changes.
import { describe, expect, test } from 'vitest'
import { JobmillError } from '../../src/job/errors.ts'
import type { Progress } from '../../src/store/types/finish.ts'
import { testPlatform } from '../../src/testing/index.ts'
import type { Attempt } from '../../src/work/attempt.ts'
import { notes as createNotes } from '../../src/work/notes.ts'
import { anAttempt, unavailable } from './leases.ts'

function bench() {
  const platform = testPlatform()
  const written: { at: number; items: readonly Progress[] }[] = []
  const events: unknown[] = []
  const stale: Attempt[] = []
  const state = { reply: async (items: readonly Progress[]) => items.map(() => true) }
  const notes = createNotes({
    write: (items) => {
      written.push({ at: platform.monotonic(), items })
      return state.reply(items)
    },
    platform,
    everyMs: 500,
    emit: (type, event) => void events.push({ type, ...event }),
    stale: (attempt) => void stale.push(attempt),
  })
  const progress = (attempt: Attempt, value: unknown): void => {
    attempt.progress = JSON.stringify(value)
    notes.changed(attempt)
  }
  const log = (attempt: Attempt, message: string): void => {
    attempt.log.add({ at: 0, level: 'info', message })
    notes.changed(attempt)
  }
  return { platform, written, events, stale, state, notes, progress, log }
}

describe('progress and logs of running attempts', () => {
  test('are written together once per period, with the latest value', async () => {
    const { platform, written, progress } = bench()
    const [a, b] = [anAttempt(), anAttempt()]
    progress(a, 1)
    progress(b, 'half')
    progress(a, 2)
    await platform.advance(499)
    expect(written).toEqual([])
    await platform.advance(1)
    progress(a, 3)
    await platform.advance(499)
    expect(written).toHaveLength(1)
    expect(written[0]?.items).toEqual([
      { id: a.lease.id, token: a.lease.token, value: '2' },
      { id: b.lease.id, token: b.lease.token, value: '"half"' },
    ])
    await platform.advance(1)
    expect(written.map(({ at }) => at)).toEqual([500, 1_000])
  })

  test('are not written without a change, and leave no timer', async () => {
    const { platform, written, progress } = bench()
    expect(platform.pendingTimers).toBe(0)
    progress(anAttempt(), 1)
    await platform.advance('1h')
    expect(written).toHaveLength(1)
    expect(platform.pendingTimers).toBe(0)
  })

  test('include the whole log only if it grew', async () => {
    const { platform, written, progress, log } = bench()
    const attempt = anAttempt()
    log(attempt, 'first')
    await platform.advance(500)
    log(attempt, 'second')
    progress(attempt, 1)
    await platform.advance(500)
    progress(attempt, 2)
    await platform.advance(500)
    const [one, two, three] = written.map(({ items }) => items[0])
    expect(one).not.toHaveProperty('value')
    expect(one?.log).toContain('first')
    expect(two).toMatchObject({ value: '1', log: attempt.log.text() })
    expect(two?.log).toContain('second')
    expect(three).not.toHaveProperty('log')
  })

  test('are emitted once written, with the value and without the log', async () => {
    const { platform, events, progress, log } = bench()
    const [a, b] = [anAttempt(), anAttempt()]
    progress(a, { done: 5 })
    log(b, 'only a line')
    expect(events).toEqual([])
    await platform.advance(500)
    expect(events).toEqual([{ type: 'progress', ...a.ref, value: { done: 5 } }])
  })

  test('that the database refuses as stale are reported to their own attempt only', async () => {
    const { platform, stale, events, state, progress } = bench()
    const [a, b] = [anAttempt(), anAttempt()]
    state.reply = async () => [false, true]
    progress(a, 1)
    progress(b, 1)
    await platform.advance(500)
    expect(stale).toEqual([a])
    expect(events).toMatchObject([{ id: b.lease.id }])
  })

  test('that could not be written are written again, complete', async () => {
    const { platform, written, state, progress, log } = bench()
    const attempt = anAttempt()
    state.reply = () => Promise.reject(unavailable())
    progress(attempt, 1)
    log(attempt, 'a line')
    await platform.advance(500)
    state.reply = async () => [true]
    await platform.advance(500)
    expect(written).toHaveLength(2)
    expect(written[1]?.items).toEqual(written[0]?.items)
  })

  test('D1 that the database will never accept block no other, and are not retried endlessly', async () => {
    const { platform, written, events, state, progress } = bench()
    const [a, bad, c] = [anAttempt(), anAttempt(), anAttempt()]
    state.reply = async (items) => {
      if (items.some(({ id, value }) => id === bad.lease.id && value === '0'))
        throw new JobmillError('DATA_REFUSED', 'is refused')
      return items.map(() => true)
    }
    for (const attempt of [a, bad, c]) progress(attempt, 0)
    await platform.advance('5s')
    expect(events.map((event) => (event as { id: string }).id)).toEqual([a.lease.id, c.lease.id])
    expect(written).toHaveLength(4)
    progress(bad, 1)
    await platform.advance('1s')
    expect(events.at(-1)).toMatchObject({ id: bad.lease.id, value: 1 })
  })

  test('that are newer replace those that failed', async () => {
    const { platform, written, state, progress } = bench()
    const attempt = anAttempt()
    state.reply = () => {
      progress(attempt, 'newer')
      return Promise.reject(unavailable())
    }
    progress(attempt, 'older')
    await platform.advance(500)
    state.reply = async () => [true]
    await platform.advance(500)
    expect(written[1]?.items).toMatchObject([{ value: '"newer"' }])
  })

  test('never overlap: a change during a write waits for the next period', async () => {
    const { platform, written, state, progress } = bench()
    const attempt = anAttempt()
    const answer = Promise.withResolvers<boolean[]>()
    state.reply = () => answer.promise
    progress(attempt, 1)
    await platform.advance(500)
    progress(attempt, 2)
    await platform.advance('10s')
    expect(written).toHaveLength(1)
    answer.resolve([true])
    await platform.advance(500)
    expect(written).toHaveLength(2)
  })

  test('of an ended attempt are not written: its finish contains them', async () => {
    const { platform, written, progress } = bench()
    const attempt = anAttempt()
    progress(attempt, 1)
    attempt.ended = true
    await platform.advance(500)
    expect(written.flatMap(({ items }) => items)).toEqual([])
    // The database is not called without items.
    expect(written).toEqual([])
  })

  test('stop with the process, and leave no timer', async () => {
    const { platform, written, notes, progress } = bench()
    const attempt = anAttempt()
    progress(attempt, 1)
    notes.stop()
    expect(platform.pendingTimers).toBe(0)
    progress(attempt, 2)
    await platform.advance('10s')
    expect(written).toEqual([])
  })
})
