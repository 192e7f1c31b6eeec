/** Where the cause of a wait is looked at. */
import type { Job, Reason } from '../../api/types/job.ts'

export interface WayOut {
  readonly to: string
  readonly text: string
}

export function wayOutOf(
  { why, says }: Reason,
  { queue, orderKey }: Pick<Job, 'queue' | 'orderKey'>,
): WayOut | null {
  const named = encodeURIComponent(queue)
  switch (why) {
    case 'paused':
    case 'no-workers':
    case 'cooling':
      return { to: `/queues#${named}`, text: `Go to the queue ${queue}` }
    case 'queue-without-worker':
    case 'kind-without-worker':
      return { to: '/workers', text: 'See who serves what' }
    case 'quarantined':
      return { to: '/workers', text: 'See what the processes do' }
    case 'limit': {
      const name = /\blimit (\S+)/.exec(says)?.[1]
      return {
        to: name === undefined ? '/limits' : `/limits#${encodeURIComponent(name)}`,
        text: 'Go to the limit',
      }
    }
    case 'busy':
      return { to: `/jobs?state=running&queue=${named}`, text: 'See what runs there' }
    case 'behind':
      return { to: `/jobs?state=ready&queue=${named}`, text: 'See what is before it' }
    case 'order':
      return orderKey === null ? null : { to: `/jobs?queue=${named}`, text: `See the jobs of ${queue}` }
    default:
      return null
  }
}
