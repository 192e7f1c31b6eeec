/** The actions for a limit that the user's role allows. */
import { Droplets, MoreHorizontal, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/user/roles.ts'
import type { Limit } from '../../api/types.ts'
import { Menu, MenuItem } from '../../kit/overlays/menu.tsx'
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
      <Menu
        trigger={
          <button
            type="button"
            aria-label={`Actions for ${limit.name}`}
            className="inline-flex size-8 items-center justify-center rounded-md text-soft hover:bg-sunk hover:text-text"
          >
            <MoreHorizontal aria-hidden className="size-4" />
          </button>
        }
      >
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
      </Menu>
      {asks === 'drain' && <DrainLimit limit={limit} close={close} />}
      {asks === 'edit' && <LimitDrawer limit={limit} close={close} />}
      {asks === 'delete' && <DeleteLimit limit={limit} queues={queues} close={close} />}
    </>
  )
}
