// After every command, the systems agree on the jobs with steps, and each one keeps P17 and P18.
import assert from 'node:assert/strict'
import type { JobRecord } from '../../../src/store/types/job-record.ts'
import type { Memo, StepRecord } from '../../../src/store/types/step.ts'
import { plainJob } from '../plain.ts'
import { claimOf, type System } from '../systems.ts'
import { ask, type World } from '../world.ts'
import { type JobNotes, notesOf } from './notes.ts'
import { settle } from './settle.ts'

export async function checkDurable(world: World): Promise<void> {
  const { durable, systems } = world
  if (durable.jobs.size === 0) return
  await settle(world)
  const { isStaged } = durable
  const jobs = await ask(
    world,
    'the jobs with steps',
    (system) => look(world, system),
    (text) => text,
  ).then((seen) => seen.jobs)
  // Steps and events are deleted with their job, and its id may be used again.
  for (const id of durable.jobs.keys()) if (jobs[id] === null) durable.jobs.delete(id)
  durable.touched.clear()
  if (isStaged) await Promise.all(systems.map((system) => parkedJobsAreFree(world, system)))
}

/** What a store shows of its jobs with steps: of those that the last command concerns, everything. */
async function look({ durable }: World, system: System) {
  const { store } = system
  const ids = [...durable.jobs.keys()]
  const [jobs, memos, parents] = await Promise.all([
    store.get(ids),
    store.steps.read(ids),
    store.steps.parents(ids),
  ])
  for (const [n, id] of ids.entries())
    if (jobs[n] !== null) resultsAreKept(system, id, notesOf(durable, id), memos[n] ?? [])
  return {
    jobs: Object.fromEntries(jobs.map((job, n) => [ids[n] ?? '', plainJob(system, job, [])])),
    memos,
    parents,
    steps: await stepsOf(system, [...durable.touched]),
  }
}

/** The steps and children of these jobs, as operators see them. */
export async function stepsOf({ store: { steps } }: System, ids: readonly string[]): Promise<object> {
  const each = ids.map(async (id) => [
    id,
    { steps: await steps.list(id), children: await steps.children(id, { limit: 1_000 }) },
  ])
  return Object.fromEntries((await Promise.all(each)) as [string, object][])
}

/** P17 */
function resultsAreKept(
  { name: store }: System,
  id: string,
  { results }: JobNotes,
  memos: readonly Memo[],
): void {
  for (const [name, result] of results) {
    const memo = memos.find((one) => one.name === name)
    const what = `P17 ${store}: the result of step "${name}" of job ${id}`
    assert.deepEqual([memo?.isDone, memo?.result], [true, result], what)
  }
}

/** After a stage. */
async function parkedJobsAreFree({ durable }: World, system: System): Promise<void> {
  const jobs = await system.store.get([...durable.jobs.keys()])
  await Promise.all(
    jobs.map(async (job) => {
      if (job?.state === 'scheduled') await parkedJobIsFree(system, job, notesOf(durable, job.id))
    }),
  )
}

/** P18: it holds no lease, and none of its waits is over. Its permit is checked by the command that parks. */
async function parkedJobIsFree(system: System, job: JobRecord, { waits, events }: JobNotes): Promise<void> {
  const { store } = system
  const last = (await store.history(job.id)).at(-1)
  if (last?.outcome !== 'parked' || last.instance === null || job.waitsForOrder) return
  const held = await store.instances.held(last.instance)
  const isHeld = job.instance !== null || held.some(({ id }) => id === job.id)
  assert.equal(isHeld, false, `P18 ${system.name}: the parked job ${job.id} holds a lease`)
  if (claimOf(system, last.token) !== waits.claim) return
  const steps = (await store.steps.list(job.id)) ?? []
  const now = await store.now()
  for (const step of steps.filter(({ name }) => waits.names.has(name))) {
    const isOver = await isWaitOver(system, job.id, step, { events, now })
    assert.equal(isOver, false, `P18 ${system.name}: job ${job.id} is parked although "${step.name}" is over`)
  }
}

async function isWaitOver(
  system: System,
  id: string,
  step: StepRecord,
  { events, now }: { readonly events: JobNotes['events']; readonly now: number },
): Promise<boolean> {
  const isLate = step.dueAt !== null && step.dueAt <= now
  // A sleep that is over counts as ended, also while its job is parked.
  if (step.kind === 'sleep' || step.endedAt !== null) return isLate
  if (events.some((event) => event.step === null && step.events.includes(event.name))) return true
  return isLate || (await isLastChild(system, id, step))
}

async function isLastChild({ store }: System, id: string, { name, kind }: StepRecord): Promise<boolean> {
  if (kind !== 'child') return false
  const children = await store.steps.children(id, { step: name })
  return children.every(({ endedAs }) => endedAs !== null)
}
