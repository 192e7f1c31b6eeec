/** The actions for a limit that the user's role allows. */
import { Droplets, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/user/roles.ts'
import type { Limit } from '../../api/types.ts'
import { ActionsMenu } from '../../kit/overlays/actions-menu.tsx'
import { MenuItem } from '../../kit/overlays/menu.tsx'
import { DeleteLimit } from './delete-limit.tsx'
import { DrainLimit } from './drain-limit.tsx'
import { LimitDrawer } from './limit-drawer.tsx'

export function LimitActs({ limit, queues }: { readonly limit: Limit; readonly queues: readonly string[] }) {
  const may = useMay()
  const [asks, setAsks] = useState<'drain' | 'edit' | 'delete' | null>(null)
  const close = (): void => setAsks(null)
  if (!may('operator')) return null
  return (
    <>
      <ActionsMenu name={limit.name}>
        <MenuItem icon={Droplets} select={() => setAsks('drain')}>
          Drain
        </MenuItem>
        {may('admin') && (
          <>
            <MenuItem icon={Pencil} select={() => setAsks('edit')}>
              Edit
            </MenuItem>
            <MenuItem icon={Trash2} isDangerous select={() => setAsks('delete')}>
              Delete
            </MenuItem>
          </>
        )}
      </ActionsMenu>
      {asks === 'drain' && <DrainLimit limit={limit} close={close} />}
      {asks === 'edit' && <LimitDrawer limit={limit} close={close} />}
      {asks === 'delete' && <DeleteLimit limit={limit} queues={queues} close={close} />}
    </>
  )
}
