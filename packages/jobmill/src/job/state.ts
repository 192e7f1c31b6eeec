/** The states of a job, and the codes that both stores keep in their rows for them. */

export const JOB_STATES = ['scheduled', 'ready', 'running', 'done', 'dead', 'cancelled'] as const
export type JobState = (typeof JOB_STATES)[number]

/** `retry` moves a dead or cancelled job out of its state. A done job stays done. */
export type EndedState = 'done' | 'dead' | 'cancelled'

/** Stored in rows: never renumber. */
export const STATE_CODE: Readonly<Record<JobState, number>> = Object.freeze({
  scheduled: 0,
  ready: 1,
  running: 2,
  done: 3,
  dead: 4,
  cancelled: 5,
})

export function stateOfCode(code: number): JobState {
  const state = JOB_STATES[code]
  if (state === undefined) throw new RangeError(`no job state has the code ${code}`)
  return state
}

export function isEnded(state: JobState): state is EndedState {
  return state === 'done' || state === 'dead' || state === 'cancelled'
}
