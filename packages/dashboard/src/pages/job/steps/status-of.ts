/** What a step does, in a few words. */
import type { Step } from '../../../api/types.ts'
import { span } from '../../../kit/text/format.ts'

type Parts = Pick<Step, 'kind' | 'endedAt' | 'dueAt' | 'events' | 'result' | 'children'>

/** `Waiting for survey, 13 d left`. */
export function statusOf({ kind, endedAt, dueAt, events, result, children }: Parts, now: number): string {
  const left = dueAt === null || dueAt <= now ? '' : `, ${span(dueAt - now)} left`
  if (endedAt === null) {
    if (kind === 'sleep') return `Sleeping${left}`
    if (kind === 'child') {
      const open = children.filter((child) => child.endedAs === null).length
      return `Waiting for ${open} of ${children.length} children`
    }
    return kind === 'event' ? `Waiting for ${events.join(' or ')}${left}` : 'Not recorded yet'
  }
  if (kind === 'sleep') return 'Slept'
  if (kind !== 'event') return 'Recorded'
  return result === null ? 'Timed out' : 'Received'
}
