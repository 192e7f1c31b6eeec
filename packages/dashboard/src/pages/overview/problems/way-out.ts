/** Links a diagnostic to the page that explains it, and to an action that fixes it. */
import type { Diagnostic, Queue } from '../../../api/types.ts'

export interface WayOut {
  readonly to: string
  readonly text: string
  /** An action on the queue. */
  readonly act: 'resume' | 'clear' | null
}

const link = (to: string, text: string): WayOut => ({ to, text, act: null })

/** `queue` is the current state of the queue it is about. */
export function wayOut(
  { check, about: { what, name } }: Pick<Diagnostic, 'check' | 'about'>,
  queue: Queue | undefined,
): WayOut {
  const named = encodeURIComponent(name ?? '')
  switch (what) {
    case 'queue':
      return ofQueue(check, named, queue)
    case 'kind':
      return check === 'failing'
        ? link(`/errors?kind=${named}`, 'View errors')
        : link('/workers', 'View workers')
    case 'instance':
      return link('/workers', 'View workers')
    case 'limit':
      return link('/limits', 'View limits')
    case 'schedule':
      return name === null
        ? link('/schedules', 'View schedules')
        : link(`/schedules/${named}`, 'View schedule')
    case 'duty':
    case 'database':
    case null:
      return link('/system', 'View system')
  }
}

function ofQueue(check: string, named: string, queue: Queue | undefined): WayOut {
  const here = { to: `/queues#${named}`, text: 'View queue' }
  if (check === 'dead') return link(`/errors?queue=${named}`, 'View errors')
  if (check === 'waiting') return link(`/jobs?queue=${named}&state=ready`, 'View waiting jobs')
  if (check === 'paused' && queue?.paused === true) return { ...here, act: 'resume' }
  if (check === 'cooling' && (queue?.coolingMs ?? 0) > 0) return { ...here, act: 'clear' }
  return { ...here, act: null }
}
