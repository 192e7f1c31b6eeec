/** The menu of further actions on something: a button with three dots. */
import { MoreHorizontal } from 'lucide-react'
import type { ReactNode } from 'react'
import { IconButton } from '../button.tsx'
import { Menu } from './menu.tsx'

export function ActionsMenu({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return <Menu trigger={<IconButton label={`Actions for ${name}`} icon={MoreHorizontal} />}>{children}</Menu>
}
