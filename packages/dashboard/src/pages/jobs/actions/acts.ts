/** The actions on jobs: their states, roles and effects. */
import { Ban, type LucideIcon, RotateCcw, Trash2, Zap } from 'lucide-react'
import type { Role } from '../../../api/user/roles.ts'
import type { BulkAct, JobSummary, State } from '../../../api/types.ts'

export interface ActInfo {
  readonly act: BulkAct
  readonly name: string
  readonly icon: LucideIcon
  readonly role: Role
  /** Jobs in other states are not changed. */
  readonly states: readonly State[]
  readonly isDangerous: boolean
  /** The effect on the jobs, shown in the confirmation. */
  readonly means: string
}

/** "Retry 3 jobs", "Run 3 jobs now". */
export function actPhrase(name: string, jobs: string): string {
  return name === 'Run now' ? `Run ${jobs} now` : `${name} ${jobs}`
}

/**
 * Whether an action changes a job. One that waits for its order key or its group would not run
 * any earlier.
 */
export function applies(
  { act, states }: Pick<ActInfo, 'act' | 'states'>,
  { state, waitsForOrder, waitsForGroup }: Pick<JobSummary, 'state' | 'waitsForOrder' | 'waitsForGroup'>,
): boolean {
  return states.includes(state) && !(act === 'run-now' && (waitsForOrder || waitsForGroup))
}

export const RUN_NOW: ActInfo = {
  act: 'run-now',
  name: 'Run now',
  icon: Zap,
  role: 'operator',
  states: ['scheduled'],
  isDangerous: false,
  means:
    'Each job becomes ready now instead of when it is due, unless it waits for its order key or its group.',
}

export const ACTS: readonly ActInfo[] = [
  {
    act: 'retry',
    name: 'Retry',
    icon: RotateCcw,
    role: 'operator',
    states: ['dead', 'cancelled'],
    isDangerous: false,
    means: 'Each job restarts with a full set of attempts.',
  },
  RUN_NOW,
  {
    act: 'cancel',
    name: 'Cancel',
    icon: Ban,
    role: 'operator',
    states: ['scheduled', 'ready', 'running'],
    isDangerous: true,
    means: 'Waiting jobs are cancelled. Running jobs are asked to stop.',
  },
  {
    act: 'delete',
    name: 'Delete',
    icon: Trash2,
    role: 'admin',
    states: ['done', 'dead', 'cancelled', 'scheduled', 'ready'],
    isDangerous: true,
    means: 'The jobs and their history are deleted. This cannot be undone.',
  },
]
