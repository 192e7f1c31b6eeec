// Running attempts record steps, start children and wait.
import * as fc from 'fast-check'
import type { StepWait } from '../../../../src/store/types/step.ts'
import {
  type NamedStart,
  type NamedWrite,
  noteReceived,
  noteResult,
  notesOf,
  noteWait,
} from '../../durable/notes.ts'
import type { LeaseName } from '../../lease-name.ts'
import { tokenOf } from '../../systems.ts'
import { ask, pick, type World } from '../../world.ts'
import { type JobShape, plainShape } from '../enqueue.ts'
import { anyOne, stepOf, type Weighted } from '../names.ts'
import { leaseOf, makeDurableJobs, touch } from './leases.ts'
import { versionedKindOf } from './versions.ts'
import { EVENT_WAITS, EVENTS, FANS, kindOf, NAPS, placeOf, RUNS } from './names.ts'

const aWrite = fc.record({
  /** Mostly all writes of a call are of one attempt. */
  elsewhere: fc.constantFrom(0, 0, 0, 1, 2),
  name: fc.constantFrom(...RUNS),
  isDone: fc.constantFrom(true, true, true, false),
  n: fc.nat({ max: 9 }),
  ranMs: fc.constantFrom(0, 10, 700),
})
type AWrite = typeof aWrite extends fc.Arbitrary<infer T> ? T : never
const writes = fc.record({ lease: anyOne, items: fc.array(aWrite, { minLength: 1, maxLength: 5 }) })

/** The writes of one call, each step once: a mill repeats a step in the next call. */
function nameWrites(
  world: World,
  { lease: by, items }: { readonly lease: number; readonly items: readonly AWrite[] },
): NamedWrite[] {
  const named = items.flatMap(({ elsewhere, name, isDone, n, ranMs }) => {
    const lease = leaseOf(world, by + elsewhere)
    if (lease === undefined) return []
    const value = { result: isDone ? `{"n":${n}}` : null, checkpoint: isDone ? null : `[${n}]` }
    const step = { name, place: placeOf(name), kind: kindOf(name), isDone, ...value, ranMs }
    return { ...lease, ...step, ...versionedKindOf(world, lease) }
  })
  return onceEach(named)
}

function onceEach<Item extends LeaseName & { readonly name: string }>(items: readonly Item[]): Item[] {
  return items.filter(({ id, name }, n) => items.findIndex((one) => one.id === id && one.name === name) === n)
}

async function sendWrites(world: World, items: readonly NamedWrite[]): Promise<void> {
  if (items.length === 0) return
  const { durable } = world
  durable.sentWrites.push(items)
  const accepted = await ask(
    world,
    `record ${JSON.stringify(items)}`,
    (system) =>
      system.store.steps.record(
        items.map(({ claim, ...item }) => ({ ...item, token: tokenOf(system, { ...item, claim }) })),
      ),
    (replies) => replies,
  )
  for (const [n, { id, name, isDone, result }] of items.entries()) {
    const { results } = notesOf(durable, id)
    if (accepted[n] === true && isDone && !results.has(name)) results.set(name, result)
  }
  touch(
    world,
    items.map(({ id }) => id),
  )
}

export const aWait = fc.oneof(
  fc.record({
    name: fc.constantFrom(...NAPS),
    events: fc.constant<string[]>([]),
    /** Mostly for a duration; else until an instant, which may have passed. */
    ms: fc.constantFrom(0, 10, 500, 4_000, 11_000),
    isInstant: fc.constantFrom(false, false, true),
  }),
  fc.record({
    name: fc.constantFrom(...EVENT_WAITS),
    events: fc.subarray(EVENTS, { minLength: 1 }),
    ms: fc.constantFrom(null, null, 10, 4_000),
    isInstant: fc.constant(false),
  }),
)
export type AWait = typeof aWait extends fc.Arbitrary<infer T> ? T : never

function namedWait(world: World, lease: LeaseName, { name, events, ms, isInstant }: AWait): NamedWait {
  const time =
    isInstant && ms !== null
      ? { waitMs: null, until: world.clock.now() + ms - 1_000 }
      : { waitMs: ms, until: null }
  return { ...lease, name, place: placeOf(name), events, ...time, ...versionedKindOf(world, lease) }
}
type NamedWait = Omit<StepWait, 'token'> & { readonly claim: number }

