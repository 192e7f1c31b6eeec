/** What can be done to jobs, of which states, and by whom. */
import { Ban, FastForward, type LucideIcon, RotateCcw, Trash2 } from 'lucide-react'
import type { Role } from '../../api/roles.ts'
import type { BulkAct, State } from '../../api/types/job.ts'

export interface ActInfo {
  readonly act: BulkAct
  readonly name: string
  readonly icon: LucideIcon
  readonly role: Role
  /** On others it does nothing. */
  readonly states: readonly State[]
  readonly isDangerous: boolean
  /** What becomes of the jobs. */
  readonly means: string
}

export const ACTS: readonly ActInfo[] = [
  {
    act: 'retry',
    name: 'Retry',
    icon: RotateCcw,
    role: 'operator',
    states: ['dead', 'cancelled'],
    isDangerous: false,
    means: 'They begin again with all their attempts.',
  },
  {
    act: 'run-now',
    name: 'Run now',
    icon: FastForward,
    role: 'operator',
    states: ['scheduled'],
    isDangerous: false,
    means: 'They are ready at once instead of when they are due.',
  },
  {
    act: 'cancel',
    name: 'Cancel',
    icon: Ban,
    role: 'operator',
    states: ['scheduled', 'ready', 'running'],
    isDangerous: true,
    means: 'Those that wait are cancelled; those that run are asked to stop.',
  },
  {
    act: 'delete',
    name: 'Delete',
    icon: Trash2,
    role: 'admin',
    states: ['done', 'dead', 'cancelled', 'scheduled', 'ready'],
    isDangerous: true,
    means: 'They are gone, with their history. This cannot be undone.',
  },
]
