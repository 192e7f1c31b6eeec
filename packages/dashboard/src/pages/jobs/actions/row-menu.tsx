/** The actions for one job that its state and the user's role allow. */
import { Ban, Copy, ExternalLink } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAct } from '../../../api/acts.ts'
import { useMay } from '../../../api/user/roles.ts'
import type { BulkAct, JobSummary } from '../../../api/types.ts'
import { copy } from '../../../kit/text/copy.tsx'
import { shortId } from '../../../kit/text/format.ts'
import { ActionsMenu } from '../../../kit/overlays/actions-menu.tsx'
import { MenuItem } from '../../../kit/overlays/menu.tsx'
import { ACTS, applies } from './acts.ts'
import { CancelWithReason } from './cancel-with-reason.tsx'
import { DeleteJob } from './delete-job.tsx'
import { cancelAct, retryAct, runNowAct } from './one-job.ts'

export function RowMenu({ job }: { readonly job: JobSummary }) {
  const { id, kind } = job
  const may = useMay()
  const [, go] = useLocation()
  const { actNow } = useAct()
  const [asked, setAsked] = useState<'cancel' | 'delete' | null>(null)
  const close = (): void => setAsked(null)
  const chosen: Readonly<Record<BulkAct, () => void>> = {
    retry: () => actNow(retryAct(job)),
    'run-now': () => actNow(runNowAct(job)),
    cancel: () => actNow(cancelAct(job)),
    delete: () => setAsked('delete'),
  }
  return (
    <>
      <ActionsMenu name={`${kind} ${shortId(id)}`}>
        <MenuItem icon={ExternalLink} select={() => go(`/jobs/${id}`)}>
          Open job
        </MenuItem>
        {ACTS.filter((info) => may(info.role) && applies(info, job)).map(
          ({ act, name, icon, isDangerous }) => (
            <MenuItem key={act} icon={icon} isDangerous={isDangerous} select={chosen[act]}>
              {act === 'delete' ? `${name}…` : name}
            </MenuItem>
          ),
        )}
        {may('operator') && job.endedAt === null && (
          <MenuItem icon={Ban} select={() => setAsked('cancel')}>
            Cancel with reason…
          </MenuItem>
        )}
        <MenuItem icon={Copy} select={() => void copy(id, 'the job id')}>
          Copy job id
        </MenuItem>
      </ActionsMenu>
      {asked === 'cancel' && <CancelWithReason job={job} close={close} />}
      {asked === 'delete' && <DeleteJob job={job} close={close} />}
    </>
  )
}
