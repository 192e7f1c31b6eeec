/** Task 3: pause a queue, change its workers, resume it. */
import { until } from '../until.ts'
import { audited, rival, rowOf, type Stage, type Task } from './task.ts'

const QUEUE = 'payments'
const WORKERS = 6

async function untilPaused({ scene }: Stage, paused: boolean): Promise<void> {
  await until(
    `the queue ${QUEUE} is ${paused ? 'paused' : 'open'}`,
    async () => (await scene.mill.queues()).find(({ name }) => name === QUEUE)?.paused,
    (found) => found === paused,
  )
  await audited(scene, paused ? 'queues.pause' : 'queues.resume', QUEUE)
}

export const pauseQueue: Task = {
  id: '3a',
  name: 'pause a queue',
  rival: rival('Rails Mission Control Jobs, asynqmon', { clicks: 1 }),
  async perform(stage) {
    const row = rowOf(stage.op.page, 'Queues', QUEUE)
    await stage.op.click(row.getByRole('button', { name: `Pause ${QUEUE}` }))
    await untilPaused(stage, true)
  },
}

export const changeWorkers: Task = {
  id: '3b',
  name: 'change the workers of a queue',
  rival: rival('Oban', { clicks: 3, values: 1 }),
  async perform({ scene, op }) {
    const { page } = op
    await op.click(rowOf(page, 'Queues', QUEUE).getByRole('button', { name: `Edit ${QUEUE}` }))
    const form = page.getByRole('dialog', { name: `Edit ${QUEUE}` })
    await op.type(form.getByLabel('Workers'), String(WORKERS))
    await op.click(form.getByRole('button', { name: 'Save changes' }))
    await until(
      `${WORKERS} workers in ${QUEUE}, over all processes`,
      async () => (await scene.mill.slots()).filter(({ queue }) => queue === QUEUE),
      (slots) => slots.reduce((sum, { workers }) => sum + workers, 0) === WORKERS,
    )
    await audited(scene, 'queues.change', QUEUE)
  },
}

export const resumeQueue: Task = {
  id: '3c',
  name: 'resume a queue',
  rival: rival('Rails Mission Control Jobs, asynqmon', { clicks: 1 }),
  async perform(stage) {
    const row = rowOf(stage.op.page, 'Queues', QUEUE)
    await stage.op.click(row.getByRole('button', { name: `Resume ${QUEUE}` }))
    await untilPaused(stage, false)
  },
}
