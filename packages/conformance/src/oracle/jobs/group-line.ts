/** Which jobs wait for their group. */
import type { OracleJob, OracleState } from '../state.ts'

export function isInGroup(state: OracleState, job: OracleJob): boolean {
  return state.groupQueue.includes(job.id)
}

export function leaveGroup(state: OracleState, job: OracleJob): void {
  state.groupQueue = state.groupQueue.filter((id) => id !== job.id)
  state.passed.delete(job.id)
}
