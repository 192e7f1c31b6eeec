/**
 * Task 1: since when and with which version payments fail; retry the jobs of the error, and the dead jobs of
 * a queue.
 */
import type { Locator } from 'playwright-core'
import type { PageElement } from '../elements.ts'
import { charge, webhook } from '../scene/kinds.ts'
import { until } from '../until.ts'
import { audited, REVIEWED, rival, rowOf, type Stage, type Task } from './task.ts'

/** Clicks these, and waits until the bulk action has retried exactly this many jobs. */
async function retryBy({ scene, op }: Stage, jobs: number, clicked: readonly Locator[]): Promise<void> {
  for (const target of clicked) await op.click(target)
  await op.page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/)
  const bulk = op.page.url().split('/').at(-1) ?? ''
  await until(
    `the bulk action has changed ${jobs} jobs`,
    async () => (await scene.mill.get(bulk))?.result as { readonly changed: number } | null | undefined,
    (result) => result?.changed === jobs,
  )
  await audited(scene, 'bulk.run')
}

const issueOf = ({ op: { page } }: Stage, kind: string): Locator =>
  page
    .getByRole('region', { name: /needs? attention/ })
    .getByRole('listitem')
    .filter({ hasText: kind })

const MINUTE = 60_000

export const sinceWhen: Task = {
  id: '1b',
  name: 'since when payments fail, and with which version',
  rival: rival(REVIEWED, { clicks: 3 }),
  async perform(stage) {
    const { mill } = stage.scene
    const { jobs } = await mill.list({ kind: charge.kind, state: 'dead' }, { limit: 500 })
    const began = Math.min(...jobs.map(({ endedAt }) => endedAt ?? Number.POSITIVE_INFINITY))
    const minute = new Date(began - (began % MINUTE)).toISOString().slice(11, 16)
    const wanted = `since ${minute} UTC, first seen with 2.15.0`
    await until(
      `the issue of ${charge.kind} says "${wanted}" where an operator can read it`,
      () => visibleText(issueOf(stage, charge.kind).getByText(`${charge.kind}: `)),
      (text) => text.includes(wanted),
    )
  },
}

/** A line that is too long is cut off: the text up to there. */
async function visibleText(line: Locator): Promise<string> {
  return line.first().evaluate((element: PageElement) => {
    const text = element.firstChild
    if (text === null) return ''
    const all = text.textContent ?? ''
    const range = element.ownerDocument.createRange()
    const edge = element.getBoundingClientRect().right
    for (let end = all.length; end > 0; end -= 1) {
      range.setStart(text, 0)
      range.setEnd(text, end)
      if (range.getBoundingClientRect().right <= edge) return all.slice(0, end)
    }
    return ''
  })
}

export const retryError: Task = {
  id: '1',
  name: 'retry the jobs of one error',
  rival: rival('Rails Mission Control Jobs', { queries: 1, clicks: 2 }),
  async perform(stage) {
    const { scene, op } = stage
    const { page } = op
    const count = (state: 'dead' | 'done') => async () =>
      (await scene.mill.count({ kind: charge.kind, state })).jobs
    const worked = await count('done')()
    const issue = issueOf(stage, charge.kind)
    await issue.first().waitFor()
    scene.fixCause()
    const retry = `Retry ${scene.failedPayments} jobs`
    await retryBy(stage, scene.failedPayments, [
      issue.getByRole('link', { name: 'View errors' }),
      page.getByRole('button', { name: retry }),
      page.getByRole('dialog').getByRole('button', { name: retry }),
    ])
    await until('no payment is dead', count('dead'), (jobs) => jobs === 0)
    await until('the payments are done', count('done'), (jobs) => jobs === worked + scene.failedPayments)
  },
}

export const retryQueue: Task = {
  id: '1c',
  name: 'retry all dead jobs of a queue',
  rival: rival('Bull Board', { clicks: 3 }),
  async perform(stage) {
    const { scene, op } = stage
    const { page } = op
    const jobs = scene.deadWebhooks
    const [one] = (await scene.mill.list({ kind: webhook.kind, state: 'dead' }, { limit: 1 })).jobs
    await retryBy(stage, jobs, [
      rowOf(page, 'Queues', 'webhooks').getByRole('link', { name: String(jobs), exact: true }),
      page.getByRole('button', { name: 'Retry all' }),
      page.getByRole('dialog').getByRole('button', { name: `Retry ${jobs} jobs` }),
    ])
    // Its host still answers with an error, so it fails again.
    await until(
      'a webhook was tried again',
      async () => (await scene.mill.history(one?.id ?? '')).length,
      (attempts) => attempts === 2,
    )
  },
}
