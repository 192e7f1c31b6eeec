// A fully busy process still claims the first job of any queue, and limits are used up.
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext } from '../../src/index.ts'
import { sleep } from '../../src/platform/sleep.ts'
import type { TestPlatform } from '../../src/testing/index.ts'
import { NAMES, places } from './places.ts'

/** Takes this long on the fake clock. */
const taking = (platform: TestPlatform, kind: string, ms: number, ended: string[] = []) =>
  defineJob({
    kind,
    async run({ signal }: JobContext) {
      await sleep(platform, ms, signal)
      ended.push(kind)
    },
  })

const many = (jobs: number, queue: string, priority = 0) =>
  Array.from({ length: jobs }, () => ({ payload: null, queue, priority }))

describe.each(places)('a full process on %s', (name, fresh) => {
  const test = inTurns(name, NAMES)
  test('P13 does not starve a limited queue behind an unlimited one', async () => {
    const { mill, platform } = fresh()
    const ended: string[] = []
    const bulk = taking(platform, 'bulk', 400, ended)
    const mail = taking(platform, 'mail', 10, ended)
    const worker = await mill({
      jobs: [bulk, mail],
      serve: ['bulk', 'mail'],
      capacity: 4,
      limits: { smtp: { rate: 5 } },
      queues: { mail: { limit: 'smtp' } },
    })
    await worker.enqueueMany(bulk, many(400, 'bulk'))
    await worker.enqueueMany(mail, many(100, 'mail'))
    await platform.advance('10s')
    const mails = ended.filter((kind) => kind === 'mail').length
    expect(mails).toBeGreaterThanOrEqual(20)
    expect(mails).toBeLessThanOrEqual(56)
    expect(ended.length - mails).toBeGreaterThanOrEqual(40)
  })

  test('claims an urgent job of another queue as soon as a worker is free', async () => {
    const { mill, platform } = fresh()
    const ended: string[] = []
    const bulk = taking(platform, 'bulk', 1_500, ended)
    const urgent = taking(platform, 'urgent', 100, ended)
    const worker = await mill({ jobs: [bulk, urgent], serve: ['bulk', 'urgent'], capacity: 4 })
    // A process knows its own enqueues; it learns of others only by a notification.
    const other = await mill({ start: false })
    await worker.enqueueMany(bulk, many(100, 'bulk'))
    await platform.advance('1s')
    await other.enqueueMany(urgent, many(1, 'urgent', -100))
    await platform.advance('3s')
    expect(ended).toContain('urgent')
    expect(ended.length).toBeLessThanOrEqual(12)
  })

  test.each([
    ['P13 target 8: 50 a minute', { rate: 50, per: '1m' }, 60_000, 49, 51],
    ['P13 20 a second without a burst', { rate: 20, burst: 1 }, 2_000, 38, 41],
    ['P13 100 a second', { rate: 100 }, 2_000, 190, 300],
  ] as const)('%s: a queue uses the whole rate', async (_name, limit, forMs, least, most) => {
    const { mill, platform } = fresh()
    const quick = defineJob({ kind: 'quick', run: () => null })
    const worker = await mill({
      jobs: [quick],
      limits: { it: limit },
      queues: { default: { limit: 'it', workers: 50 } },
    })
    await worker.enqueueMany(quick, many(500, 'default'))
    await platform.advance(forMs)
    const [count] = await worker.counts()
    expect(count?.done).toBeGreaterThanOrEqual(least)
    expect(count?.done).toBeLessThanOrEqual(most)
  })
})
