/** The actions for a job that its state and the user's role allow. */
import { Ban, CopyPlus, RotateCcw, Trash2, Zap } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAct } from '../../api/acts.ts'
import { useMay } from '../../api/user/roles.ts'
import type { Inspected, Job } from '../../api/types.ts'
import { Button } from '../../kit/button.tsx'
import { ActionsMenu } from '../../kit/overlays/actions-menu.tsx'
import { MenuItem } from '../../kit/overlays/menu.tsx'
import { EnqueueDrawer } from '../enqueue/enqueue-drawer.tsx'
import { CancelButton } from '../jobs/actions/cancel-button.tsx'
import { CancelWithReason } from '../jobs/actions/cancel-with-reason.tsx'
import { DeleteJob } from '../jobs/actions/delete-job.tsx'
import { retryAct, runNowAct } from '../jobs/actions/one-job.ts'
import { BULK_KIND } from './bulk/bulk-kind.ts'
import { CopyAs } from './commands/copy-as.tsx'
import { sayIfProblem, wholePayload } from './whole.ts'

type Open = 'cancel' | 'delete' | { readonly copyOf: unknown } | null

export function JobActs({ job, left }: { readonly job: Job; readonly left: Inspected['left'] }) {
  const may = useMay()
  const [, go] = useLocation()
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const hasEnded = job.endedAt !== null
  const { kind, queue, priority, tags, maxAttempts } = job
  const copyIt = (): Promise<void> =>
    sayIfProblem(async () => setOpen({ copyOf: await wholePayload(job, left) }))
  return (
    <>
      {may('operator') && !hasEnded && (
        <>
          <CancelButton isRow={false} job={job} />
          <ActionsMenu name="this job">
            <MenuItem icon={Ban} select={() => setOpen('cancel')}>
              Cancel with reason…
            </MenuItem>
          </ActionsMenu>
        </>
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
      {open === 'cancel' && <CancelWithReason job={job} close={close} />}
      {open === 'delete' && <DeleteJob job={job} close={close} onDeleted={() => go('/jobs')} />}
      {open !== null && typeof open === 'object' && (
        <EnqueueDrawer
          close={close}
          like={{ kind, payload: open.copyOf, queue, priority, tags, maxAttempts }}
        />
      )}
    </>
  )
}

interface OneAct {
  readonly job: Job
  readonly look?: 'main' | 'plain'
}

/** Retrying a bulk action requires an admin. */
export function RetryButton({ job, look = 'plain' }: OneAct) {
  const may = useMay()
  const { actNow, isActing } = useAct()
  if (!may(job.kind === BULK_KIND ? 'admin' : 'operator')) return null
  return (
    <Button look={look} icon={RotateCcw} disabled={isActing} onClick={() => actNow(retryAct(job))}>
      Retry
    </Button>
  )
}

export function RunNowButton({ job, look = 'main' }: OneAct) {
  const may = useMay()
  const { actNow, isActing } = useAct()
  if (!may('operator')) return null
  return (
    <Button look={look} icon={Zap} disabled={isActing} onClick={() => actNow(runNowAct(job))}>
      Run now
    </Button>
  )
}
