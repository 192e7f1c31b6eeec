/** Which instances are alive by the database clock, and which jobs they run. */
import { instanceState, type RunRow } from 'jobmill/store'
import type { OracleJob, OracleState } from '../state.ts'

export function isAlive(state: OracleState, id: string): boolean {
  const instance = state.instances.get(id)
  return instance !== undefined && instanceState(instance, state.now) === 'alive'
}

/** Whether the instance may get leases. */
export function isClaiming(state: OracleState, id: string): boolean {
  return isAlive(state, id) && state.instances.get(id)?.requested === null
}

export function runningUnder(state: OracleState, id: string): { job: OracleJob; run: RunRow }[] {
  return [...state.jobs.values()].flatMap((job) => (job.run?.instance === id ? [{ job, run: job.run }] : []))
}
