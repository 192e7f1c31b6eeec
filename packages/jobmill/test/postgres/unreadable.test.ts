/** Which errors of a claim may come from a job that the server cannot read. */
import { expect, test } from 'vitest'
import { JobmillError } from '../../src/job/errors.ts'
import { mayBeDamage } from '../../src/store-postgres/claim/unreadable.ts'

test.each([
  ['of the server', { code: 'XX001', routine: 'toast_fetch_datum' }, true],
  ['of a pooler, which names no routine', { code: 'XX000' }, false],
  ['of another class', { code: '40001', routine: 'heap_update' }, false],
])('D1 an error %s', (_, fields, expected) => {
  const said = Object.assign(new Error('no'), fields)
  const wrapped = new JobmillError('OUTCOME_UNKNOWN', 'no', { cause: said })
  expect([mayBeDamage(said), mayBeDamage(wrapped)]).toEqual([expected, expected])
})
