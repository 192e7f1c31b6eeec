/** Task 7: edit a schedule, pause it, run it now, and see how its past runs ended. */
import { SCHEDULE } from '../scene/scene.ts'
import type { Scene } from '../scene/scene.ts'
import { until } from '../until.ts'
import { audited, navigation, rival, rowOf, type Stage, type Task } from './task.ts'

const WHEN = '30 4 * * *'
/** The runs in a row of the list. */
const SHOWN = 10

function untilSchedule(
  { mill }: Scene,
  what: string,
  isSo: (schedule: { readonly when: string; readonly paused: boolean }) => boolean,
) {
  return until(
    `${SCHEDULE} ${what}`,
    () => mill.schedules.get(SCHEDULE),
    (schedule) => schedule !== null && isSo(schedule),
  )
}

async function rowIn({ op }: Stage) {
  await op.click(navigation(op.page, 'Schedules'))
  return rowOf(op.page, /schedule/, SCHEDULE)
}

export const editSchedule: Task = {
  id: '7a',
  name: 'edit a schedule',
  rival: rival('Oban', { clicks: 3, values: 1 }),
  async perform(stage) {
    const { scene, op } = stage
    const row = await rowIn(stage)
    await op.click(row.getByRole('button', { name: `Edit ${SCHEDULE}` }))
    const form = op.page.getByRole('dialog', { name: `Edit ${SCHEDULE}` })
    await op.type(form.getByLabel('When'), WHEN)
    await op.click(form.getByRole('button', { name: 'Save changes' }))
    await untilSchedule(scene, `runs at ${WHEN}`, ({ when }) => when === WHEN)
    await audited(scene, 'schedules.change', SCHEDULE)
  },
}

export const pauseSchedule: Task = {
  id: '7b',
  name: 'pause a schedule',
  rival: rival('Oban', { clicks: 3 }),
  async perform(stage) {
    const row = await rowIn(stage)
    await stage.op.click(row.getByRole('button', { name: `Pause ${SCHEDULE}` }))
    await untilSchedule(stage.scene, 'is paused', ({ paused }) => paused)
    await audited(stage.scene, 'schedules.pause', SCHEDULE)
  },
}

export const runSchedule: Task = {
  id: '7c',
  name: 'run a schedule now',
  rival: rival('Oban, Sidekiq', { clicks: 2 }),
  async perform(stage) {
    const { scene, op } = stage
    const jobs = async () => (await scene.mill.count({ queue: 'reports' })).jobs
    const before = await jobs()
    const row = await rowIn(stage)
    await op.click(row.getByRole('button', { name: `Run now: ${SCHEDULE}` }))
    await until('a run was enqueued', jobs, (now) => now === before + 1)
    await audited(scene, 'schedules.trigger', SCHEDULE)
  },
}

export const scheduleOutcomes: Task = {
  id: '7d',
  name: 'outcomes of past runs of a schedule',
  rival: rival('Oban, Rails Mission Control Jobs', { clicks: 1 }),
  async perform(stage) {
    const row = await rowIn(stage)
    const history = await stage.scene.mill.schedules.history(SCHEDULE, SHOWN)
    const states = history.map(({ state }) => state ?? 'deleted').toReversed()
    if (!states.includes('done') || !states.includes('dead'))
      throw new Error(`the runs must have both outcomes (got ${states.join(', ')})`)
    const strip = row.getByRole('img', { name: /runs, oldest first/ })
    await until(
      `the row shows ${states.join(', ')}`,
      () => strip.getAttribute('aria-label'),
      (label) => label?.endsWith(states.join(', ')) === true,
    )
  },
}
