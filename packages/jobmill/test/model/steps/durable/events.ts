// Events are sent before, while and after a job waits for them, some of them twice.
import * as fc from 'fast-check'
import type { SentEvent } from '../../../../src/store/types/step.ts'
import { notesOf, noteStored } from '../../durable/notes.ts'
import { stageAll } from '../../durable/settle.ts'
import { ask, pick, type World } from '../../world.ts'
import { anyOne, DEDUPE_KEYS, stepOf, type Weighted } from '../names.ts'
import { jobOf, leaseOf, touch } from './leases.ts'
import { EVENT_WAITS, EVENTS, placeOf } from './names.ts'
import { sendWaits } from './writes.ts'

const aTarget = fc.oneof(
  { weight: 5, arbitrary: anyOne.map((by) => ({ by })) },
  { weight: 1, arbitrary: fc.constantFrom(...DEDUPE_KEYS).map((key) => ({ key })) },
)
const sending = fc.array(fc.record({ to: aTarget, name: fc.constantFrom(...EVENTS) }), {
  minLength: 1,
  maxLength: 3,
})

/** Ids in the order of sending, as mills create them: they decide between events of one instant. */
function eventId({ durable }: World): string {
  durable.events += 1
  return `00000000-0000-7000-9000-${durable.events.toString().padStart(12, '0')}`
}

async function sendEvents(world: World, events: readonly SentEvent[]): Promise<void> {
  world.durable.sentEvents.push(events)
  const replies = await ask(
    world,
    `send ${JSON.stringify(events)}`,
    ({ store }) => store.steps.send(events),
    (sent) =>
      sent.map(({ id, state, isStored }) => ({
        id,
        // An event wakes its job at once, or with the next stage.
        state: state === 'scheduled' || state === 'ready' ? 'waiting' : state,
        isStored,
      })),
  )
  for (const [n, event] of events.entries()) {
    const { id = null, isStored = false } = replies[n] ?? {}
    // Dedupe keys lead to any job. Only those with steps wait for events.
    if (id === null || !world.durable.jobs.has(id)) continue
    if (isStored) noteStored(notesOf(world.durable, id), event)
    touch(world, [id])
  }
  await stageAll(world)
}

export const eventSteps: readonly Weighted[] = [
  stepOf(9, 'send events', sending, async (world, wanted) => {
    const events = wanted.map(({ to, name }): SentEvent => {
      const target = 'key' in to ? { dedupeKey: `global ${to.key}` } : jobOf(world, to.by)
      return { eventId: eventId(world), to: target, name, payload: `{"n":${world.durable.events}}` }
    })
    await sendEvents(world, events)
  }),
  // The reply was lost. The event may have been received by now, and its job may have ended.
  stepOf(2, 'send events again', anyOne, async (world, by) => {
    const events = pick(world.durable.sentEvents, by)
    if (events !== undefined) await sendEvents(world, events)
  }),
  // Shows which events are left.
  stepOf(2, 'wait for every event', anyOne, async (world, by) => {
    const lease = leaseOf(world, by)
    if (lease === undefined) return
    const any = { events: EVENTS, waitMs: null, until: null }
    await sendWaits(
      world,
      EVENT_WAITS.map((name) => ({ ...lease, ...any, name, place: placeOf(name) })),
    )
  }),
]
