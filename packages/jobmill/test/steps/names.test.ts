/** Names and values that databases and JSON treat specially. */
import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/index.ts'
import { subjects } from '../runtime/stores.ts'

const NAMES = ["x'; DROP TABLE job; --", 'ф "q" \\', '__proto__', 'constructor', '{}', '\u00a0', '%_*', '🦆']
const VALUES = [0, '', null, false, '\u2028', '"}', { '': [] }, { __proto__x: 1 }, [[]], 1e300]

describe.each(subjects)('odd names of steps on $name', ({ mill: create }) => {
  test('P17 P18 steps and events with odd names keep their results', async () => {
    const job = defineJob({
      kind: 'a',
      async run({ step }) {
        const results: unknown[] = []
        for (const [at, name] of NAMES.entries()) {
          const result = await step.run(name, () => ({ [name]: VALUES[at] ?? null }))
          results.push([result, await step.waitForEvent(name, { name: `event ${name}` })])
        }
        await step.sleep('between', '5s')
        return results
      },
    })
    const mill = await create({ jobs: [job], start: false })
    const { id } = await mill.enqueue(job, null)
    for (const name of NAMES) await mill.sendEvent(id, name, { [name]: name })
    await mill.start()
    await mill.drain({ scheduled: true })
    const expected = NAMES.map((name, at) => [{ [name]: VALUES[at] ?? null }, { [name]: name }])
    const found = await mill.get(id)
    expect(found).toMatchObject({ state: 'done' })
    expect(JSON.stringify(found?.result)).toBe(JSON.stringify(expected))
  })

  test.each(['a\ud800b', 'a\u0000b', '\u001e', ''])('%j is refused as the name of an event', async (name) => {
    const mill = await create({ start: false })
    const { id } = await mill.enqueue('a', null)
    await expect(mill.sendEvent(id, name)).rejects.toMatchObject({ field: 'event' })
  })
})
