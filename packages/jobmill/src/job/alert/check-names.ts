/**
 * The names of the checks of `mill.diagnostics()`, and what their findings are about. Alert rules name
 * checks, so a new check has to be added here: its type requires it.
 */

/** What a finding is about, so that the dashboard can link to it. */
export type Subject = 'queue' | 'kind' | 'duty' | 'instance' | 'limit' | 'schedule' | 'database'

const SUBJECTS = {
  failing: ['kind'],
  instances: ['instance'],
  served: ['kind'],
  duties: ['duty'],
  paused: ['queue'],
  settings: ['queue', 'limit', 'schedule'],
  dead: ['queue'],
  steps: ['kind'],
  workers: ['queue'],
  cooling: ['queue'],
  waiting: ['queue'],
  drained: ['limit'],
  schedules: ['schedule'],
  notifier: ['duty'],
  schema: ['database'],
  horizon: ['database'],
  replica: ['database'],
  database: ['database'],
} as const satisfies Readonly<Record<string, readonly Subject[]>>

export type CheckName = keyof typeof SUBJECTS

export const CHECK_NAMES = Object.keys(SUBJECTS) as readonly CheckName[]

/** Whether this check can find something about a queue, or about a kind. */
export function isAbout(check: CheckName, subject: Subject): boolean {
  return (SUBJECTS[check] as readonly Subject[]).includes(subject)
}
