/** Reverts the crash counts of an instance that was reaped although its process is alive. */
import { KEY_TAKEN, NO_CRASH, STOOD_STILL } from 'jobmill/store'
import { retry } from '../jobs/operate.ts'
import type { OracleJob, OracleState, Run } from '../state.ts'

export function noteLost(state: OracleState, id: string, { instance, token }: Run): void {
  state.lostJobs.set(instance, [...(state.lostJobs.get(instance) ?? []), { id, token }])
}

export function takeCrashesBack(state: OracleState, now: number, instance: string, stoodStill = false): void {
  const lost = state.lostJobs.get(instance) ?? []
  state.lostJobs.delete(instance)
  for (const { id, token } of lost.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const job = state.jobs.get(id)
    if (job === undefined) continue
    if (stoodStill) {
      changeError(job, token, (error) => `${error ?? ''}${STOOD_STILL}`)
      continue
    }
    const last = job.attempts.at(-1)
    const diedOfCrash = job.state === 'dead' && last?.outcome === 'interrupted' && last.wentTo === null
    job.crashes = Math.max(0, job.crashes - 1)
    changeError(job, token, () => NO_CRASH)
    if (!diedOfCrash || retry(state, now, [id])[0]?.verdict !== 'refused') continue
    changeError(job, last.token, (error) => `${(error ?? '').replace(KEY_TAKEN, '')}${KEY_TAKEN}`)
  }
}

function changeError(job: OracleJob, token: number, error: (before: string | null) => string): void {
  job.attempts = job.attempts.map((one) => (one.token === token ? { ...one, error: error(one.error) } : one))
}
