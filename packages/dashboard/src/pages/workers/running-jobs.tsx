/** The jobs that a process is running. */
import { useState } from 'react'
import type { JobSummary } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { number, plural, shortId } from '../../kit/text/format.ts'
import { Ago } from '../../kit/text/time.tsx'

const SHOWN = 5

export function RunningJobs({ jobs }: { readonly jobs: readonly JobSummary[] }) {
  const [isWhole, setWhole] = useState(false)
  if (jobs.length === 0) return <p className="text-soft">No running jobs.</p>
  const shown = isWhole ? jobs : jobs.slice(0, SHOWN)
  return (
    <div>
      <ul className="divide-y divide-line">
        {shown.map(({ id, kind, queue, startedAt }) => (
          <li key={id} className="flex items-center gap-3 py-1">
            <TextLink to={`/jobs/${id}`} className="font-mono text-xs whitespace-nowrap">
              {shortId(id)}
            </TextLink>
            <span className="min-w-0 grow truncate" title={`${kind} in ${queue}`}>
              {kind} <span className="text-soft">in {queue}</span>
            </span>
            <span className="shrink-0 text-soft">
              started <Ago at={startedAt} />
            </span>
          </li>
        ))}
      </ul>
      {jobs.length > shown.length && (
        <button
          type="button"
          className="min-h-6 text-xs text-accent hover:underline"
          onClick={() => setWhole(true)}
        >
          {number(jobs.length - shown.length)} more of {plural(jobs.length, 'running job')}
        </button>
      )}
    </div>
  )
}
