/** `user.id:42`: the part before the first colon is a path. An invalid path is refused with its field. */
import { expect, test } from 'vitest'
import { checkPayloadAt, readPayloadAt } from '../../src/store/payload-at.ts'
import { refusal } from './support.ts'

test.each([
  ['user.id:42', ['user', 'id'], '42'],
  ['items.0.sku:a-1', ['items', '0', 'sku'], 'a-1'],
  ['at:12:30', ['at'], '12:30'],
  ['a:', ['a'], ''],
  ['a..b:.', ['a', '', 'b'], '.'],
  [String.raw`a\.b.c\:d:x\.y`, ['a.b', 'c:d'], String.raw`x\.y`],
  [String.raw`C\\:x`, ['C\\'], 'x'],
  [String.raw`a\b:x`, [String.raw`a\b`], 'x'],
  ['user name.é:"x"', ['user name', 'é'], '"x"'],
])('%j', (text, path, value) => expect(readPayloadAt(text, 'payloadAt')).toEqual({ path, value }))

test.each([
  ['user.id', 'payloadAt', 'has no colon'],
  [String.raw`user\:id`, 'payloadAt', 'has no colon'],
  ['', 'payloadAt', 'has no colon'],
  [':42', 'payloadAt', 'has no path'],
  [`${'a.'.repeat(16)}a:1`, 'payloadAt.path', 'has more than 16 parts (got 17 parts)'],
  [`${'a'.repeat(1_001)}:1`, 'payloadAt.path[0]', 'has more than 1000 characters (got 1001 characters)'],
  [`a:${'1'.repeat(1_001)}`, 'payloadAt.value', 'has more than 1000 characters (got 1001 characters)'],
  ['a:\u0000', 'payloadAt.value', 'contains a character'],
])('%j is refused', (text, field, says) => {
  const refused = refusal(() => readPayloadAt(text, 'payloadAt'))
  expect(refused).toMatchObject({ code: 'OPTION_INVALID', field })
  expect(refused.message).toContain(says)
  expect(refused.fix).toMatch(/^\w/)
})

test('more than five paths are refused', () => {
  const five = Array.from({ length: 5 }, () => ({ path: ['a'], value: '1' }))
  expect(checkPayloadAt(five, 'x')).toEqual(five)
  expect(refusal(() => checkPayloadAt([...five, ...five], 'x'))).toMatchObject({ field: 'x' })
})
