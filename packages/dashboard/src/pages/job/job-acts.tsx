/** The actions for a job that its state and the user's role allow. */
import { Ban, CopyPlus, Play, RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import { useMay } from '../../api/user/roles.ts'
import type { Answer, Inspected, Job } from '../../api/types.ts'
import { Button } from '../../kit/button.tsx'
import { Confirm } from '../../kit/overlays/confirm.tsx'
import { ranNow } from '../jobs/actions/acts.ts'
import { EnqueueDrawer } from '../enqueue/enqueue-drawer.tsx'
import { BULK_KIND } from './bulk/bulk-kind.ts'
import { CancelDialog } from './cancel-dialog.tsx'
import { CopyAs } from './commands/copy-as.tsx'
import { sayIfProblem, wholePayload } from './whole.ts'

type Open = 'cancel' | 'delete' | { readonly copyOf: unknown } | null

export function JobActs({ job, left }: { readonly job: Job; readonly left: Inspected['left'] }) {
  const may = useMay()
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const hasEnded = job.endedAt !== null
  const { kind, queue, priority, tags, maxAttempts } = job
  const copyIt = (): Promise<void> =>
    sayIfProblem(async () => setOpen({ copyOf: await wholePayload(job, left) }))
  return (
    <>
      {may('operator') && !hasEnded && (
        <Button icon={Ban} onClick={() => setOpen('cancel')}>
          Cancel
        </Button>
      )}
      {may('operator') && kind !== BULK_KIND && (
        <>
          <Button icon={CopyPlus} onClick={() => void copyIt()}>
            Enqueue copy
          </Button>
          <CopyAs job={job} left={left} />
        </>
      )}
      {may('admin') && job.state !== 'running' && (
        <Button look="danger" icon={Trash2} onClick={() => setOpen('delete')}>
          Delete
        </Button>
      )}
      {open === 'cancel' && <CancelDialog job={job} close={close} />}
      {open === 'delete' && <DeleteDialog job={job} close={close} />}
      {open !== null && typeof open === 'object' && (
        <EnqueueDrawer
          close={close}
          like={{ kind, payload: open.copyOf, queue, priority, tags, maxAttempts }}
        />
      )}
    </>
  )
}

function DeleteDialog({ job, close }: { readonly job: Job; readonly close: () => void }) {
  const { act } = useAct()
  const [, go] = useLocation()
  return (
    <Confirm
      title="Delete job?"
      verb="Delete job"
      isDangerous
      close={close}
      act={async () => {
        await act({ method: 'DELETE', path: `jobs/${encodeName(job.id)}`, done: `Deleted ${job.kind}` })
        go('/jobs')
      }}
    >
      <p>
        Deletes 1 <b className="break-all">{job.kind}</b> job with its payload, attempts and logs.
      </p>
      <p className="text-soft">
        {job.endedAt === null
          ? 'The job has not run to completion and will not run again. This cannot be undone.'
          : 'This cannot be undone.'}
      </p>
    </Confirm>
  )
}

interface OneAct {
  readonly job: Job
  readonly look?: 'main' | 'plain'
}

/** Retrying a bulk action requires an admin. */
export function RetryButton({ job, look = 'plain' }: OneAct) {
  const may = useMay()
  const { act, isActing } = useAct()
  if (!may(job.kind === BULK_KIND ? 'admin' : 'operator')) return null
  const path = `jobs/${encodeName(job.id)}/retry`
  return (
    <Button
      look={look}
      icon={RotateCcw}
      disabled={isActing}
      onClick={() => void act({ method: 'POST', path, done: 'Job queued for retry' }).catch(() => null)}
    >
      Retry
    </Button>
  )
}

export function RunNowButton({ job, look = 'main' }: OneAct) {
  const may = useMay()
  const { act, isActing } = useAct<Answer<'jobs.run-now'>>()
  if (!may('operator')) return null
  const path = `jobs/${encodeName(job.id)}/run-now`
  return (
    <Button
      look={look}
      icon={Play}
      disabled={isActing}
      onClick={() => void act({ method: 'POST', path, done: (answer) => ranNow(answer) }).catch(() => null)}
    >
      Run now
    </Button>
  )
}
