// Instances start, renew, stop and die.
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { kindsOfVersion } from '../../../src/job/kind/kind-name.ts'
import type { DutyBid } from '../../../src/store/types/duty.ts'
import type { NewInstance } from '../../../src/store/types/instance.ts'
import { endCancelledParents } from '../durable/cancelled-parents.ts'
import { settle } from '../durable/settle.ts'
import { plainHeartbeat } from '../plain.ts'
import type { System } from '../systems.ts'
import type { World, Worker } from '../world.ts'
import { ask, busyWorker, mintId, workerOf } from '../world.ts'
import { reap, stage } from './duties.ts'
import {
  DUTIES,
  FOLLOWED,
  FOLLOWING,
  KINDS,
  LEASE_MS,
  QUEUES,
  RENEW_EVERY_MS,
  type Weighted,
  anyOne,
  stepOf,
} from './names.ts'
import { sendNotes } from './notes.ts'

export async function register(world: World, worker: Worker): Promise<void> {
  if (!world.instances.includes(worker.instance)) world.instances.push(worker.instance)
  const { instance: id } = worker
  const known = { label: null, version: '1', capacity: 3, leaseMs: LEASE_MS, ...servingOf(world, id) }
  await ask(
    world,
    'register',
    ({ store }) => store.instances.register({ id, ...known }),
    () => 'done',
  )
}

/**
 * They differ, so that some deaths have follow-ups and some kinds have no worker. What they claim is
 * independent.
 */
function servingOf({ instances }: World, id: string): Pick<NewInstance, 'queues' | 'kinds' | 'onDead'> {
  const nth = instances.indexOf(id)
  const queues = nth % 2 === 0 ? QUEUES : QUEUES.slice(0, 1)
  if (nth % 3 === 0) return { queues, kinds: FOLLOWED, onDead: FOLLOWED }
  const onDead = FOLLOWED.slice(0, 1)
  return nth % 3 === 1
    ? { queues, kinds: [...onDead.flatMap((kind) => kindsOfVersion(kind, 1)), ...FOLLOWING], onDead }
    : { queues, kinds: KINDS.slice(1), onDead: [] }
}

/** A worker that has just started has no leases. */
export function newWorker(world: World): Worker {
  return { instance: mintId(world), hand: [], onTheWay: [] }
}

async function stateOf(world: World, id: string): Promise<string | undefined> {
  const instances = await world.systems[0]?.store.instances.list()
  return instances?.find((one) => one.id === id)?.state
}

/** A heartbeat with all its content. */
export async function renew(world: World, worker: Worker): Promise<void> {
  const { instance } = worker
  const request = {
    instance,
    leaseMs: LEASE_MS,
    renewEveryMs: RENEW_EVERY_MS,
    queues: QUEUES,
    kinds: KINDS.flatMap((kind) => kindsOfVersion(kind, 2)),
    duties: bidsOf(world, worker),
  }
  const stageTimes = async (): Promise<(number | null)[]> => {
    const stageInMs: (number | null)[] = []
    const { alive } = await ask(
      world,
      'renew',
      ({ store }) => store.instances.renew(request),
      (heartbeat, system) => {
        noteVersion(system, heartbeat.settingsVersion)
        stageInMs[world.systems.indexOf(system)] = heartbeat.stageInMs
        return { alive: heartbeat.alive, ...plainHeartbeat(system, heartbeat) }
      },
    )
    // It was declared dead and returns. It still holds its leases, and will try to finish them.
    if (!alive) await register(world, worker)
    return stageInMs
  }
  const [expected, ...others] = await stageTimes()
  if (others.every((ms) => ms === expected)) return
  // A moved order queue may request one stage too many, but only one.
  assert.ok(
    others.every((ms) => ms === expected || ms === 0),
    `stage in ${others.join(' or ')} ms, and not in ${expected}`,
  )
  await stage(world, 100)
  const [after, ...then] = await stageTimes()
  assert.ok(
    then.every((ms) => ms === after),
    `stage in ${then.join(' or ')} ms after a stage in vain, and not in ${after}`,
  )
}

/** They differ, and change over time. */
function bidsOf({ clock, workers }: World, worker: Worker): DutyBid[] {
  const tens = clock.now() / 10
  const names = workers.indexOf(worker) === 2 ? DUTIES.slice(1) : DUTIES
  return names.map((name, n) => ({
    name,
    succeededAgoMs: (tens + n) % 4 === 0 ? null : (tens % 7) * 10,
    failures: tens % 3,
  }))
}

/** The version is internal to a store; that it changes with the settings is not. */
function noteVersion({ name, settings }: System, version: number): void {
  if (settings.changed && settings.version !== null) {
    assert.notEqual(version, settings.version, `${name} does not tell that settings changed`)
  }
  settings.version = version
  settings.changed = false
}

const dying = fc.record({ worker: anyOne, crashesUntilDead: fc.constantFrom(1, 1, 3) })

export const instanceSteps: readonly Weighted[] = [
  // It logs to the end; the others keep renewing, and one of them detects the death.
  stepOf(3, 'a worker dies', dying, async (world, { worker: by, crashesUntilDead }) => {
    const dead = busyWorker(world, by)
    for (const held of dead.hand) await sendNotes(world, held, ['log'])
    for (let passed = 0; passed < 12_000; passed += 4_000) {
      world.clock.advance(4_000)
      for (const worker of world.workers) if (worker !== dead) await renew(world, worker)
    }
    await reap(world, crashesUntilDead)
    await renew(world, dead)
  }),
  stepOf(1, 'renew', anyOne, (world, by) => renew(world, workerOf(world, by))),
  stepOf(2, 'renew all', fc.constant(null), async (world) => {
    for (const worker of world.workers) await renew(world, worker)
  }),
  stepOf(1, 'a worker stops', anyOne, async (world, by) => {
    const worker = workerOf(world, by)
    // The contract leaves open what happens to a lost instance that deregisters.
    if ((await stateOf(world, worker.instance)) === 'lost') return
    await endCancelledParents(world)
    await ask(
      world,
      'deregister',
      ({ store }) => store.instances.deregister(worker.instance),
      (count) => count,
    )
    await settle(world)
  }),
  stepOf(
    1,
    'a worker starts',
    fc.record({ worker: anyOne, same: fc.boolean() }),
    async (world, { worker: by, same }) => {
      const worker = workerOf(world, by)
      // With the same id it is a process that lost contact and returns; with a new one, a new process.
      if (!same) Object.assign(worker, newWorker(world))
      await register(world, worker)
    },
  ),
]
