// The actions of an operator on jobs and queues.
import * as fc from 'fast-check'
import { entryOf } from '../../../src/job/payload/indexed.ts'
import type { QueuePatch } from '../../../src/job/queue/queue-settings.ts'
import type { Verdict } from '../../../src/store/types/replies.ts'
import type { FullStore } from '../../../src/store/store.ts'
import { areRelated } from '../durable/notes.ts'
import { settle } from '../durable/settle.ts'
import type { World } from '../world.ts'
import { ask, orCode, pick } from '../world.ts'
import { LIMITS, NOBODY, QUEUES, RETAIN_MS, type Weighted, anyOne, stepOf } from './names.ts'

const UNKNOWN = '00000000-0000-7000-8000-999999999999'

/** Some jobs, maybe one of them twice, maybe a missing one. */
const choice = fc.array(anyOne, { minLength: 1, maxLength: 3 })

function operate(
  weight: number,
  name: string,
  act: (store: FullStore, ids: string[]) => Promise<Verdict[]>,
): Weighted {
  return stepOf(weight, name, choice, async (world, chosen) => {
    const ids = chosen.map((by) => (by === 0 ? undefined : pick(world.ids, by)) ?? UNKNOWN)
    await operateOn(world, name, ids, act)
  })
}

/** One call, or one for each job if they are parents and children. */
export async function operateOn(
  world: World,
  name: string,
  ids: string[],
  act: (store: FullStore, ids: string[]) => Promise<Verdict[]>,
): Promise<void> {
  for (const some of areRelated(world.durable, ids) ? ids.map((id) => [id]) : [ids]) {
    await ask(
      world,
      name,
      ({ store }) => act(store, some),
      (verdicts) => verdicts.map(({ id, verdict, state, holder }) => ({ id, verdict, state, holder })),
    )
    await settle(world)
  }
}

/** Every third job has a payload that was made from an outdated read. */
async function retryPatched(store: FullStore, given: string[]): Promise<Verdict[]> {
  const ids = [...new Set(given)]
  const jobs = await store.get(ids)
  const payloads = jobs.map((job, n) => ({
    payload: JSON.stringify({ patched: n }),
    entries: [entryOf('patched', String(n))],
    endedAt: (job?.endedAt ?? 0) + (n % 3 === 2 ? 1 : 0),
  }))
  return store.retry(ids, payloads)
}

const settings = fc.record(
  {
    paused: fc.constantFrom(false, false, false, true),
    workers: fc.constantFrom(null, 0, 3),
    backoffEnabled: fc.boolean(),
    retainDoneMs: fc.constantFrom(null, RETAIN_MS),
    retainDeadMs: fc.constantFrom(null, RETAIN_MS),
    retainCancelledMs: fc.constantFrom(0, RETAIN_MS),
    keepDone: fc.constantFrom(null, 0, 2),
    keepDead: fc.constantFrom(null, 1),
    keepCancelled: fc.constantFrom(null, 1, 3),
  },
  { requiredKeys: [] },
)

async function changeQueue(world: World, name: string, patch: QueuePatch): Promise<void> {
  const before = await world.systems[0]?.store.queues.list()
  const after = await ask(
    world,
    'change queue',
    ({ store }) => orCode(() => store.queues.change(name, patch)),
    (record) => record,
  )
  if ('refused' in after) return
  const known = before?.find((queue) => queue.name === name)
  const isChange = Object.keys(patch.settings).some(
    (key) => Reflect.get(known ?? {}, key) !== Reflect.get(after, key),
  )
  if (isChange) for (const system of world.systems) system.settings.changed = true
}

export const operateSteps: readonly Weighted[] = [
  operate(3, 'cancel', (store, ids) => store.cancel(ids, 'not needed')),
  operate(2, 'retry', (store, ids) => store.retry(ids)),
  operate(2, 'retry with a payload', retryPatched),
  operate(1, 'run now', (store, ids) => store.runNow(ids)),
  operate(1, 'delete', (store, ids) => store.delete(ids)),
  stepOf(
    1,
    'change queue',
    fc.record({ queue: fc.constantFrom(...QUEUES), settings, coolMs: fc.constantFrom(null, null, 0, 1_000) }),
    (world, { queue, ...patch }) => changeQueue(world, queue, patch),
  ),
  stepOf(
    2,
    'limit a queue',
    fc.record({
      queue: fc.constantFrom(...QUEUES),
      limit: fc.constantFrom(...LIMITS, ...LIMITS, null, NOBODY),
    }),
    (world, { queue, limit }) => changeQueue(world, queue, { settings: { limit, paused: false }, coolMs: 0 }),
  ),
  // So that a run does not stay paused for the rest of its steps.
  stepOf(2, 'resume', fc.constantFrom(...QUEUES), (world, queue) =>
    changeQueue(world, queue, { settings: { paused: false }, coolMs: 0 }),
  ),
]
