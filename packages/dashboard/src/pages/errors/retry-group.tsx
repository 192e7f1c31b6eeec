/**
 * Retries all dead jobs of an error group, and opens the bulk action. Asks first, with their number: a retry
 * cannot be undone.
 */
import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAct } from '../../api/acts.ts'
import { failedIn, useBulkPreview } from '../../api/reads.ts'
import { useMay } from '../../api/user/roles.ts'
import type { Answer, ErrorGroup } from '../../api/types.ts'
import { Button } from '../../kit/button.tsx'
import { Confirm } from '../../kit/overlays/confirm.tsx'
import type { ErrorSearch } from './group-texts.ts'
import { PatchPayloads, usePatch } from '../jobs/actions/patch/patch-payloads.tsx'
import { compact, plural } from '../../kit/text/format.ts'

interface Props {
  readonly group: ErrorGroup
  /** What the page is filtered by. Jobs of other queues, and that failed at other times, are not retried. */
  readonly search: ErrorSearch
}

export function RetryGroupButton({ group, search }: Props) {
  const may = useMay()
  const [isAsking, setAsking] = useState(false)
  // Keeps the cell of the grid.
  if (!may('operator') || group.dead === 0) return <span />
  return (
    <span className="lg:text-right">
      <Button
        icon={RotateCcw}
        aria-label={`Retry ${plural(group.dead, 'job')}`}
        onClick={() => setAsking(true)}
      >
        Retry {compact(group.dead)}
      </Button>
      {isAsking && <ConfirmRetry group={group} search={search} close={() => setAsking(false)} />}
    </span>
  )
}

function ConfirmRetry({ group, search: { queue, range }, close }: Props & { readonly close: () => void }) {
  const { fingerprint, kind } = group
  // All jobs of a group have one kind. Errors of other kinds need not be read.
  // The range as of now, because its ends move.
  const [failed] = useState(() => failedIn(range))
  const filter = { fingerprint, kind, state: 'dead', ...failed, ...(queue !== '' && { queue }) }
  const { data, error } = useBulkPreview('retry', filter)
  const { act } = useAct<Answer<'bulk.run'>>()
  const [, go] = useLocation()
  const [patchText, setPatchText] = useState<string | null>(null)
  const { patch, isSendable } = usePatch(patchText)
  const jobs = data?.jobs ?? 0
  return (
    <Confirm
      title="Retry dead jobs with this error?"
      verb={data === undefined ? 'Retry' : `Retry ${plural(jobs, 'job')}`}
      isReady={jobs > 0 && isSendable}
      close={close}
      act={async () => {
        const { id } = await act({
          method: 'POST',
          path: 'bulk',
          body: { act: 'retry', filter, ...(patch !== null && { patch }) },
          done: `Retry queued for ${plural(jobs, 'job')}`,
        })
        go(`/jobs/${id}`)
      }}
    >
      {error !== null && (
        <p role="alert" className="text-dead">
          Could not count the jobs: {error.message}
        </p>
      )}
      <p aria-live="polite">
        {data === undefined
          ? 'Counting jobs…'
          : `${plural(jobs, `dead ${kind} job`)}${queue === '' ? '' : ` in ${queue}`} will be ready again, with a full set of attempts.`}
      </p>
      <PatchPayloads text={patchText} change={setPatchText} first={group.example.id} />
      <p className="text-soft">This runs as a bulk action that shows its progress and can be cancelled.</p>
    </Confirm>
  )
}
