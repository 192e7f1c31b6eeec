/** Many jobs with steps, many steps of one job, and many parked jobs. */
import { describe, expect, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { defineJob } from '../../src/index.ts'
import { aroundVerbs, type Verb, VERBS } from '../../src/store/verbs.ts'
import { subjects } from '../runtime/stores.ts'
import { countStatements } from './counted-statements.ts'

const STEPS = 1_000
const PARKED = inFull(100_000, 1_000)
const IDLE_SECONDS = 60

describe.each(subjects)('many steps on $name', ({ mill: create }) => {
  test('P17 P18 sixty jobs at once: each runs its step once, sleeps, and receives its own event', async () => {
    const runs = new Map<string, number>()
    const job = defineJob({
      kind: 'a',
      async run({ step, job: { id } }) {
        await step.run('one', () => void runs.set(id, (runs.get(id) ?? 0) + 1))
        await step.sleep('nap', '5s')
        return step.waitForEvent('e')
      },
    })
    const mill = await create({ jobs: [job], capacity: 50, start: false })
    const jobs = await mill.enqueueMany(
      job,
      Array.from({ length: 60 }, () => ({ payload: null })),
    )
    await mill.start()
    await mill.drain()
    for (const [n, { id }] of jobs.entries()) await mill.sendEvent(id, 'e', n)
    await mill.drain({ scheduled: true })
    const results = await Promise.all(jobs.map(async ({ id }) => (await mill.get(id))?.result))
    expect(results).toEqual(jobs.map((_, n) => n))
    expect(jobs.map(({ id }) => runs.get(id))).toEqual(jobs.map(() => 1))
  })

  test(`P17 an attempt reads the ${STEPS} recorded steps of its job with one query, and writes none`, async () => {
    const { texts } = countStatements()
    const calls: Verb[] = []
    const job = defineJob({
      kind: 'a',
      async run({ step }) {
        const names = Array.from({ length: STEPS }, (_, n) => n)
        const results = await Promise.all(names.map((n) => step.run(`step ${n}`, () => n)))
        await step.sleep('nap', '5s')
        return results.reduce((sum, n) => sum + n, 0)
      },
    })
    const mill = await create({ jobs: [job] }, (store) =>
      aroundVerbs(store, ['steps.read', 'steps.record', 'steps.wait'], (verb, call) => (...args) => {
        calls.push(verb)
        return call(...args)
      }),
    )
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    calls.length = 0
    texts.length = 0
    await mill.drain({ scheduled: true })
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: (STEPS * (STEPS - 1)) / 2 })
    expect(calls).toEqual(['steps.read'])
    const reads = texts.filter((text) => /FROM jobmill_step WHERE|AS s WHERE s\.job_id/.test(text))
    expect(reads).toHaveLength(1)
  })

  test(`P18 ${PARKED} parked jobs cost an idle instance at most two calls a second, like no jobs`, async () => {
    const job = defineJob({
      kind: 'a',
      run: ({ step, payload }) =>
        payload === 'event' ? step.waitForEvent('never') : step.sleep('long', '30d'),
    })
    const calls: Verb[] = []
    const mill = await create({ jobs: [job], capacity: 100 }, (store) =>
      aroundVerbs(store, Object.keys(VERBS) as Verb[], (verb, call) => (...args) => {
        calls.push(verb)
        return call(...args)
      }),
    )
    const payloads = Array.from({ length: PARKED }, (_, n) => ({ payload: n % 2 === 0 ? 'event' : 'sleep' }))
    for (let from = 0; from < PARKED; from += 1_000)
      await mill.enqueueMany(job, payloads.slice(from, from + 1_000))
    await mill.drain()
    expect(await mill.counts()).toMatchObject([{ scheduled: PARKED, running: 0 }])
    await mill.clock.advance('30s')
    calls.length = 0
    await mill.platform.advance(IDLE_SECONDS * 1_000)
    expect(calls.length / IDLE_SECONDS).toBeLessThanOrEqual(2)
    const about = calls.filter((verb) => verb === 'stage' || verb === 'claim' || verb.startsWith('steps.'))
    expect(about.length).toBeLessThanOrEqual(2)
  }, 600_000)
})
