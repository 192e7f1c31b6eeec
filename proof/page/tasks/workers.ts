/** Task 8: which process runs what, and quiet one before a deploy. */
import { sync } from '../scene/kinds.ts'
import { until } from '../until.ts'
import { audited, navigation, rival, type Task } from './task.ts'

export const whoRunsWhat: Task = {
  id: '8a',
  name: 'which process runs which jobs',
  rival: rival('Sidekiq', { clicks: 1 }),
  async perform({ scene, op }) {
    const ids = [await scene.runaway(), scene.blocking]
    await op.click(navigation(op.page, 'Workers'))
    const instances = await scene.mill.instances()
    for (const id of ids) {
      const job = await scene.mill.get(id)
      const label = instances.find((one) => one.id === job?.instance)?.label
      const running = op.page.getByRole('region', { name: `Running on ${label}` })
      await running.locator(`a[href$="/jobs/${id}"]`).waitFor()
    }
  },
}

const JOBS = 20

export const quietProcess: Task = {
  id: '8b',
  name: 'quiet a process',
  rival: rival('Sidekiq', { clicks: 2 }),
  async perform({ scene, op }) {
    const label = 'shop-2.15.0-a'
    const { mill } = scene
    const find = async () => (await mill.instances()).find((one) => one.label === label)
    const id = (await find())?.id ?? ''
    await op.click(navigation(op.page, 'Workers'))
    await op.click(op.page.getByRole('button', { name: `Quiet ${label}` }))
    await until(
      `${label} is quiet`,
      async () => (await find())?.requested,
      (found) => found === 'quiet',
    )
    await audited(scene, 'workers.quiet', label)
    // The process has read the request once its share of the workers is gone.
    await until(
      'the other process has all workers',
      async () => (await mill.slots()).filter((slot) => slot.instance === id && slot.workers > 0),
      (slots) => slots.length === 0,
    )
    const payload = { customer: { id: 'cus_shop1' } }
    const handles = await mill.enqueueMany(
      sync,
      Array.from({ length: JOBS }, () => ({ payload })),
    )
    await Promise.all(handles.map((handle) => handle.result()))
    const ran = await Promise.all(handles.map((handle) => mill.history(handle.id)))
    const wrong = ran.flat().filter(({ instance }) => instance === id).length
    await mill.resumeInstance(id)
    if (wrong > 0) throw new Error(`the quiet process ran ${wrong} of ${JOBS} jobs`)
  },
}
