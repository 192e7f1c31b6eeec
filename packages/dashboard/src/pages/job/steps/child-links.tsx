/** The children of a step: how many have ended, and links to them. */
import { TextLink } from '../../../kit/button.tsx'
import type { Step } from '../../../api/types.ts'

const ENDS = { done: 'done', dead: 'dead', cancelled: 'cancelled' } as const
const SHOWN = 100

export function ChildLinks({ jobs }: { readonly jobs: Step['children'] }) {
  const open = jobs.filter(({ endedAs }) => endedAs === null).length
  const failed = jobs.filter(({ endedAs }) => endedAs === 'dead' || endedAs === 'cancelled').length
  // Those that need attention come first.
  const sorted = jobs.toSorted((a, b) => rank(a) - rank(b)).slice(0, SHOWN)
  return (
    <details className="text-xs">
      <summary className="cursor-pointer text-soft">
        {jobs.length === 1 ? '1 child' : `${jobs.length} children`}
        {open > 0 && `, ${open} open`}
        {failed > 0 && `, ${failed} failed`}
      </summary>
      <ul className="flex flex-col">
        {sorted.map(({ id, endedAs, error }) => (
          <li key={id} className="leading-6">
            <TextLink to={`/jobs/${id}`} className="font-mono">
              {id}
            </TextLink>{' '}
            {endedAs === null ? 'open' : ENDS[endedAs]}
            {error !== null && `: ${error}`}
          </li>
        ))}
        {jobs.length > SHOWN && <li className="leading-6 text-soft">and {jobs.length - SHOWN} more</li>}
      </ul>
    </details>
  )
}

function rank({ endedAs }: Step['children'][number]): number {
  return endedAs === 'done' ? 2 : endedAs === null ? 1 : 0
}
