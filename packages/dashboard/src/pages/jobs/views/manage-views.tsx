/** Lists saved views, to copy their links and to delete them. A deleted view can be restored at once. */
import { Link2, Trash2 } from 'lucide-react'
import { type Act, useAct } from '../../../api/acts.ts'
import { BASE, encodeName } from '../../../api/client.ts'
import type { SavedView } from '../../../api/types.ts'
import { IconButton, LinkButton } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/overlays/dialog.tsx'
import { copy } from '../../../kit/text/copy.tsx'
import { Ago } from '../../../kit/text/time.tsx'
import { viewAddress } from './view-address.ts'

interface Props {
  readonly views: readonly SavedView[]
  readonly close: () => void
}

export function ManageViews({ views, close }: Props) {
  const { actNow, isActing } = useAct()
  return (
    <Dialog title="Saved views" close={close}>
      {views.length === 0 ? (
        <p className="text-soft">No saved views. Filter the list, then choose Save view.</p>
      ) : (
        <ul aria-label="Saved views" className="flex flex-col divide-y divide-line">
          {views.map((view) => (
            <li key={view.name} className="flex items-center gap-1 py-1">
              <div className="min-w-0 grow">
                <LinkButton to={viewAddress(view)} look="quiet" onFollow={close}>
                  <span className="truncate">{view.name}</span>
                </LinkButton>
                <p className="px-3 text-xs text-soft">
                  Saved by {view.by} <Ago at={view.createdAt} />
                </p>
              </div>
              <IconButton
                label={`Copy link of ${view.name}`}
                icon={Link2}
                onClick={() => void copy(linkOf(view), 'the link')}
              />
              <IconButton
                label={`Delete ${view.name}`}
                icon={Trash2}
                disabled={isActing}
                onClick={() => {
                  // The message with its Undo is behind the dialog.
                  close()
                  actNow(deleteAct(view))
                }}
              />
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  )
}

const linkOf = (view: SavedView): string => `${location.origin}${BASE.replace(/\/$/, '')}${viewAddress(view)}`

function deleteAct({ name, search }: SavedView): Act<never> {
  const restore = (): Act<never> => ({
    method: 'POST',
    path: 'views',
    body: { name, search },
    done: `Restored view ${name}`,
  })
  return {
    method: 'DELETE',
    path: `views/${encodeName(name)}`,
    done: { text: `Deleted view ${name}`, back: { verb: 'Undo', act: restore } },
  }
}
