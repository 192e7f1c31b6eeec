/** The merge patch that a user types. */
import { describe, expect, test } from 'vitest'
import { patchIn } from '../../src/kit/json/patch-in.ts'

describe('a typed merge patch', () => {
  test.each([
    ['{"a":null}', { a: null }, false],
    ['{}', null, false],
    ['[]', null, true],
    ['null', null, true],
    ['"a"', null, true],
  ])('%s is the patch %j', (text, patch, isProblem) => {
    const read = patchIn({ value: JSON.parse(text) })
    expect([read.patch, read.problem !== null]).toEqual([patch, isProblem])
  })
})
