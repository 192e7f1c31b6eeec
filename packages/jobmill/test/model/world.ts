// The world of one run: the systems, a clock, three workers that know only their replies, and messages in
// flight.
import assert from 'node:assert/strict'
import type { toStringMethod } from 'fast-check'
import type { NewJob } from '../../src/job/enqueue/new-job.ts'
import { isJobmillError } from '../../src/job/errors.ts'
import type { Tick } from '../../src/store/types/schedule.ts'
import type { ConformanceSubject } from '../../../conformance/src/suite/subject.ts'
import { testClock, type TestClock } from '../../src/testing/test-clock.ts'
import { difference } from './difference.ts'
import { type DurableNotes, durableNotes } from './durable/notes.ts'
import type { LeaseName, NamedFinish } from './lease-name.ts'
import { type System, openSystems } from './systems.ts'
import type { FullStore } from '../../src/store/store.ts'

export interface Worker {
  /** New after every start. */
  instance: string
  /** The leases that it got and has not given up. */
  hand: LeaseName[]
  /** Replies to its claims that have not arrived yet. */
  onTheWay: LeaseName[][]
}

export interface World {
  readonly clock: TestClock
  readonly systems: readonly System[]
  readonly workers: Worker[]
  /** Every job id and instance id that was ever used. */
  readonly ids: string[]
  readonly instances: string[]
  /** Everything that was ever sent, to be sent again at the worst time. */
  readonly sentJobs: (readonly NewJob[])[]
  readonly sentFinishes: (readonly NamedFinish[])[]
  readonly sentTicks: (readonly Tick[])[]
  /** Holders of limits outside of jobs. */
  readonly holders: string[]
  /** Processes that record metrics, with the number of their last recording. */
  readonly sources: Map<string, number>
  /** Of the jobs with durable steps. */
  readonly durable: DurableNotes
  /** How many claims were made. */
  claims: number
  /** How many ids were created. */
  minted: number
}

/** An event in a world. `says` is for the report of a failed run. */
export interface Step {
  readonly says: string
  readonly [toStringMethod]: () => string
  readonly run: (world: World) => Promise<void>
}

export async function openWorld(subjects: readonly ConformanceSubject<FullStore>[]): Promise<World> {
  const clock = testClock()
  const world: World = {
    clock,
    systems: await openSystems(subjects, clock.now),
    workers: [],
    ids: [],
    instances: [],
    sentJobs: [],
    sentFinishes: [],
    sentTicks: [],
    holders: [],
    sources: new Map(),
    durable: durableNotes(),
    claims: 0,
    minted: 0,
  }
  return world
}

export async function closeWorld({ systems }: World): Promise<void> {
  await Promise.all(systems.map(({ store }) => store.close()))
}

/** The same ids in every replay of a seed, but not in creation order: ids have no order. */
export function mintId(world: World): string {
  world.minted += 1
  const scattered = (world.minted * 7_919) % 99_991
  return `00000000-0000-7000-8000-${scattered.toString().padStart(12, '0')}`
}

/**
 * Sends one request to every system concurrently, and compares the replies in their normalized form. Returns
 * it.
 */
export async function ask<Reply, Plain>(
  { systems, durable }: World,
  what: string,
  send: (system: System) => Promise<Reply>,
  plain: (reply: Reply, system: System) => Plain,
): Promise<Plain> {
  durable.isStaged = false
  const replies = await Promise.all(systems.map(async (system) => plain(await send(system), system)))
  const [expected, ...others] = replies
  assert.ok(expected !== undefined)
  for (const [n, reply] of others.entries()) same(reply, expected, `${systems[n + 1]?.name} on ${what}`)
  return expected
}

/** The reply, or the code of the refusal: all systems must refuse alike. */
export async function orCode<T>(act: () => Promise<T>): Promise<T | { readonly refused: string }> {
  try {
    return await act()
  } catch (error) {
    if (isJobmillError(error)) return { refused: error.code }
    throw error
  }
}

function same(actual: unknown, expected: unknown, what: string): void {
  const different = difference(actual, expected)
  if (different === undefined) return
  const [ours, theirs] = [different.expected, different.actual].map(
    (value) => JSON.stringify(value) ?? 'nothing',
  )
  throw new Error(`${what}, at ${different.path || 'the reply'}: ${theirs}, where the oracle has ${ours}`)
}

/** One of the items, chosen by any number; undefined when there is none. */
export function pick<T>(items: readonly T[], by: number): T | undefined {
  return items[by % Math.max(1, items.length)]
}

/** A worker that holds leases, if there is one. */
export function busyWorker(world: World, by: number): Worker {
  return (
    pick(
      world.workers.filter(({ hand }) => hand.length > 0),
      by,
    ) ?? workerOf(world, by)
  )
}

export function workerOf(world: World, by: number): Worker {
  const worker = pick(world.workers, by)
  assert.ok(worker)
  return worker
}
