/**
 * Pages of applications served behind the same access control as the mill. To add one, create a folder next
 * to this file and add an entry here. A page is shown only when the server has the application.
 */
import { Inbox, type LucideIcon } from 'lucide-react'
import type { ComponentType } from 'react'
import type { App } from '../api/types.ts'
import type { Place } from '../shell/places.ts'
import { UploadsPage } from './uploads/uploads-page.tsx'

export interface AppPage {
  /** The server's name for the application. */
  readonly app: string
  readonly icon: LucideIcon
  /** The key after `g`; must be unique among the pages. */
  readonly letter: string
  /** For `/apps/NAME`, and for `/apps/NAME/ITEM` with the decoded item. */
  readonly component: ComponentType<{ readonly item?: string }>
}

export const APP_PAGES: readonly AppPage[] = [
  { app: 'uploads', icon: Inbox, letter: 'u', component: UploadsPage },
]

export interface AppPlace extends Place {
  readonly component: AppPage['component']
}

/** The available pages, in menu order, with the titles that the server reports. */
export function appPlaces(apps: readonly App[], pages: readonly AppPage[] = APP_PAGES): readonly AppPlace[] {
  return pages.flatMap(({ app, icon, letter, component }) =>
    apps
      .filter(({ name }) => name === app)
      .map(({ name, title }) => ({ path: `/apps/${name}`, name: title, icon, letter, component })),
  )
}
