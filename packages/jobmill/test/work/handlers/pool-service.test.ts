/** A pool as a service: it starts and stops like every service, and nothing of it is left. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AnyJob } from '../../../src/job/kind/definition.ts'
import { failure, run } from './context.ts'
import { aPool } from './pool-program.ts'
import { gone, isAlive, pidIn, pidsIn, until } from './processes.ts'

const start = async ({ service }: AnyJob): Promise<void> => await service?.start()
const stop = async ({ service }: AnyJob): Promise<void> => await service?.stop()

/** The pids of all children so far, once there are that many. */
const children = async (folder: string, count: number): Promise<number[]> =>
  await until(`there are ${count} children`, async () => {
    const pids = await pidsIn(folder)
    return pids.length >= count ? pids : undefined
  })

test('start starts all children before the first job', async () => {
  const pool = await aPool({ size: 3 })
  await start(pool.job)
  await start(pool.job)
  const pids = await children(pool.children, 3)
  expect(pids.filter((pid) => isAlive(pid))).toHaveLength(3)
  await stop(pool.job)
  expect(await pidsIn(pool.children)).toHaveLength(3)
})

test('stop leaves no child, and can be called twice', async () => {
  const pool = await aPool({ size: 2 })
  await start(pool.job)
  const pids = await children(pool.children, 2)
  await Promise.all([stop(pool.job), stop(pool.job)])
  expect(pids.filter((pid) => isAlive(pid))).toEqual([])
  await stop(pool.job)
})

test('stop before start does nothing', async () => {
  const pool = await aPool()
  await stop(pool.job)
  expect(await pidsIn(pool.children)).toEqual([])
})

test('the pool can start again after a stop, also by a handler', async () => {
  const pool = await aPool()
  await start(pool.job)
  const [first] = await children(pool.children, 1)
  await stop(pool.job)
  await start(pool.job)
  const second = await run(pool.job, null)
  await stop(pool.job)
  const third = await run(pool.job, null)
  const pids = [{ pid: first }, second, third].map((one) => (one as { pid: number }).pid)
  expect(new Set(pids).size).toBe(3)
})

test('starts and stops take effect in the order of the calls', async () => {
  const pool = await aPool()
  await Promise.all([start(pool.job), stop(pool.job), start(pool.job), stop(pool.job)])
  await Promise.all((await pidsIn(pool.children)).map((pid) => gone(pid)))
  // Had the last stop been lost, this start would find a running child.
  const before = await pidsIn(pool.children)
  await start(pool.job)
  expect(await children(pool.children, before.length + 1)).toHaveLength(before.length + 1)
})

test('stop kills a child that does not exit within killAfter', async () => {
  const pool = await aPool({ killAfter: '100ms' }, ['stays'])
  await start(pool.job)
  const [pid = 0] = await children(pool.children, 1)
  await stop(pool.job)
  expect(isAlive(pid)).toBe(false)
})

test('a running job can finish, and a job that waits for a child is refused', async () => {
  const pool = await aPool({ killAfter: '1h' })
  const held = run(pool.job, { hold: 'held' })
  const pid = await pidIn(join(pool.folder, 'held'))
  const waiting = failure(run(pool.job, null))
  const stopped = stop(pool.job)
  expect(await waiting).toMatchObject({ code: 'MILL_STOPPED' })
  await writeFile(join(pool.folder, 'held.go'), '')
  expect(await held).toMatchObject({ pid })
  await stopped
  expect(isAlive(pid)).toBe(false)
})

test('a job that does not finish in time fails with its child', async () => {
  const pool = await aPool({ killAfter: '100ms' })
  const held = failure(run(pool.job, { hold: 'held' }))
  await pidIn(join(pool.folder, 'held'))
  await stop(pool.job)
  expect((await held).message).toMatch(/exited during the job with SIG(TERM|KILL)$/)
})

test('a handler that runs while the pool stops starts it again', async () => {
  const pool = await aPool()
  await start(pool.job)
  await children(pool.children, 1)
  const stopped = stop(pool.job)
  const echo = run(pool.job, null)
  await stopped
  expect(await echo).toMatchObject({ request: { id: '1' } })
})
