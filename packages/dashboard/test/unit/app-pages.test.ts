/** Pages of applications are shown when the server has the application. */
import { Inbox, Send } from 'lucide-react'
import { expect, test, vi } from 'vitest'
import { APP_PAGES, type AppPage, appPlaces } from '../../src/pages/app-pages.ts'
import { PLACES } from '../../src/shell/places.ts'

// The pages read their base path as soon as they are imported.
vi.hoisted(() => vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' }))

const component = (): null => null
const pages: readonly AppPage[] = [
  { app: 'uploads', icon: Inbox, letter: 'u', component },
  { app: 'telegram', icon: Send, letter: 't', component },
]

test('a page is shown where the server has its application, with the title from the server', () => {
  expect(appPlaces([], pages)).toEqual([])
  expect(appPlaces([{ name: 'other', title: 'Other' }], pages)).toEqual([])
  const apps = [
    { name: 'telegram', title: 'Bots' },
    { name: 'uploads', title: 'Inbox' },
  ]
  expect(appPlaces(apps, pages)).toEqual([
    { path: '/apps/uploads', name: 'Inbox', icon: Inbox, letter: 'u', component },
    { path: '/apps/telegram', name: 'Bots', icon: Send, letter: 't', component },
  ])
})

test('no two pages have the same key', () => {
  const letters = [...PLACES, ...APP_PAGES].map(({ letter }) => letter)
  expect(new Set(letters).size).toBe(letters.length)
})
