/** results: the state of jobs that a caller awaits. */
import assert from 'node:assert/strict'
import { JOB_STATES } from 'jobmill/store'
import { aJob } from '../../factories.ts'
import { DONE, HOUR, later } from '../bench.ts'
import { type Case, test } from '../case.ts'

export const resultCases: readonly Case[] = [
  test('results come in the order requested, null for unknown, repeats included', async (t) => {
    const { store, jobIn, enqueue } = t
    const [one, two, line, gone] = [
      await jobIn('done'),
      await enqueue(),
      await enqueue({ orderKey: 'o' }),
      await jobIn('dead'),
    ]
    await store.delete([gone])
    const results = await store.results([two, aJob().id, one, gone, line, two])
    assert.deepEqual(
      results.map((job) => (job === null ? null : [job.id, job.state])),
      [[two, 'ready'], null, [one, 'done'], null, [line, 'scheduled'], [two, 'ready']],
    )
    assert.deepEqual(await store.results([]), [])
  }),
  test('results match get for a job in every state', async (t) => {
    const { store, finish, jobIn, crash, runningJobs, claimAgain } = t
    const ids = await Promise.all(JOB_STATES.map((state) => jobIn(state)))
    const [odd, failed, again, kept, crashed] = await runningJobs(5)
    await finish(odd, DONE, { error: 'not JSON' })
    await finish(failed, later(HOUR), { error: 'why' })
    await finish(again, later(0), { error: 'first' })
    await finish(await claimAgain(again), { to: 'done', result: '[1]' })
    await finish(kept, later(0), { error: 'first' })
    await finish(await claimAgain(kept), later(0), { error: 'last' })
    await claimAgain(kept)
    ids.push(...[odd, failed, again, kept, crashed].map(({ id }) => id))
    const same = async (): Promise<unknown[]> => {
      const results = await store.results(ids)
      const jobs = await store.get(ids)
      assert.deepEqual(
        results,
        jobs.map((job) => job && { id: job.id, state: job.state, result: job.result, error: job.error }),
      )
      return results.slice(JOB_STATES.length).map((job) => [job?.state, job?.result, job?.error])
    }
    assert.deepEqual(await same(), [
      ['done', null, 'not JSON'],
      ['scheduled', null, 'why'],
      ['done', '[1]', null],
      ['running', null, 'last'],
      ['running', null, null],
    ])
    await crash(1)
    await store.retry([crashed.id])
    assert.deepEqual((await same()).at(-1), ['ready', null, 'lost with its instance (crash 1)'])
  }),
]
