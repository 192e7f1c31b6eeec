/** Stopping a process group: the earlier deadline counts, whichever call came first. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exitText, type ProcessGroup, startGroup } from '../../../src/work/handlers/process-group.ts'
import { aFolder, isAlive, pidIn, written } from './processes.ts'

/** Records every SIGTERM, and otherwise ignores it. */
async function aDeafGroup(): Promise<{ group: ProcessGroup; signals: () => Promise<string> }> {
  const cwd = await aFolder()
  const code = 'trap "echo told >> told" TERM; echo $$ > pid; while :; do sleep 0.05; done'
  const group = await startGroup({ file: '/bin/sh', args: ['-c', code], env: { PATH: '/usr/bin:/bin' }, cwd })
  group.stdout.resume()
  expect(await pidIn(join(cwd, 'pid'))).toBe(group.pid)
  return { group, signals: () => written(join(cwd, 'told')) }
}

const HOUR_MS = 3_600_000

test('a second stop with an earlier deadline wins', async () => {
  const { group, signals } = await aDeafGroup()
  group.stop(HOUR_MS)
  await signals()
  expect(isAlive(group.pid)).toBe(true)
  group.stop(0)
  expect(exitText(await group.ended)).toBe('SIGKILL')
})

test('a second stop with a later deadline changes nothing', async () => {
  const { group, signals } = await aDeafGroup()
  group.stop(500)
  group.stop(HOUR_MS)
  expect(await signals()).toBe('told')
  expect(exitText(await group.ended)).toBe('SIGKILL')
})

test('a program that cannot start rejects with the error code of the system', async () => {
  const program = { file: '/no/such/program', args: [], env: {}, cwd: undefined }
  await expect(startGroup(program)).rejects.toMatchObject({ code: 'ENOENT' })
})
