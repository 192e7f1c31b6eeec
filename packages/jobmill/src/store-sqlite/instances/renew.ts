/**
 * The heartbeat: renews the lease of an instance, and returns everything that it needs to know while idle.
 * The reply needs no write lock, and is read after the write was committed.
 */
import type { Heartbeat, HeartbeatRequest } from '../../store/types/instance.ts'
import type { Live } from '../live.ts'
import { versions } from '../connection/counter.ts'
import { leadDuties, type Leaders, leadersOf, ledBy, slotsOf } from './duties.ts'
import { ALIVE } from './instances.ts'
import { readyWork } from '../claim/open-queues.ts'
import { mayReap } from './reap.ts'
import { needsRollUp } from '../metrics/metrics.ts'
import { stageInMs } from '../claim/stage.ts'
import { scheduleInMs } from '../schedules/tick.ts'
import type { Look, Work } from '../work.ts'

// Each uses the unique id or the primary key.
const FIND = `
  SELECT pk, state, renewed_at, expires_at, requested, requested_by AS requestedBy FROM jobmill_instance WHERE id = ?`
const EXTEND = `UPDATE jobmill_instance SET renewed_at = ?, expires_at = ? WHERE pk = ?`

// jobmill_job_asked contains only running jobs with a cancel request.
const ASKED = `
  SELECT id, token, cancel_reason AS reason FROM jobmill_job INDEXED BY jobmill_job_asked
  WHERE state = 2 AND cancel_reason IS NOT NULL AND instance_pk = ?`

type InstanceRow = Readonly<Record<'pk' | 'state' | 'renewed_at' | 'expires_at', number>> &
  Pick<Heartbeat, 'requested' | 'requestedBy'>

export async function renewIfDue(live: Live, request: HeartbeatRequest): Promise<Heartbeat> {
  live.log.look()
  const current = await live.read((look) => heartbeatUnlessDue(look, request))
  if (current !== undefined) return current
  await live.writer.write(1, (work) => renew(work, request))
  return live.read((look) => heartbeat(look, request))
}

/** Undefined when something must be written first: the renewal, or the lease of a vacant duty. */
function heartbeatUnlessDue(look: Look, request: HeartbeatRequest): Heartbeat | undefined {
  const row = find(look, request)
  const leaders = leadersOf(look, request.duties)
  const isVacant = mayLead(row) && request.duties.some(({ name }) => !leaders.has(name))
  if (row?.state === ALIVE && (isVacant || isDue(look, row, request))) return undefined
  return replyFor(look, request, row, leaders)
}

function renew(work: Work, request: HeartbeatRequest): void {
  const row = find(work, request)
  if (row?.state !== ALIVE) return
  const due = isDue(work, row, request)
  if (due) work.sql(EXTEND).run(work.now, work.now + request.leaseMs, row.pk)
  if (mayLead(row)) leadDuties(work, row.pk, request, due)
}

/** An instance that was asked to stop leads no duty. */
function mayLead(row: InstanceRow | undefined): boolean {
  return row?.requested !== 'stop'
}

/** Everything except the renewal. */
function heartbeat(look: Look, request: HeartbeatRequest): Heartbeat {
  return replyFor(look, request, find(look, request), leadersOf(look, request.duties))
}

function replyFor(
  look: Look,
  request: HeartbeatRequest,
  row: InstanceRow | undefined,
  leaders: Leaders,
): Heartbeat {
  const alive = row?.state === ALIVE
  return {
    alive,
    cancels: row === undefined ? [] : (look.sql(ASKED).all(row.pk) as Heartbeat['cancels'][number][]),
    ...versions(look.sql),
    leads: alive ? ledBy(leaders, row.pk, request.duties) : [],
    slots: alive ? slotsOf(look, row.pk) : [],
    ...readyWork(look, request.queues, request.kinds),
    stageInMs: stageInMs(look),
    scheduleInMs: scheduleInMs(look),
    expired: mayReap(look),
    unrolled: needsRollUp(look),
    requested: alive ? row.requested : null,
    requestedBy: alive ? row.requestedBy : null,
  }
}

function find({ sql }: Look, request: HeartbeatRequest): InstanceRow | undefined {
  return sql(FIND).get(request.instance) as InstanceRow | undefined
}

/** An expired instance that was not reaped yet is always renewed. */
function isDue({ now }: Look, row: InstanceRow, { renewEveryMs }: HeartbeatRequest): boolean {
  return now - row.renewed_at >= renewEveryMs || row.expires_at <= now
}
