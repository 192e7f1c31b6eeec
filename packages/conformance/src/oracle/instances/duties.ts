/** Leadership: an instance takes vacant duties, renews its own, and loses them when it ends. */
import type { DutyRecord, HeartbeatRequest } from 'jobmill/store'
import type { OracleState } from '../state.ts'

/**
 * For a running instance. `isWritten`: whether this heartbeat wrote the row of the instance. Returns the
 * duties it leads now.
 */
export function leadDuties(
  state: OracleState,
  { instance, leaseMs, duties }: HeartbeatRequest,
  isWritten: boolean,
): string[] {
  for (const { name, succeededAgoMs, failures } of duties) {
    const { leader, lastSuccessAt } = readDuty(state, name)
    if (leader !== null && (leader !== instance || !isWritten)) continue
    state.duties.set(name, {
      name,
      leader: instance,
      expiresAt: state.now + leaseMs,
      // A leader without a success keeps the previous value.
      lastSuccessAt: succeededAgoMs === null ? lastSuccessAt : state.now - succeededAgoMs,
      failures,
    })
  }
  const names = new Set(duties.map(({ name }) => name))
  return [...names].filter((name) => readDuty(state, name).leader === instance).toSorted()
}

/** From the last millisecond of its lease on, a duty has no leader. */
function readDuty(state: OracleState, name: string): DutyRecord {
  const duty = state.duties.get(name)
  if (duty === undefined) return { name, leader: null, expiresAt: null, lastSuccessAt: null, failures: 0 }
  const isLed = duty.expiresAt !== null && duty.expiresAt > state.now
  return isLed ? { ...duty } : { ...duty, leader: null, expiresAt: null }
}

export function releaseDuties(state: OracleState, instance: string): void {
  for (const duty of state.duties.values())
    if (duty.leader === instance) Object.assign(duty, { leader: null, expiresAt: null })
}

export function readDuties(state: OracleState): DutyRecord[] {
  return [...state.duties.keys()].toSorted().map((name) => readDuty(state, name))
}
