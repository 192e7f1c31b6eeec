/** The actions for an alert rule, for admins. */
import { MoreHorizontal, Pause, Pencil, Play, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useAct } from '../../../api/acts.ts'
import { encodeName } from '../../../api/client.ts'
import { useMay } from '../../../api/user/roles.ts'
import type { Alert } from '../../../api/types.ts'
import { Confirm } from '../../../kit/overlays/confirm.tsx'
import { Menu, MenuItem } from '../../../kit/overlays/menu.tsx'
import { AlertDrawer } from './alert-drawer.tsx'

/** The toast shows a problem. */
function quietly(done: Promise<unknown>): void {
  done.catch(() => {})
}

export function AlertActs({ alert }: { readonly alert: Alert }) {
  const { name, paused, inCode } = alert
  const may = useMay()
  const { act } = useAct()
  const [asks, setAsks] = useState<'edit' | 'delete' | null>(null)
  const close = (): void => setAsks(null)
  const path = `alerts/${encodeName(name)}`
  if (!may('admin')) return null
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
        <MenuItem
          icon={Send}
          select={() =>
            quietly(act({ method: 'POST', path: `${path}/test`, done: `Test of ${name} queued` }))
          }
        >
          Send test
        </MenuItem>
        <MenuItem
          icon={paused ? Play : Pause}
          select={() =>
            quietly(
              act({
                method: 'PUT',
                path,
                body: { paused: !paused },
                done: `${paused ? 'Resumed' : 'Paused'} rule ${name}`,
              }),
            )
          }
        >
          {paused ? 'Resume' : 'Pause'}
        </MenuItem>
        {!inCode && (
          <MenuItem icon={Pencil} select={() => setAsks('edit')}>
            Edit
          </MenuItem>
        )}
        <MenuItem icon={Trash2} isDangerous select={() => setAsks('delete')}>
          Delete
        </MenuItem>
      </Menu>
      {asks === 'edit' && <AlertDrawer alert={alert} close={close} />}
      {asks === 'delete' && (
        <Confirm
          title={`Delete ${name}?`}
          verb="Delete rule"
          isDangerous
          close={close}
          act={() => act({ method: 'DELETE', path, done: `Deleted rule ${name}` })}
        >
          <p>
            {inCode
              ? 'This rule is in code. It is created again at the next start of a process. Pause it to keep it off.'
              : 'Its webhook gets no further messages, also none about problems that end.'}
          </p>
        </Confirm>
      )}
    </>
  )
}
