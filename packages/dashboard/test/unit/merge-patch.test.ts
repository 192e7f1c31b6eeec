/** The preview of a patch must agree with what the server does. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mergePatch as onServer } from '../../../jobmill/src/job/payload/merge-patch.ts'
import { mergePatch, patchIn } from '../../src/kit/json/merge-patch.ts'

const keys = fc.constantFrom('a', 'b', '__proto__')
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, 1, 'x', true),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.array(fc.tuple(keys, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
}))

describe('merge patches on the page', () => {
  test('give the same payload as on the server', () => {
    fc.assert(
      fc.property(value, value, (target, patch) => {
        expect(JSON.stringify(mergePatch(target, patch))).toBe(JSON.stringify(onServer(target, patch)))
      }),
      { seed: 1 },
    )
  })

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
