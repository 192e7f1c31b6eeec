/** N1: a process whose options in code are refused changes nothing in the database. */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type FullStore } from '../../src/index.ts'
import { rejection } from '../unit/support.ts'
import { type Code, deploy, quick } from './deploy.ts'
import { subjects } from './stores.ts'

/** Its schema answers asynchronously, so the options cannot be checked when the mill is created. */
const picky = defineJob({
  kind: 'picky',
  payload: {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: async () => ({ issues: [{ message: 'does not fit' }] }),
    },
  },
  run: () => null,
})

const FIRST: Code = {
  limits: { smtp: { rate: 10 }, each: { rate: 1, perKey: true } },
  queues: { mail: { workers: 1, limit: 'smtp' } },
  schedules: [{ name: 'daily', job: quick, when: '@daily' }],
}

/** Changes every part of the first release, and adds to it. */
const SECOND: Code = {
  limits: { smtp: { rate: 20 }, db: { concurrency: 1 } },
  queues: { mail: { workers: 2, limit: 'smtp' }, report: { workers: 3 } },
  schedules: [
    { name: 'daily', job: quick, when: '@hourly', version: 2 },
    { name: 'weekly', job: quick, when: '@weekly' },
  ],
}

const REFUSED: readonly (readonly [what: string, code: Code, error: object])[] = [
  [
    'a queue names an unknown limit',
    { ...SECOND, queues: { ...SECOND.queues, report: { limit: 'nope' } } },
    { code: 'LIMIT_UNKNOWN', field: 'queues.report.limit' },
  ],
  [
    'a queue names a limit per key of another process',
    { ...SECOND, queues: { ...SECOND.queues, report: { limit: 'each' } } },
    { code: 'OPTION_CONFLICT', field: 'queues.report.limit' },
  ],
  [
    'a limit that a queue uses becomes a limit per key',
    { ...SECOND, limits: { ...SECOND.limits, smtp: { rate: 20, perKey: true } }, queues: { report: {} } },
    { code: 'OPTION_CONFLICT', field: 'queues.mail.limit' },
  ],
  [
    'the payload of a schedule does not fit',
    { ...SECOND, jobs: [quick, picky], schedules: [{ name: 'daily', job: picky, when: '@daily' }] },
    { code: 'PAYLOAD_INVALID' },
  ],
]

const stored = async (store: FullStore): Promise<unknown> => [
  (await store.limits.list()).map(({ name, settings }) => [name, settings]),
  await store.queues.list(),
  await store.schedules.list(),
  await store.overrides.list(),
]

describe.each(subjects)('N1 a refused start on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)

  test.each(REFUSED)('N1 %s: no limit, queue or schedule is written', async (_what, code, error) => {
    const mill = await create({ jobs: [quick] })
    const at = { store: mill, platform: mill.platform }
    await deploy(at, FIRST)
    const before = await stored(mill.store)
    expect(await rejection(() => deploy(at, code))).toMatchObject(error)
    expect(await stored(mill.store)).toEqual(before)
  })
})
