/** All pages, with the menus, dialogs and drawers that open over them, for the check of accessibility. */
import type { Page } from 'playwright-core'
import { charge, LIMIT, transcode, webhook } from '../scene/kinds.ts'
import { SCHEDULE, type Scene } from '../scene/scene.ts'

export interface View {
  readonly address: string
  readonly isPhone: boolean
  /** What is clicked there, one after the other. Each opens a menu, a dialog or a drawer. */
  readonly clicks: readonly Click[]
}

type Click = readonly [role: 'button' | 'menuitem' | 'checkbox', name: string | RegExp]

const button = (name: string | RegExp): Click => ['button', name]
const item = (name: string | RegExp): Click => ['menuitem', name]

export async function viewsOf({ mill, blocking, blocked }: Scene): Promise<View[]> {
  const newest = async (filter: Parameters<typeof mill.list>[0]) =>
    `/jobs/${(await mill.list(filter, { limit: 1 })).jobs[0]?.id}`
  const dead = await newest({ kind: webhook.kind, state: 'dead' })
  const done = await newest({ kind: charge.kind, state: 'done' })
  const views: readonly (readonly [address: string, ...clicks: (readonly Click[])[]])[] = [
    ['/', [button('Search')], [button('Keyboard shortcuts (?)')], [button('Enqueue')], [button(/^Edit /)]],
    [
      '/jobs?state=dead&queue=webhooks',
      [button('Retry all…')],
      [button('Bulk actions')],
      [button('Columns')],
      [button(/^Actions for /)],
      [['checkbox', /^Select (?!all)/]],
    ],
    ['/jobs'],
    ['/jobs?state=running', [button(/^Actions for /), item('Cancel with reason…')]],
    [dead, [button('Enqueue copy')], [button('Copy as')], [button('Delete')]],
    ...['payload', 'compare', 'timeline', 'audit'].map((tab) => [`${dead}?tab=${tab}`] as const),
    [`${done}?tab=result`],
    [`/jobs/${blocking}`],
    [`/jobs/${blocked}`],
    ['/jobs/01900000-0000-7000-8000-000000000000'],
    ['/errors', [button(/webhook\.deliver in webhooks/)], [button(/^Retry /)]],
    ['/queues'],
    ['/queues?open=payments', [button('Edit payments')]],
    ['/kinds'],
    [`/kinds/${charge.kind}`],
    [`/kinds/${transcode.kind}`],
    ['/workers', [button('Stop shop-2.15.0-a')]],
    ['/schedules', [button('New schedule')], [button(`Edit ${SCHEDULE}`)]],
    [`/schedules/${SCHEDULE}`, [button('Delete')]],
    ['/limits', [button('New limit')], [button(`Actions for ${LIMIT}`), item('Drain')]],
    [`/limits?open=${LIMIT}`, [button(`Actions for ${LIMIT}`), item('Edit')]],
    ['/system'],
    ['/system?tab=alerts', [button('New rule')]],
    ['/system?tab=audit'],
    ['/system?tab=timeline'],
    ['/no-such-page'],
  ]
  const onPhone = ['/', '/queues', '/jobs', dead].map((address) => ({ address, isPhone: true, clicks: [] }))
  return [
    ...views.flatMap(([address, ...opened]) => [
      { address, isPhone: false, clicks: [] },
      ...opened.map((clicks) => ({ address, isPhone: false, clicks })),
    ]),
    ...onPhone,
  ]
}

const WIDE = { width: 1_440, height: 900 }
const PHONE = { width: 390, height: 844 }

export async function openView(page: Page, url: string, view: View): Promise<void> {
  const { address, isPhone, clicks } = view
  await page.setViewportSize(isPhone ? PHONE : WIDE)
  await page.goto(`${url}${address}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  for (const [role, name] of clicks) {
    await page
      .getByRole(role, { name, ...(typeof name === 'string' && { exact: true }) })
      .first()
      .click()
  }
}

export const viewText = ({ address, isPhone, clicks }: View): string =>
  [`${address}${isPhone ? ' on a phone' : ''}`, ...clicks.map(([, name]) => String(name))].join(' › ')
