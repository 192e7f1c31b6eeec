/**
 * Operations that often have nothing to do first read without the write lock. They go to the writer only if
 * there is something to write, and check again under the lock. So idle processes do not compete for the file.
 */
import type { ClaimRequest, Lease } from '../../store/types/claim.ts'
import type { SlotChange } from '../../store/types/duty.ts'
import type { Heartbeat, HeartbeatRequest } from '../../store/types/instance.ts'
import {
  NOTHING_RETAINED,
  type Reaped,
  type Retained,
  type RetainRequest,
  type Staged,
} from '../../store/types/replies.ts'
import { claim, mayClaim } from '../claim/claim.ts'
import { notificationsOf } from '../notifier.ts'
import type { Live } from '../live.ts'
import { mayReap, reap, type ReapOptions } from '../instances/reap.ts'
import { heartbeat, heartbeatUnlessDue, renew } from '../instances/renew.ts'
import { mayRetain, retain } from '../retain/retain.ts'
import { rollUp, needsRollUp } from '../metrics/roll-up.ts'
import { assign, differing } from '../instances/slots.ts'
import { stage, stageInMs } from '../claim/stage.ts'
import { releaseStray } from '../retain/stray-keys.ts'
import type { Look } from '../work.ts'

/** An estimate: how many jobs a lost instance leaves behind. */
const REAP_WEIGHT = 100

/**
 * From this claim size on, a read before the next claim costs more than one unnecessary lock at the end of
 * the queue.
 */
const MANY = 100

/** Whether there may be something to write. A read does not see queued writes, so then the answer is yes. */
async function mayHaveWork({ writer, read }: Live, look: (at: Look) => boolean): Promise<boolean> {
  return !writer.idle || read(look)
}

export async function stageIfDue(live: Live, limit: number): Promise<Staged> {
  if (!(await mayHaveWork(live, (look) => stageInMs(look) === 0)))
    return { ready: 0, more: false, queues: [] }
  return live.writer.write(limit, (work) => stage(work, limit))
}

export async function claimIfReady(live: Live, request: ClaimRequest): Promise<Lease[]> {
  const queues = request.queues.map(({ queue }) => queue)
  if (live.writer.idle && !live.mayHaveMore) {
    const empty = await live.read((look) =>
      mayClaim(look, request) ? undefined : notificationsOf(look, queues),
    )
    if (empty !== undefined) {
      live.notifier.markSeen(empty)
      return []
    }
  }
  const { leases, notifications } = await live.writer.write(request.limit, (work) => {
    const leases = claim(work, request)
    // Fewer than requested: the queues are empty for this instance, so notifications up to now are handled.
    return { leases, notifications: leases.length < request.limit ? notificationsOf(work, queues) : [] }
  })
  live.mayHaveMore = leases.length >= MANY && leases.length === request.limit
  live.notifier.markSeen(notifications)
  return leases
}

export async function renewIfDue(live: Live, request: HeartbeatRequest): Promise<Heartbeat> {
  live.log.look()
  const current = await live.read((look) => heartbeatUnlessDue(look, request))
  if (current !== undefined) return current
  await live.writer.write(1, (work) => renew(work, request))
  return live.read((look) => heartbeat(look, request))
}

export async function reapIfExpired(live: Live, options: ReapOptions): Promise<Reaped> {
  if (!(await mayHaveWork(live, mayReap))) return { instances: [], jobs: [] }
  return live.writer.write(REAP_WEIGHT, (work) => reap(work, options))
}

export async function retainIfOld(live: Live, request: RetainRequest): Promise<Retained> {
  // Once per pass over all queues.
  if ((request.queues?.length ?? 0) === 0) await releaseStray(live)
  if (!(await mayHaveWork(live, (look) => mayRetain(look, request)))) return NOTHING_RETAINED
  return live.writer.write(request.limit, (work) => retain(work, request))
}

export async function rollUpIfOpen(live: Live, limit: number): Promise<number> {
  return (await mayHaveWork(live, needsRollUp)) ? live.writer.write(limit, (work) => rollUp(work, limit)) : 0
}

export async function assignIfDiffers(live: Live, slots: readonly SlotChange[]): Promise<number> {
  if (!(await mayHaveWork(live, (look) => differing(look, slots).length > 0))) return 0
  return live.writer.write(slots.length, (work) => assign(work, slots))
}
