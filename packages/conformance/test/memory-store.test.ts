// The store of the page "Write a store" passes every case for the parts that it has. The page shows its code.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { memoryDatabase } from '../../../examples/memory-store/database.ts'
import { memoryStore } from '../../../examples/memory-store/store.ts'
import { defineJob, type JobContext } from '../../jobmill/src/index.ts'
import { testMill } from '../../jobmill/src/testing/index.ts'
import { storeConformance } from '../src/index.ts'

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

let database = memoryDatabase()

describe('store conformance: the memory store', () => {
  storeConformance(
    {
      name: 'memory',
      fresh: async () => void (database = memoryDatabase()),
      handle: (options) => memoryStore({ database, ...options }),
      without: [
        'overrides',
        'inspect',
        'directDispatch',
        'transactions',
        'schedules',
        'limits',
        'groups',
        'alerts',
        'views',
        'metrics',
        'steps',
        'notifier',
      ],
    },
    test,
  )
})

test('a mill runs jobs on the memory store, retries them and keeps its upkeep', async () => {
  const third = defineJob({
    kind: 'third',
    run({ attempt, payload }: JobContext<number>) {
      if (attempt < 3) throw new Error('not yet')
      return payload
    },
  })
  await using mill = await testMill({ jobs: [third], store: ({ now }) => memoryStore({ clock: now }) })
  const job = await mill.enqueue(third, 7, { orderKey: 'o' })
  await mill.clock.advance('5m')
  expect(await job.result()).toBe(7)
  expect((await mill.history(job.id)).map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'returned'])
})

test('every block of the page is an excerpt of the file that it names', () => {
  const page = read('docs/internals/write-a-store.md')
  const blocks = [...page.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)]
  expect(blocks.length).toBe([...page.matchAll(/^```ts$/gm)].length)
  expect(blocks.length).toBeGreaterThan(10)
  for (const [, path = '', code = ''] of blocks) expect(read(path)).toContain(code)
})