export async function sendWaits(world: World, waits: readonly NamedWait[]): Promise<boolean[]> {
  const items = onceEach(waits)
  if (items.length === 0) return []
  const replies = await ask(
    world,
    `wait ${JSON.stringify(items)}`,
    (system) =>
      system.store.steps.wait(
        items.map(({ claim, ...item }) => ({ ...item, token: tokenOf(system, { ...item, claim }) })),
      ),
    (waited) => waited,
  )
  for (const [n, { id, claim, name, forChildren = false }] of items.entries()) {
    const reply = replies[n]
    if (reply?.accepted !== true) continue
    const notes = notesOf(world.durable, id)
    noteWait(notes, claim, name, !reply.isDone)
    // The step of children stays open until it is recorded.
    if (!reply.isDone || forChildren) continue
    noteResult(notes, name, reply.result)
    if (reply.result !== null) noteReceived(notes, name, reply.result)
  }
  touch(
    world,
    items.map(({ id }) => id),
  )
  return replies.map(({ isDone }) => isDone)
}

export function waitsOf(world: World, lease: LeaseName, waits: readonly AWait[]): NamedWait[] {
  return waits.map((one) => namedWait(world, lease, one))
}

export const aFan = fc.record({
  name: fc.constantFrom(...FANS),
  children: fc.array(fc.tuple(plainShape, fc.constantFrom(undefined, undefined, 500)), {
    minLength: 1,
    maxLength: 3,
  }),
})
export type AFan = typeof aFan extends fc.Arbitrary<infer T> ? T : never

export function nameStart(world: World, lease: LeaseName, { name, children }: AFan): NamedStart {
  const shapes = children.map(([shape, delay]): JobShape => ({
    ...shape,
    ...(delay !== undefined && { delay }),
  }))
  const jobs = makeDurableJobs(world, shapes)
  return { ...lease, name, place: placeOf(name), jobs, ...versionedKindOf(world, lease) }
}

export async function sendStart(world: World, start: NamedStart): Promise<void> {
  const { durable, systems } = world
  const { claim, ...step } = start
  const { id, name } = step
  durable.sentStarts.push(start)
  await ask(
    world,
    `start ${JSON.stringify(start)}`,
    (system) => system.store.steps.start([{ ...step, token: tokenOf(system, { id, claim }) }]),
    (accepted) => accepted,
  )
  const children = (await systems[0]?.store.steps.children(id, { step: name })) ?? []
  for (const child of children) durable.parents.set(child.id, id)
  touch(world, [id])
}

/** Waits for the children of a step. When all have ended, records the step if `records`. */
export async function waitForChildren(
  world: World,
  lease: LeaseName,
  { name, records }: { readonly name: string; readonly records: boolean },
): Promise<void> {
  const known = await world.systems[0]?.store.steps.children(lease.id, { step: name })
  // Handlers start the step before they wait for it.
  if (known === undefined || known.length === 0) return
  const wait = {
    ...lease,
    ...versionedKindOf(world, lease),
    name,
    place: placeOf(name),
    events: [],
    waitMs: null,
    until: null,
    forChildren: true,
  }
  const [isOver] = await sendWaits(world, [wait])
  const write = {
    ...versionedKindOf(world, lease),
    isDone: true,
    result: JSON.stringify(known.length),
    checkpoint: null,
    ranMs: 0,
  } as const
  if (isOver === true && records)
    await sendWrites(world, [{ ...lease, name, place: placeOf(name), kind: 'child', ...write }])
}

export const writeSteps: readonly Weighted[] = [
  stepOf(8, 'record', writes, (world, wanted) => sendWrites(world, nameWrites(world, wanted))),
  // The reply was lost. By now the attempt may be over, and another one may have recorded the step.
  stepOf(2, 'record again', anyOne, async (world, by) => {
    await sendWrites(world, pick(world.durable.sentWrites, by) ?? [])
  }),
  stepOf(
    6,
    'wait',
    fc.record({ lease: anyOne, other: anyOne, waits: fc.array(aWait, { minLength: 1, maxLength: 3 }) }),
    async (world, { lease: by, other, waits: [first, ...rest] }) => {
      const [lease, second] = [leaseOf(world, by), leaseOf(world, other)]
      if (lease === undefined || first === undefined) return
      const mine = waitsOf(world, lease, rest)
      const items = [...mine, ...(second === undefined ? [] : waitsOf(world, second, [first]))]
      await sendWaits(world, items)
    },
  ),
  stepOf(5, 'start children', fc.record({ lease: anyOne, fan: aFan }), async (world, { lease: by, fan }) => {
    const lease = leaseOf(world, by)
    if (lease !== undefined) await sendStart(world, nameStart(world, lease, fan))
  }),
  stepOf(1, 'start children again', anyOne, async (world, by) => {
    const start = pick(world.durable.sentStarts, by)
    if (start !== undefined) await sendStart(world, start)
  }),
  stepOf(
    4,
    'wait for children',
    fc.record({ lease: anyOne, name: fc.constantFrom(...FANS), records: fc.boolean() }),
    async (world, { lease: by, ...wanted }) => {
      const lease = leaseOf(world, by)
      if (lease !== undefined) await waitForChildren(world, lease, wanted)
    },
  ),
]
