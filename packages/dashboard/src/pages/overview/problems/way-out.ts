/** Where a finding is explained, and what can be done about it right here. */
import type { Diagnostic, Queue } from '../../../api/types/mill.ts'

export interface WayOut {
  readonly to: string
  readonly text: string
  /** On the queue that it is about. */
  readonly act: 'resume' | 'clear' | null
}

const link = (to: string, text: string): WayOut => ({ to, text, act: null })

/** `queue` is the one that it is about, as it stands now. */
export function wayOut({ check, about: { what, name } }: Diagnostic, queue: Queue | undefined): WayOut {
  const named = encodeURIComponent(name ?? '')
  switch (what) {
    case 'queue':
      return ofQueue(check, named, queue)
    case 'kind':
    case 'instance':
      return link('/workers', 'See who serves what')
    case 'limit':
      return link('/limits', 'See the limits')
    case 'schedule':
      return name === null
        ? link('/schedules', 'See the schedules')
        : link(`/schedules/${named}`, 'See the schedule')
    case 'duty':
    case 'database':
    case null:
      return link('/system', 'See the system')
  }
}

function ofQueue(check: string, named: string, queue: Queue | undefined): WayOut {
  const here = { to: `/queues#${named}`, text: 'See the queue' }
  if (check === 'dead') return link(`/errors?queue=${named}`, 'See the errors')
  if (check === 'waiting') return link(`/jobs?queue=${named}&state=ready`, 'See what waits')
  if (check === 'paused' && queue?.paused === true) return { ...here, act: 'resume' }
  if (check === 'cooling' && (queue?.coolingMs ?? 0) > 0) return { ...here, act: 'clear' }
  return { ...here, act: null }
}
