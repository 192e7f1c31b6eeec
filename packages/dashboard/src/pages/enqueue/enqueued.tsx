/** The result of enqueuing. */
import { Check } from 'lucide-react'
import type { EnqueuedJob } from '../../api/types.ts'
import { Button, LinkButton, TextLink } from '../../kit/button.tsx'
import { number, plural, shortId } from '../../kit/text/format.ts'

export interface EnqueuedAnswer {
  readonly kind: string
  readonly jobs: readonly EnqueuedJob[]
}

interface Props {
  readonly answer: EnqueuedAnswer
  readonly again: () => void
  readonly close: () => void
}

const SHOWN = 5

export function Enqueued({ answer: { kind, jobs }, again, close }: Props) {
  const [first] = jobs
  return (
    <div className="flex flex-col gap-4">
      <div role="status" className="flex items-start gap-2">
        <Check aria-hidden className="mt-0.5 size-5 shrink-0 text-done" />
        <p className="text-base font-medium">{summaryOf(kind, jobs)}</p>
      </div>
      <ul className="flex flex-col gap-1 pl-7">
        {jobs.slice(0, SHOWN).map(({ id, outcome }) => (
          <li key={id}>
            <TextLink to={`/jobs/${id}`} className="font-mono" onFollow={close}>
              {jobs.length === 1 ? id : shortId(id)}
            </TextLink>{' '}
            <span className="text-soft">{outcome}</span>
          </li>
        ))}
        {jobs.length > SHOWN && <li className="text-soft">and {number(jobs.length - SHOWN)} more</li>}
      </ul>
      <div className="flex flex-wrap gap-2 pl-7">
        {jobs.length === 1 && first !== undefined ? (
          <LinkButton to={`/jobs/${first.id}`} look="main" onFollow={close}>
            Open job
          </LinkButton>
        ) : (
          <LinkButton to={`/jobs?${new URLSearchParams({ kind }).toString()}`} look="main" onFollow={close}>
            View {kind} jobs
          </LinkButton>
        )}
        <Button onClick={again}>Enqueue another</Button>
        <Button look="quiet" onClick={close}>
          Close
        </Button>
      </div>
    </div>
  )
}

function summaryOf(kind: string, jobs: readonly EnqueuedJob[]): string {
  const count = (outcome: EnqueuedJob['outcome']): number =>
    jobs.filter((job) => job.outcome === outcome).length
  const duplicates = count('duplicate')
  if (jobs.length === 1) {
    if (duplicates === 1) return `Not enqueued: a ${kind} job with this dedupe key already exists.`
    return count('replaced') === 1 ? `Replaced an existing ${kind} job.` : `Enqueued 1 ${kind} job.`
  }
  const rest = duplicates === 0 ? '' : `; ${plural(duplicates, 'duplicate')} skipped by dedupe key`
  return `Enqueued ${plural(jobs.length - duplicates, `${kind} job`)}${rest}.`
}
