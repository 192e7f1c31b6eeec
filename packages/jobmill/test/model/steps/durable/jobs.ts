// Jobs with steps are enqueued, and operators cancel, retry, delete, rewind and fork them.
import * as fc from 'fast-check'
import { isEnded } from '../../../../src/job/state.ts'
import type { JobRecord } from '../../../../src/store/types/job-record.ts'
import { forgetSteps, noNotes, notesOf } from '../../durable/notes.ts'
import { stageAll } from '../../durable/settle.ts'
import { ask, pick, type World } from '../../world.ts'
import { shapes, send } from '../enqueue.ts'
import { anyOne, KINDS, ORDER_KEYS, QUEUES, stepOf, type Weighted } from '../names.ts'
import { operateOn } from '../operate.ts'
import { jobOf, makeDurableJobs, parentWithOpenChildren, touch } from './leases.ts'
import { namesFrom, PLACES } from './names.ts'

const aPlace = fc.nat({ max: PLACES })

/** A job for which this holds, if there is one. */
async function jobWhich(world: World, by: number, holds: (job: JobRecord) => boolean): Promise<string> {
  const jobs = (await world.systems[0]?.store.get([...world.durable.jobs.keys()])) ?? []
  return (
    pick(
      jobs.filter((job) => job !== null && holds(job)),
      by,
    )?.id ?? jobOf(world, by)
  )
}

/** Mostly an ended job; the others are refused. */
const endedJob = (world: World, by: number): Promise<string> =>
  by % 9 === 0 ? Promise.resolve(jobOf(world, by)) : jobWhich(world, by, ({ state }) => isEnded(state))

async function rewind(world: World, id: string, place: number): Promise<void> {
  const { verdict } = await ask(
    world,
    `rewind ${id} to ${place}`,
    ({ store }) => store.steps.rewind(id, place),
    (reply) => reply,
  )
  if (verdict === 'changed') forgetSteps(notesOf(world.durable, id), namesFrom(place))
  touch(world, [id])
  await stageAll(world)
}

const forking = fc.record({
  job: anyOne,
  place: aPlace,
  kind: fc.constantFrom(...KINDS),
  queue: fc.constantFrom(...QUEUES),
  more: fc.record(
    { delay: fc.constantFrom(10, 4_000), orderKey: fc.constantFrom(...ORDER_KEYS) },
    { requiredKeys: [] },
  ),
})

export const durableJobSteps: readonly Weighted[] = [
  stepOf(10, 'enqueue jobs with steps', shapes(3), (world, wanted) =>
    send(world, makeDurableJobs(world, wanted), false),
  ),
  stepOf(3, 'rewind', fc.record({ job: anyOne, place: aPlace }), async (world, { job: by, place }) =>
    rewind(world, await endedJob(world, by), place),
  ),
  stepOf(3, 'fork', forking, async (world, { job: by, place, more, ...where }) => {
    const origin = jobOf(world, by)
    const [job] = makeDurableJobs(world, [{ ...where, ...more }])
    if (job === undefined) return
    const [memos = []] = (await world.systems[0]?.store.steps.read([origin])) ?? []
    // The second call changes nothing.
    for (let calls = 0; calls < 2; calls += 1)
      await ask(
        world,
        `fork ${origin} at ${place}`,
        ({ store }) => store.steps.fork(origin, place, job),
        (isThere) => isThere,
      )
    const notes = noNotes()
    for (const memo of memos) if (memo.isDone && memo.place < place) notes.results.set(memo.name, memo.result)
    world.durable.jobs.set(job.id, notes)
    touch(world, [origin, job.id])
  }),
  stepOf(2, 'cancel a job with open children', anyOne, async (world, by) => {
    const id = await parentWithOpenChildren(world, by)
    if (id !== undefined) await operateOn(world, 'cancel', [id], (store, ids) => store.cancel(ids, 'stop'))
    await stageAll(world)
  }),
  stepOf(2, 'retry a job with steps', anyOne, async (world, by) => {
    const id = await endedJob(world, by)
    await operateOn(world, 'retry', [id], (store, ids) => store.retry(ids))
  }),
  stepOf(2, 'run a parked job now', anyOne, async (world, by) => {
    const id = await jobWhich(world, by, ({ state }) => state === 'scheduled')
    await operateOn(world, 'run now', [id], (store, ids) => store.runNow(ids))
  }),
  stepOf(1, 'delete a job with steps', anyOne, async (world, by) => {
    const id = jobOf(world, by)
    await operateOn(world, 'delete', [id], (store, ids) => store.delete(ids))
    await stageAll(world)
  }),
]
