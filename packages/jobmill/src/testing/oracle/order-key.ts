/** Order keys: who is in line, and who has the turn. */
import type { OracleJob, OracleState } from './state.ts'

// Queue names have no spaces, so that two pairs never make the same text.
function lineOf(job: OracleJob): string {
  return `${job.queue} ${job.orderKey}`
}

export function isInLine(state: OracleState, job: OracleJob): boolean {
  return state.line.includes(job.id)
}

function hasTurn(state: OracleState, job: OracleJob): boolean {
  return state.turns.get(lineOf(job)) === job.id
}

/** Whether a job that is due must queue before it can be ready. */
export function needsTurn(state: OracleState, job: OracleJob): boolean {
  return job.orderKey !== null && !hasTurn(state, job)
}

export function joinLine(state: OracleState, job: OracleJob): void {
  state.line.push(job.id)
}

/** Behind those in front that came before it. */
export function goFirst(state: OracleState, job: OracleJob): void {
  leaveLine(state, job)
  state.line.splice(state.firsts.size, 0, job.id)
  state.firsts.add(job.id)
}

export function leaveLine(state: OracleState, job: OracleJob): void {
  state.line = state.line.filter((id) => id !== job.id)
  state.firsts.delete(job.id)
}

export function takeTurn(state: OracleState, job: OracleJob): void {
  leaveLine(state, job)
  state.turns.set(lineOf(job), job.id)
}

export function freeTurn(state: OracleState, job: OracleJob): void {
  if (hasTurn(state, job)) state.turns.delete(lineOf(job))
}

/** The first in line of every key that nobody has the turn of; who joined first comes first. */
export function heads(state: OracleState): OracleJob[] {
  const seen = new Set(state.turns.keys())
  return state.line.flatMap((id) => {
    const job = state.jobs.get(id)
    if (job === undefined || seen.has(lineOf(job))) return []
    seen.add(lineOf(job))
    return [job]
  })
}
