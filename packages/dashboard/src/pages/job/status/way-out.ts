/** Links from the reason for a wait to the page that explains it. */
import type { Job, Reason } from '../../../api/types.ts'

export interface WayOut {
  readonly to: string
  readonly text: string
}

export function wayOutOf(
  { why, message, job }: Reason,
  { id, queue }: Pick<Job, 'id' | 'queue'>,
): WayOut | null {
  const named = encodeURIComponent(queue)
  switch (why) {
    case 'paused':
    case 'no-workers':
    case 'cooling':
      return { to: `/queues#${named}`, text: `View queue ${queue}` }
    case 'queue-without-worker':
    case 'kind-without-worker':
      return { to: '/workers', text: 'View workers' }
    case 'quarantined':
      return { to: '/workers', text: 'View workers' }
    case 'limit': {
      const name = /\blimit "?([^\s"]+)/i.exec(message)?.[1]
      return {
        to: name === undefined ? '/limits' : `/limits#${encodeURIComponent(name)}`,
        text: 'View limit',
      }
    }
    case 'busy':
      return { to: `/jobs?state=running&queue=${named}`, text: 'View running jobs' }
    case 'behind':
      return { to: `/jobs?state=ready&queue=${named}`, text: 'View jobs ahead' }
    case 'step':
      return { to: `/jobs/${id}?tab=steps`, text: 'View steps' }
    case 'group':
      return { to: `/queues?open=${named}`, text: 'View groups' }
    case 'order':
      return job === null ? null : { to: `/jobs/${job}`, text: 'Open blocking job' }
    default:
      return null
  }
}
