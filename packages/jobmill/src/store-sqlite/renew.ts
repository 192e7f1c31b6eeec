/** The pulse: keeps an instance alive, and tells it all that it needs to know while idle. */
import type { Pulse, PulseRequest } from '../store/instance.ts'
import { hasReady } from './claim.ts'
import { latest } from './counter.ts'
import { ALIVE } from './instances.ts'
import { mayReap } from './reap.ts'
import { stageInMs } from './stage.ts'
import type { Look, Work } from './work.ts'

// Each by the unique id or the primary key.
const FIND = `SELECT pk, state, renewed_at, expires_at FROM jobmill_instance WHERE id = ?`
const EXTEND = `UPDATE jobmill_instance SET renewed_at = ?, expires_at = ? WHERE pk = ?`

// jobmill_job_asked holds nothing but running jobs with a request.
const ASKED = `
  SELECT id, token, cancel_reason AS reason FROM jobmill_job INDEXED BY jobmill_job_asked
  WHERE state = 2 AND cancel_reason IS NOT NULL AND instance_pk = ?`

interface InstanceRow {
  readonly pk: number
  readonly state: number
  readonly renewed_at: number
  readonly expires_at: number
}

/** Whether the row must be written. One that expired and was not reaped yet is always revived. */
export function renewalDue({ sql, now }: Look, request: PulseRequest): boolean {
  const row = sql(FIND).get(request.instance) as InstanceRow | undefined
  if (row === undefined || row.state !== ALIVE) return false
  return now - row.renewed_at >= request.renewEveryMs || row.expires_at <= now
}

export function renew(work: Work, request: PulseRequest): Pulse {
  const row = work.sql(FIND).get(request.instance) as InstanceRow | undefined
  if (row !== undefined && renewalDue(work, request))
    work.sql(EXTEND).run(work.now, work.now + request.leaseMs, row.pk)
  return pulse(work, request)
}

/** Everything but the renewal; needs no write lock. */
export function pulse(look: Look, request: PulseRequest): Pulse {
  const row = look.sql(FIND).get(request.instance) as InstanceRow | undefined
  return {
    alive: row !== undefined && row.state === ALIVE,
    cancels: row === undefined ? [] : (look.sql(ASKED).all(row.pk) as Pulse['cancels'][number][]),
    settingsVersion: latest(look.sql, 'settings'),
    ready: hasReady(look, request.queues, request.kinds, 'ready'),
    suspect: hasReady(look, request.queues, request.kinds, 'suspect'),
    stageInMs: stageInMs(look),
    expired: mayReap(look),
  }
}
