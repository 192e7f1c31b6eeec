/** The parsers of pg are global, so an application can replace them. Its choice must not reach the store. */
import { expect, inject, test } from 'vitest'
import { recycledSchema } from '../../../../test/support/postgres/recycled-schemas.ts'
import { startProcess } from './children.ts'
import type { ParsersProcess } from './parsers-process.ts'

const url = inject('postgresUrl')

test.for(['foreign', 'binary'] as const)(
  'N7 a mill on postgres runs jobs in a process whose pg has %s parsers',
  { timeout: 30_000 },
  async (parsers) => {
    const task: ParsersProcess = { url, schema: recycledSchema(url, 'parsers'), parsers }
    const started = startProcess('parsers-process.ts', task)
    await started.untilMessages(({ length }) => length > 0)
    const answer = {
      results: [42, 4],
      state: 'done',
      tags: ['a,b', '"', 'NULL', String.raw`\ `],
      ready: true,
    }
    expect(started.messages).toEqual([`done ${JSON.stringify(answer)}`])
    await started.ended
  },
)
