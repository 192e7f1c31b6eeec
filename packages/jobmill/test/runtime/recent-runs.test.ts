/** `mill.recentRuns`: which attempts ran where, and what it says when there are too many. On both stores. */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { Dead, defineJob, type JobContext } from '../../src/index.ts'
import { subjects } from './stores.ts'

const job = defineJob({
  kind: 'a',
  maxAttempts: 3,
  backoff: { fixed: '1m' },
  run({ payload, attempt }: JobContext<string>) {
    if (payload === 'dead') throw new Dead('no')
    if (payload === 'again' && attempt === 1) throw new Error('again')
  },
})

const many = (count: number) => Array.from({ length: count }, () => ({ payload: 'again' }))

describe.each(subjects)('recent runs on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('have every attempt of 15 minutes, also of jobs that are retried', async () => {
    const mill = await create({ jobs: [job] })
    const old = await mill.enqueue(job, 'done')
    await mill.drain()
    await mill.clock.advance('16m')
    const again = await mill.enqueue(job, 'again')
    const dead = await mill.enqueue(job, 'dead')
    const waits = await mill.enqueue(job, 'done', { delay: '1h' })
    await mill.drain()
    const before = await mill.recentRuns()
    const shown = ({ job: id, attempt, outcome }: (typeof before.runs)[number]) => [id, attempt, outcome]
    expect(new Set(before.runs.map(shown))).toEqual(
      new Set([
        [again.id, 1, 'failed'],
        [dead.id, 1, 'failed-permanently'],
      ]),
    )
    await mill.clock.advance('1m')
    await mill.drain()
    const { runs, from, to, completeFrom } = await mill.recentRuns()
    expect(runs.map(shown)).toContainEqual([again.id, 2, 'returned'])
    expect(runs).toHaveLength(3)
    for (const run of runs) {
      expect(run).toMatchObject({ kind: 'a', queue: 'default', instance: mill.instance.id })
      expect(run.startedAt).toBeGreaterThanOrEqual(from)
    }
    expect([to - from, completeFrom]).toEqual([15 * 60_000, null])
    expect(runs.map((run) => run.job)).not.toContain(old.id)
    expect(runs.map((run) => run.job)).not.toContain(waits.id)
  })

  test('are the newest 2,000, and say since when they are complete', async () => {
    const mill = await create({ jobs: [job] })
    await mill.enqueueMany(
      job,
      Array.from({ length: 2_300 }, () => ({ payload: 'done' })),
    )
    await mill.drain()
    const { runs, completeFrom } = await mill.recentRuns()
    expect(runs).toHaveLength(2_000)
    expect(completeFrom).toBe(Math.min(...runs.map(({ endedAt }) => endedAt ?? 0)))
  })

  test('are complete at no time when more jobs wait for a retry than are listed', async () => {
    const mill = await create({ jobs: [job] })
    await mill.enqueueMany(job, many(400))
    await mill.drain()
    expect((await mill.recentRuns()).completeFrom).toBe(null)
    await mill.enqueueMany(job, many(101))
    await mill.drain()
    const { to, completeFrom } = await mill.recentRuns()
    expect(completeFrom).toBe(to)
  })
})
