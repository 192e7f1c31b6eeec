/** What can be done to one job, as its state and the role of whoever looks allow. */
import { Copy, ExternalLink, MoreHorizontal } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAct } from '../../api/acts.ts'
import { named } from '../../api/client.ts'
import { useMay } from '../../api/roles.ts'
import type { BulkAct, JobSummary } from '../../api/types/job.ts'
import { IconButton } from '../../kit/button.tsx'
import { copy } from '../../kit/copy.tsx'
import { shortId } from '../../kit/format.ts'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { ACTS } from './acts.ts'
import { OneConfirm } from './one-confirm.tsx'

export function RowMenu({ job }: { readonly job: JobSummary }) {
  const { id, kind, state } = job
  const may = useMay()
  const [, go] = useLocation()
  const { act } = useAct()
  const [asked, setAsked] = useState<'cancel' | 'delete' | null>(null)

  function choose(chosen: BulkAct): void {
    if (chosen === 'cancel' || chosen === 'delete') setAsked(chosen)
    else
      act({
        method: 'POST',
        path: `jobs/${named(id)}/${chosen}`,
        done: chosen === 'retry' ? `${kind} begins again` : `${kind} is ready now`,
        // What failed was said.
      }).catch(() => undefined)
  }

  return (
    <>
      <Menu trigger={<IconButton label={`Acts on ${kind} ${shortId(id)}`} icon={MoreHorizontal} />}>
        <MenuItem icon={ExternalLink} select={() => go(`/jobs/${id}`)}>
          Open
        </MenuItem>
        {ACTS.filter(({ role, states }) => may(role) && states.includes(state)).map(
          ({ act: one, name, icon, isDangerous }) => (
            <MenuItem key={one} icon={icon} isDangerous={isDangerous} select={() => choose(one)}>
              {isDangerous ? `${name}…` : name}
            </MenuItem>
          ),
        )}
        <MenuItem icon={Copy} select={() => void copy(id, 'the id')}>
          Copy id
        </MenuItem>
      </Menu>
      {asked !== null && <OneConfirm act={asked} job={job} close={() => setAsked(null)} />}
    </>
  )
}
