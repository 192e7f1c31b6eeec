import { describe, expect, test } from 'vitest'
import { checkPatch, mergePatch, partsNamedBy } from '../../src/job/payload/merge-patch.ts'
import { rejection } from './support.ts'

const reject = (given: object): Promise<unknown> =>
  rejection(async () => checkPatch(given, 'options.patch', 100))

describe('JSON merge patches', () => {
  // The examples of RFC 7396, appendix A, whose patch is an object.
  test.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
    ['null', '{"a":1}', '{"a":1}'],
    ['{"a":1}', '{"__proto__":{"b":2}}', '{"a":1,"__proto__":{"b":2}}'],
    ['{"a":[null,{"b":null}]}', '{"c":[null,{"b":null}]}', '{"a":[null,{"b":null}],"c":[null,{"b":null}]}'],
  ])('%s with %s is %s', (target, patch, merged) => {
    const given: unknown = JSON.parse(target)
    expect(JSON.stringify(mergePatch(given, JSON.parse(patch)))).toBe(merged)
    expect(JSON.stringify(given)).toBe(target)
  })

  test.each([
    [{ a: 1 }, { a: 2 }, { a: 2 }],
    [{ a: { b: null } }, { a: { b: 1, c: 2 }, d: 3 }, { a: { b: 1 } }],
    [{ a: { b: 1 } }, { a: 'text' }, { a: 'text' }],
    [{ a: null }, { b: 1 }, {}],
    [{ a: 1 }, [1], [1]],
  ])('the parts that %j names in %j are %j', (patch, payload, parts) => {
    expect(partsNamedBy(patch, payload)).toEqual(parts)
  })

  test.each([[1], ['a'], [null], [[{ a: 1 }]], [undefined], [new Date(0)]])(
    '%j is no patch',
    async (given) => {
      const error = {
        code: 'OPTION_INVALID',
        field: 'options.patch',
        fix: expect.stringContaining('currency') as string,
      }
      expect(await rejection(async () => checkPatch(given, 'options.patch', 100))).toMatchObject(error)
    },
  )

  test('a patch has members, is JSON and fits into a payload', async () => {
    expect(await reject({})).toMatchObject({ message: expect.stringContaining('has no members') as string })
    expect(await reject({ a: undefined })).toMatchObject({
      message: expect.stringContaining('no members') as string,
    })
    expect(await reject({ a: { b: 1n } })).toMatchObject({
      code: 'PAYLOAD_NOT_JSON',
      field: 'options.patch.a.b',
    })
    expect(await reject({ a: 'x'.repeat(100) })).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
    expect(checkPatch({ a: null, b: undefined }, 'options.patch', 100)).toEqual({ a: null })
  })
})
