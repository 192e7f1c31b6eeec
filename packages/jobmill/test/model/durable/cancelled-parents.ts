// Ends the attempts of cancelled parents whose children run, before their instances are declared dead.
import type { JobRecord } from '../../../src/store/types/job-record.ts'
import { sendFinishes } from '../steps/finish.ts'
import { claimOf } from '../systems.ts'
import type { World } from '../world.ts'

/**
 * The contract leaves open in which order a call takes back a cancelled parent and its child: only the
 * second of them would be a child that was asked to stop.
 */
export async function endCancelledParents(world: World): Promise<void> {
  const [oracle] = world.systems
  if (oracle === undefined) return
  // The end of a parent cancels its children, which may be parents too.
  for (;;) {
    const jobs = await oracle.store.get([...world.durable.jobs.keys()])
    const running = jobs.filter((job) => job?.state === 'running')
    const parents = await oracle.store.steps.parents(running.map((job) => job?.id ?? ''))
    const parent = running.find(
      (job) => job?.cancelReason !== null && parents.some((one) => one !== null && one.id === job?.id),
    )
    if (parent === undefined || parent === null) return
    const claim = await claimOfJob(oracle, parent)
    await sendFinishes(world, [
      { id: parent.id, claim, transition: { to: 'cancelled' }, outcome: 'cancelled' },
    ])
  }
}

async function claimOfJob(oracle: World['systems'][number], { id, instance }: JobRecord): Promise<number> {
  const held = await oracle.store.instances.held(instance ?? '')
  return claimOf(oracle, held.find((one) => one.id === id)?.token ?? 0)
}
