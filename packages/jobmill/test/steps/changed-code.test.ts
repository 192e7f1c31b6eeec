/** A new release of a handler runs while its jobs are parked: waits were removed, added and reordered. */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob } from '../../src/index.ts'
import { attempts, subjects } from '../runtime/stores.ts'

describe.each(subjects)('durable steps on $name, after a deploy', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)

  for (const end of ['event', 'timeout'] as const)
    test(`P18 the ${end} of a wait that the code no longer has does not run the job again and again`, async () => {
      let isNew = false
      const job = defineJob({
        kind: 'a',
        async run({ step }) {
          if (isNew) await step.sleep('new', '20s')
          else await step.waitForEvent('survey', { timeout: '10s' })
        },
      })
      const mill = await create({ jobs: [job] })
      const { id } = await mill.enqueue(job, null)
      await mill.drain()
      isNew = true
      await mill.runNow(id)
      await mill.drain()
      if (end === 'event') await mill.sendEvent(id, 'survey')
      else await mill.clock.advance('11s')
      await mill.drain()
      expect((await attempts(mill, id)).map(([outcome]) => outcome)).toEqual(['parked', 'parked'])
      await mill.drain({ scheduled: true })
      expect((await mill.get(id))?.state).toBe('done')
    })

  test('P17 recorded steps are found by their names: in another order, with a new one, without an old one', async () => {
    let isNew = false
    const ran: string[] = []
    const job = defineJob({
      kind: 'a',
      async run({ step }) {
        const results: string[] = []
        for (const one of isNew ? ['two', 'new', 'one'] : ['one', 'two', 'old'])
          results.push(await step.run(one, () => (ran.push(one), `${one} ${ran.length}`)))
        if (!isNew) await step.sleep('wait', '10s')
        return results
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    isNew = true
    await mill.drain({ scheduled: true })
    expect(ran).toEqual(['one', 'two', 'old', 'new'])
    expect((await mill.get(id))?.result).toEqual(['two 2', 'new 4', 'one 1'])
  })
})
