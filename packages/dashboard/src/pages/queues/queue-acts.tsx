/** The actions for a queue that the user's role allows. */
import { MoreHorizontal, Pause, Pencil, Play, Snowflake } from 'lucide-react'
import { useState } from 'react'
import { useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import { useMay } from '../../api/user/roles.ts'
import type { QueueAndCounts } from '../../api/types.ts'
import { Menu, MenuItem } from '../../kit/overlays/menu.tsx'
import { EditQueue } from './edit-queue.tsx'
import { PauseQueue } from './pause-queue.tsx'

/** The error was already shown as a toast. */
const go = (does: Promise<unknown>): void => void does.catch(() => undefined)

export function QueueActs({ queue }: { readonly queue: QueueAndCounts }) {
  const may = useMay()
  const { act } = useAct()
  const [asks, setAsks] = useState<'pause' | 'edit' | null>(null)
  const { name, paused, coolingMs } = queue.settings
  const path = `queues/${encodeName(name)}`
  const close = (): void => setAsks(null)
  if (!may('operator')) return null
  return (
    <>
      <Menu
        trigger={
          <button
            type="button"
            aria-label={`Actions for ${name}`}
            className="inline-flex size-8 items-center justify-center rounded-md text-soft hover:bg-sunk hover:text-text"
          >
            <MoreHorizontal aria-hidden className="size-4" />
          </button>
        }
      >
        {paused ? (
          <MenuItem
            icon={Play}
            select={() => go(act({ method: 'POST', path: `${path}/resume`, done: `Resumed ${name}` }))}
          >
            Resume
          </MenuItem>
        ) : (
          <MenuItem icon={Pause} select={() => setAsks('pause')}>
            Pause
          </MenuItem>
        )}
        {coolingMs > 0 && may('admin') && (
          <MenuItem
            icon={Snowflake}
            select={() =>
              go(act({ method: 'PATCH', path, body: { coolFor: 0 }, done: `Ended cool-down of ${name}` }))
            }
          >
            End cool-down
          </MenuItem>
        )}
        {may('admin') && (
          <MenuItem icon={Pencil} select={() => setAsks('edit')}>
            Edit
          </MenuItem>
        )}
      </Menu>
      {asks === 'pause' && <PauseQueue counts={queue.counts} close={close} />}
      {asks === 'edit' && <EditQueue settings={queue.settings} close={close} />}
    </>
  )
}
