/** N1: a release that cannot start because a queue uses its limit names the queue and the way out. */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { rejection } from '../unit/support.ts'
import { type Code, deploy, quick } from './deploy.ts'
import { subjects } from './stores.ts'

const code = (perKey: boolean, limit?: string): Code => ({
  queues: { mail: { workers: 1, ...(limit !== undefined && { limit }) } },
  limits: { smtp: { rate: 10, perKey } },
})

describe.each(subjects)(
  'N1 a limit of a queue that becomes a limit per key on $name',
  ({ name, mill: create }) => {
    const test = inTurns(name, subjects)

    test('N1 names the queue and the command that resets the override', async () => {
      const store = await create({ jobs: [quick] })
      const at = { store, platform: store.platform }
      await deploy(at, code(false))
      await store.changeQueue('mail', { limit: 'smtp' }, { by: 'ana' })
      expect(await rejection(() => deploy(at, code(true)))).toMatchObject({
        code: 'OPTION_CONFLICT',
        field: 'queues.mail.limit',
        value: '"smtp"',
        fix: 'Run "jobmill overrides reset queue mail limit" (override by ana), or keep the limit without perKey',
      })
      await store.resetOverrides({ what: 'queue', name: 'mail', option: 'limit' })
      await deploy(at, code(true))
    })

    test('N1 names the queue that uses the limit in the code of an earlier release', async () => {
      const store = await create({ jobs: [quick] })
      const at = { store, platform: store.platform }
      await deploy(at, code(false, 'smtp'))
      expect(await rejection(() => deploy(at, code(true)))).toMatchObject({
        code: 'OPTION_CONFLICT',
        field: 'queues.mail.limit',
        value: '"smtp"',
        fix: 'Deploy a release first in which queue "mail" does not use this limit, or keep the limit without perKey',
      })
      await deploy(at, code(false))
      await deploy(at, code(true))
    })

    test('N1 names the queue whose code uses the limit, even if an override hides that', async () => {
      const store = await create({ jobs: [quick] })
      const at = { store, platform: store.platform }
      await deploy(at, code(false, 'smtp'))
      await store.changeQueue('mail', { limit: null }, { by: 'ana' })
      // Of an application that does not declare the queue.
      const other = { limits: { smtp: { rate: 10, perKey: true } } }
      expect(await rejection(() => deploy(at, other))).toMatchObject({
        code: 'OPTION_CONFLICT',
        field: 'queues.mail.limit',
        value: '"smtp"',
        fix: 'Deploy a release first in which queue "mail" does not use this limit, or keep the limit without perKey',
      })
      // The first application restarts, and the override can be reset.
      await deploy(at, code(false, 'smtp'))
      expect(await store.resetOverrides({ what: 'queue', name: 'mail' })).toHaveLength(1)
    })

    test('N1 names the queue in code that uses a limit per key of another process', async () => {
      const store = await create({ jobs: [quick] })
      const at = { store, platform: store.platform }
      await deploy(at, { limits: { smtp: { rate: 10, perKey: true } } })
      expect(await rejection(() => deploy(at, { queues: { mail: { limit: 'smtp' } } }))).toMatchObject({
        code: 'OPTION_CONFLICT',
        field: 'queues.mail.limit',
        fix: 'Use another limit for the queue, and acquire this one in the handler',
      })
    })
  },
)
