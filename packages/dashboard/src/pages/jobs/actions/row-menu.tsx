/** The actions for one job that its state and the user's role allow. */
import { Copy, ExternalLink, MoreHorizontal } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAct } from '../../../api/acts.ts'
import { encodeName } from '../../../api/client.ts'
import { useMay } from '../../../api/user/roles.ts'
import type { Answer, BulkAct, JobSummary } from '../../../api/types.ts'
import { IconButton } from '../../../kit/button.tsx'
import { copy } from '../../../kit/text/copy.tsx'
import { shortId } from '../../../kit/text/format.ts'
import { Menu, MenuItem } from '../../../kit/overlays/menu.tsx'
import { ACTS, applies, ranNow } from './acts.ts'
import { OneConfirm } from './one-confirm.tsx'

export function RowMenu({ job }: { readonly job: JobSummary }) {
  const { id, kind } = job
  const may = useMay()
  const [, go] = useLocation()
  const { act } = useAct<Answer<'jobs.run-now'>>()
  const [asked, setAsked] = useState<'cancel' | 'delete' | null>(null)

  function choose(chosen: BulkAct): void {
    if (chosen === 'cancel' || chosen === 'delete') setAsked(chosen)
    else
      act({
        method: 'POST',
        path: `jobs/${encodeName(id)}/${chosen}`,
        done: (answer) => (chosen === 'retry' ? `${kind} queued for retry` : ranNow(answer, kind)),
        // The error was already shown as a toast.
      }).catch(() => undefined)
  }

  return (
    <>
      <Menu trigger={<IconButton label={`Actions for ${kind} ${shortId(id)}`} icon={MoreHorizontal} />}>
        <MenuItem icon={ExternalLink} select={() => go(`/jobs/${id}`)}>
          Open job
        </MenuItem>
        {ACTS.filter((info) => may(info.role) && applies(info, job)).map(
          ({ act: one, name, icon, isDangerous }) => (
            <MenuItem key={one} icon={icon} isDangerous={isDangerous} select={() => choose(one)}>
              {isDangerous ? `${name}…` : name}
            </MenuItem>
          ),
        )}
        <MenuItem icon={Copy} select={() => void copy(id, 'the job id')}>
          Copy job id
        </MenuItem>
      </Menu>
      {asked !== null && <OneConfirm act={asked} job={job} close={() => setAsked(null)} />}
    </>
  )
}
