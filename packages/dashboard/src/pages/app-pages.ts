/**
 * Pages of applications that stand behind the same door as the mill. The one place to add one: its folder beside this file, and an entry here. It is shown, and its
 * address is known, only where the server has the application.
 */
import { Inbox, type LucideIcon } from 'lucide-react'
import type { ComponentType } from 'react'
import type { App } from '../api/types/mill.ts'
import type { Place } from '../shell/places.ts'
import { UploadsPage } from './uploads/uploads-page.tsx'

export interface AppPage {
  /** What the server calls the application. */
  readonly app: string
  readonly icon: LucideIcon
  /** After `g`; none that another page has. */
  readonly letter: string
  /** For `/apps/NAME`, and for `/apps/NAME/ITEM` with the item, decoded. */
  readonly component: ComponentType<{ readonly item?: string }>
}

export const APP_PAGES: readonly AppPage[] = [
  { app: 'uploads', icon: Inbox, letter: 'u', component: UploadsPage },
]

export interface AppPlace extends Place {
  readonly component: AppPage['component']
}

/** Those that are there, in the order of the pages, under the titles that the server tells. */
export function appPlaces(apps: readonly App[], pages: readonly AppPage[] = APP_PAGES): readonly AppPlace[] {
  return pages.flatMap(({ app, icon, letter, component }) =>
    apps
      .filter(({ name }) => name === app)
      .map(({ name, title }) => ({ path: `/apps/${name}`, name: title, icon, letter, component })),
  )
}
