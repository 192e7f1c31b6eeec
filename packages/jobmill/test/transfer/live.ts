// Continues work in a database: which jobs are claimed, in which order, with which outcome, until no job can
// run.
import type { Lease } from '../../src/store/types/claim.ts'
import { aClaim, aFinish, anInstance, DEAD, DONE, later } from '../../../conformance/src/factories.ts'
import type { Place } from './places.ts'
import { HOUR, KINDS } from './words.ts'

const ROUNDS = 40

/** Every lease in order, without its token. */
export async function liveOn({ store, clock }: Place): Promise<object[]> {
  const instance = anInstance({ leaseMs: 1_000 * HOUR })
  await store.instances.register(instance)
  const queues = (await store.queues.list()).map(({ name }) => ({ queue: name, room: 3 }))
  const all: object[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    await store.stage(100)
    const quarantine = round % 5 === 4 ? 'only' : 'skip'
    const leases = await store.claim(
      aClaim(instance.id, { queues, kinds: KINDS, limit: 5, quarantined: quarantine }),
    )
    all.push(...leases.map(({ token: _, ...lease }) => ({ round, ...lease })))
    await store.finish(leases.map((lease) => aFinish(lease, endOf(lease))))
    clock.advance(round < 30 ? 5_000 : HOUR)
  }
  await store.instances.deregister(instance.id)
  return all
}

function endOf({ attempt, maxAttempts, priority }: Lease): Parameters<typeof aFinish>[1] {
  if (attempt >= Math.min(3, maxAttempts)) return DEAD
  return priority > 2 ? later(7_000) : DONE
}
