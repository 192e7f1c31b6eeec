/** The pages, in menu order. */
import {
  Activity,
  CalendarClock,
  Database,
  Gauge,
  LayoutList,
  Layers,
  type LucideIcon,
  Server,
  Shapes,
  TriangleAlert,
} from 'lucide-react'

export interface Place {
  readonly path: string
  readonly name: string
  readonly icon: LucideIcon
  /** The key after `g`. */
  readonly letter: string
}

export const PLACES: readonly Place[] = [
  { path: '/', name: 'Overview', icon: Activity, letter: 'o' },
  { path: '/jobs', name: 'Jobs', icon: LayoutList, letter: 'j' },
  { path: '/errors', name: 'Errors', icon: TriangleAlert, letter: 'e' },
  { path: '/queues', name: 'Queues', icon: Layers, letter: 'q' },
  { path: '/kinds', name: 'Kinds', icon: Shapes, letter: 'k' },
  { path: '/workers', name: 'Workers', icon: Server, letter: 'w' },
  { path: '/schedules', name: 'Schedules', icon: CalendarClock, letter: 's' },
  { path: '/limits', name: 'Limits', icon: Gauge, letter: 'l' },
  { path: '/system', name: 'System', icon: Database, letter: 'y' },
]
