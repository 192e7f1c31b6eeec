/** Saved views: filters of the job list with a name, for everyone. */
import { Bookmark, BookmarkPlus, Check, Settings2 } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useViews } from '../../../api/reads.ts'
import { useMay } from '../../../api/user/roles.ts'
import { Button } from '../../../kit/button.tsx'
import { Menu, MenuItem } from '../../../kit/overlays/menu.tsx'
import { chipsOf } from '../filter/chips.ts'
import type { Filter } from '../filter/filter.ts'
import { ManageViews } from './manage-views.tsx'
import { SaveView } from './save-view.tsx'
import { isSameView, viewAddress } from './view-address.ts'

export function ViewsMenu({ filter }: { readonly filter: Filter }) {
  const views = useViews().data?.views ?? []
  const mayChange = useMay()('operator')
  const [, go] = useLocation()
  const [asked, setAsked] = useState<'save' | 'manage' | null>(null)
  const close = (): void => setAsked(null)
  if (views.length === 0 && !mayChange) return null
  return (
    <>
      <Menu
        trigger={
          <Button look="quiet" icon={Bookmark}>
            Views
          </Button>
        }
      >
        {views.map((view) => (
          <MenuItem
            key={view.name}
            icon={isSameView(view, filter) ? Check : Bookmark}
            select={() => go(viewAddress(view))}
          >
            {view.name}
          </MenuItem>
        ))}
        {mayChange && (
          <MenuItem
            icon={BookmarkPlus}
            isDisabled={chipsOf(filter).length === 0}
            select={() => setAsked('save')}
          >
            Save view…
          </MenuItem>
        )}
        {mayChange && views.length > 0 && (
          <MenuItem icon={Settings2} select={() => setAsked('manage')}>
            Manage views…
          </MenuItem>
        )}
      </Menu>
      {asked === 'save' && <SaveView filter={filter} close={close} />}
      {asked === 'manage' && <ManageViews views={views} close={close} />}
    </>
  )
}
