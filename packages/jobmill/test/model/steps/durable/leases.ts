// Jobs whose handlers call steps, and the leases under which a worker writes.
import type { NewJob } from '../../../../src/job/enqueue/new-job.ts'
import { noNotes } from '../../durable/notes.ts'
import type { LeaseName } from '../../lease-name.ts'
import { pick, type World } from '../../world.ts'
import { type JobShape, makeJobs } from '../enqueue.ts'

/**
 * The priority of each job is its own. The contract leaves open in which order jobs are woken that become
 * ready in one call, so only their priorities may decide which of them is claimed first.
 */
const priorityOf = (nth: number): number => -100 - ((nth * 7_919) % 29_989)

export function makeDurableJobs(world: World, shapes: readonly JobShape[]): NewJob[] {
  const first = world.minted + 1
  const jobs = makeJobs(
    world,
    shapes.map((shape, n) => ({ ...shape, priority: priorityOf(first + n) })),
  )
  for (const { id, kind } of jobs) {
    world.durable.jobs.set(id, noNotes())
    world.durable.kinds.set(id, kind)
  }
  return jobs
}

/** The leases of jobs with steps that the workers believe to hold. */
export function heldLeases({ workers, durable }: World): LeaseName[] {
  return workers.flatMap(({ hand }) => hand.filter(({ id }) => durable.jobs.has(id)))
}

/** Mostly one that a worker holds. Now and then one that was given up, or seems to be. */
export function leaseOf(world: World, by: number): LeaseName | undefined {
  const finished = world.sentFinishes
    .flat()
    .flatMap(({ id, claim }) => (world.durable.jobs.has(id) ? { id, claim } : []))
  const leases = by % 7 === 0 ? finished : heldLeases(world)
  return pick(leases, by)
}

export function leasesOf(world: World, chosen: readonly number[]): LeaseName[] {
  return onePerJob(chosen.map((by) => leaseOf(world, by)).filter((one) => one !== undefined))
}

/** A worker may believe to hold two leases of one job. It ends them in separate calls. */
export function onePerJob(leases: readonly LeaseName[]): LeaseName[] {
  return leases.filter(({ id }, n) => leases.findIndex((one) => one.id === id) === n)
}

/** Their worker gives them up. */
export function dropLeases({ workers }: World, leases: readonly LeaseName[]): void {
  const isDropped = ({ id, claim }: LeaseName): boolean =>
    leases.some((one) => one.id === id && one.claim === claim)
  for (const worker of workers) worker.hand = worker.hand.filter((lease) => !isDropped(lease))
}

export function touch({ durable }: World, ids: readonly string[]): void {
  for (const id of ids) durable.touched.add(id)
}

export async function parentWithOpenChildren(
  { systems, durable }: World,
  by: number,
): Promise<string | undefined> {
  const [first] = systems
  if (first === undefined) return undefined
  const parents = [...new Set(durable.parents.values())]
  const all = await Promise.all(parents.map((id) => first.store.steps.children(id, { limit: 100 })))
  return pick(
    parents.filter((_, n) => all[n]?.some(({ endedAs }) => endedAs === null)),
    by,
  )
}

const UNKNOWN = '00000000-0000-7000-8000-999999999997'

/** A job with steps in any state, or one that does not exist. */
export function jobOf({ durable }: World, by: number): string {
  return (by % 23 === 0 ? undefined : pick([...durable.jobs.keys()], by)) ?? UNKNOWN
}
