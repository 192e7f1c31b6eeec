/** Leadership: vacant duties are taken, one's own are renewed, and those of an instance that ended are let go. */
import type { DutyBid, DutyRecord } from '../../store/duty.ts'
import type { HeartbeatRequest } from '../../store/instance.ts'
import type { OracleState } from './state.ts'

/** For a living instance. `isWritten`: whether this heartbeat wrote the row of the instance. Returns what it leads now. */
export function leadDuties(
  state: OracleState,
  now: number,
  { instance, leaseMs, duties }: HeartbeatRequest,
  isWritten: boolean,
): string[] {
  for (const bid of duties) {
    const { leader } = readDuty(state, now, bid.name)
    if (leader === null || (leader === instance && isWritten)) lead(state, now, bid, { instance, leaseMs })
  }
  const names = new Set(duties.map(({ name }) => name))
  return [...names].filter((name) => readDuty(state, now, name).leader === instance).toSorted()
}

function lead(
  state: OracleState,
  now: number,
  { name, succeededAgoMs, failures }: DutyBid,
  { instance, leaseMs }: { readonly instance: string; readonly leaseMs: number },
): void {
  state.duties.set(name, {
    name,
    leader: instance,
    expiresAt: now + leaseMs,
    // Who never had a success knows nothing better than what was known before.
    lastSuccessAt:
      succeededAgoMs === null ? (state.duties.get(name)?.lastSuccessAt ?? null) : now - succeededAgoMs,
    failures,
  })
}

/** As others see it: from the last millisecond of its lease on, nobody leads it. */
function readDuty(state: OracleState, now: number, name: string): DutyRecord {
  const duty = state.duties.get(name)
  if (duty === undefined) return { name, leader: null, expiresAt: null, lastSuccessAt: null, failures: 0 }
  const isLed = duty.expiresAt !== null && duty.expiresAt > now
  return isLed ? { ...duty } : { ...duty, leader: null, expiresAt: null }
}

export function letGo(state: OracleState, instance: string): void {
  for (const duty of state.duties.values())
    if (duty.leader === instance) Object.assign(duty, { leader: null, expiresAt: null })
}

export function readDuties(state: OracleState, now: number): DutyRecord[] {
  return [...state.duties.keys()].toSorted().map((name) => readDuty(state, now, name))
}
