/**
 * Commands read and change what processes have declared. They never write their own config or schema to a
 * database.
 */
import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { sqlite } from '../../src/sqlite.ts'
import { call, config, runIn } from './run.ts'

const CODE = `
const tick = defineJob({ kind: 'tick', run: () => {} })
export default {
  store,
  jobs: [tick],
  queues: { mail: { workers: 3, limit: 'smtp' } },
  limits: { smtp: { rate: 5 } },
  schedules: [{ name: 'ticker', job: tick, when: 'every 2s' }],
}`

async function declaredIn(file: string): Promise<unknown> {
  const store = sqlite(file)
  await store.open()
  try {
    return [await store.queues.list(), await store.limits.list(), await store.schedules.list()]
  } finally {
    await store.close()
  }
}

describe('N1 a command declares nothing of its config', () => {
  const COMMANDS = ['queues list', 'overrides', 'jobs retry --state dead --dry-run', 'db doctor']
  const MORE = ['jobs list', 'workers', 'schedules list', 'limits list']
  test.each(inFull([...COMMANDS, ...MORE], COMMANDS))('%s', async (words) => {
    const { folder, file } = config(CODE)
    await runIn(folder, words.split(' '))
    expect(await declaredIn(file)).toEqual([[], [], []])
  })

  test('queues set of another database', async () => {
    const { folder } = config(CODE)
    const other = config('export default { store }')
    await runIn(folder, ['enqueue', 'tick', 'null', '--queue', 'other', '--db', other.file])
    const { code } = await runIn(folder, ['queues', 'set', 'other', '--workers', '3', '--db', other.file])
    expect(code).toBe(0)
    expect(await declaredIn(other.file)).toMatchObject([[{ name: 'other', workers: 3 }], [], []])
  })
})

test('a command that reads creates no tables, and prints how to create them', async () => {
  const file = freshFile()
  writeFileSync(file, '')
  const { code, err } = await call(file, ['queues', 'list'])
  expect(code).toBe(3)
  expect(err).toContain(
    'has no Jobmill tables. Run jobmill db migrate, or start a process of the installed release',
  )
  expect(await sqlite(file).tools.schema()).toMatchObject({ isThere: false })
})

test('a missing database in --db is an error, also for enqueue', async () => {
  const file = `${freshFile()}-mistyped`
  const { code, err } = await call(file, ['enqueue', 'tick'])
  expect(code).toBe(2)
  expect(err).toContain('file not found')
})
