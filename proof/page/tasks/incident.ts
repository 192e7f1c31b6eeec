/** Tasks 1 and 1b: retry the jobs of one error, and the dead jobs of one queue. */
import type { Locator } from 'playwright-core'
import { charge, webhook } from '../scene/kinds.ts'
import { until } from '../until.ts'
import { audited, rival, rowOf, type Stage, type Task } from './task.ts'

/** Clicks on these, and waits until the bulk action has retried exactly so many jobs. */
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
    const issue = page
      .getByRole('region', { name: /need attention/ })
      .getByRole('listitem')
      .filter({ hasText: charge.kind })
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
  id: '1b',
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
