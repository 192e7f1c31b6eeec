/** Which instances are alive by the database clock, and which jobs they run. */
import type { InstanceRecord } from 'jobmill/store'
import type { OracleInstance, OracleJob, OracleState, Run } from '../state.ts'

export function instanceState(state: OracleState, instance: OracleInstance): InstanceRecord['state'] {
  return instance.ended ?? (instance.expiresAt <= state.now ? 'expired' : 'alive')
}

export function isAlive(state: OracleState, id: string): boolean {
  const instance = state.instances.get(id)
  return instance !== undefined && instanceState(state, instance) === 'alive'
}

/** Whether the instance may get leases. */
export function isClaiming(state: OracleState, id: string): boolean {
  return isAlive(state, id) && state.instances.get(id)?.requested === null
}

export function instanceRecord(state: OracleState, instance: OracleInstance): InstanceRecord {
  const { ended: _, ...known } = instance
  return { ...known, state: instanceState(state, instance) }
}

export function runningUnder(state: OracleState, id: string): { job: OracleJob; run: Run }[] {
  return [...state.jobs.values()].flatMap((job) => (job.run?.instance === id ? [{ job, run: job.run }] : []))
}
