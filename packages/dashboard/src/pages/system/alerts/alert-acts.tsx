/** The actions for an alert rule, for admins. */
import { Pencil, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type Pausing, useAct } from '../../../api/acts.ts'
import { encodeName } from '../../../api/client.ts'
import { useMay } from '../../../api/user/roles.ts'
import type { Alert } from '../../../api/types.ts'
import { ActionsMenu } from '../../../kit/overlays/actions-menu.tsx'
import { Confirm } from '../../../kit/overlays/confirm.tsx'
import { MenuItem } from '../../../kit/overlays/menu.tsx'
import { PauseButton } from '../../../kit/pause-button.tsx'
import { AlertDrawer } from './alert-drawer.tsx'

export function AlertActs({ alert }: { readonly alert: Alert }) {
  const { name, paused, inCode } = alert
  const may = useMay()
  const { act, actNow } = useAct()
  const [asks, setAsks] = useState<'edit' | 'delete' | null>(null)
  const close = (): void => setAsks(null)
  const path = `alerts/${encodeName(name)}`
  if (!may('admin')) return null
  return (
    <>
      <PauseButton name={name} isPaused={paused} pausing={rulePausing(path, name)} />
      <ActionsMenu name={name}>
        <MenuItem
          icon={Send}
          select={() => actNow({ method: 'POST', path: `${path}/test`, done: `Test of ${name} queued` })}
        >
          Send test
        </MenuItem>
        {!inCode && (
          <MenuItem icon={Pencil} select={() => setAsks('edit')}>
            Edit
          </MenuItem>
        )}
        <MenuItem icon={Trash2} isDangerous select={() => setAsks('delete')}>
          Delete…
        </MenuItem>
      </ActionsMenu>
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
              ? 'This rule is defined in code: the next process that starts creates it again. To stop its messages, pause it instead.'
              : 'Its webhook receives no more messages, not even when current problems end.'}
          </p>
        </Confirm>
      )}
    </>
  )
}

function rulePausing(path: string, name: string): Pausing {
  return {
    request: (paused) => ({ method: 'PUT', path, body: { paused } }),
    done: (paused) => ({
      text: `${paused ? 'Paused' : 'Resumed'} rule ${name}`,
      note: paused ? 'It sends nothing until you resume it.' : 'It sends messages again.',
    }),
  }
}
