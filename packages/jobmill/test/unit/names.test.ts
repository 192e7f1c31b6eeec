/** Names, keys and ids: what is accepted unchanged, and how the rest is refused. */
import { describe, expect, test } from 'vitest'
import { checkId, checkKey, checkName, checkSoughtName } from '../../src/job/names.ts'
import { refusal } from './support.ts'

describe('a name', () => {
  test.each(['a', '0', 'email.send', 'A-b_c:d/e', '9lives', 'x'.repeat(128)])('can be %j', (name) => {
    expect(checkName(name, 'queue')).toBe(name)
  })

  test.each([' a', 'a b', 'a,b', 'a\n', '.a', '-a', '/a', 'ä', 'a\u0000', '😀', 'a\ud800'])(
    'cannot be %j, and the error says which characters it can have',
    (name) => {
      const error = refusal(() => checkName(name, 'queue'))
      expect(error).toMatchObject({ code: 'NAME_INVALID', field: 'queue' })
      expect(error.value).toBeDefined()
      expect(error.fix).toBe('Use letters, digits and . _ : / -, and start with a letter or digit')
    },
  )

  test.each([undefined, null, 7, '', {}, ['a']])('cannot be %j', (name) => {
    expect(refusal(() => checkName(name, 'kind'))).toMatchObject({ code: 'NAME_INVALID', field: 'kind' })
  })

  test('has a readable error', () => {
    expect(refusal(() => checkName('', 'kind')).message).toBe(
      'kind: must be a non-empty string (got ""). Pass a string such as "email.send".',
    )
    expect(refusal(() => checkName('x'.repeat(129), 'kind')).message).toBe(
      `kind: has 129 characters, more than 128 (got "${'x'.repeat(40)}…"). Shorten it.`,
    )
  })
})

test('a name to look up has no character that a database refuses', () => {
  expect(checkSoughtName('any name', 'name')).toBe('any name')
  for (const name of ['a\u0000', 'a\ud800', '\udc00'])
    expect(refusal(() => checkSoughtName(name, 'name'))).toMatchObject({
      code: 'NAME_INVALID',
      field: 'name',
    })
})

describe('a key', () => {
  test.each(['a', ' ', 'any text, with: signs', 'ümlaut 😀', 'k'.repeat(512)])('can be %j', (key) => {
    expect(checkKey(key, 'orderKey')).toBe(key)
  })

  test.each([undefined, null, 7, '', 'a\nb', 'a\u0000', 'a\u007f', '\ud800', '\udc00a', 'k'.repeat(513)])(
    'cannot be %j',
    (key) => {
      const error = refusal(() => checkKey(key, 'orderKey'))
      expect(error).toMatchObject({ code: 'NAME_INVALID', field: 'orderKey' })
      expect(error.value).toBeDefined()
      expect(error.fix).toBeDefined()
    },
  )

  test('has the maximum length that the caller sets', () => {
    expect(checkKey('abc', 'tag', 3)).toBe('abc')
    expect(refusal(() => checkKey('abcd', 'tag', 3)).message).toBe(
      'tag: has 4 characters, more than 3 (got "abcd"). Shorten it, or use a hash of it.',
    )
  })
})

describe('an id', () => {
  const id = '0190f5fe-7c00-7a00-8000-0123456789ab'

  test('is a UUID in lower case, even if given in upper case', () => {
    expect(checkId(id, 'id')).toBe(id)
    expect(checkId(id.toUpperCase(), 'id')).toBe(id)
  })

  test.each([undefined, null, 7, '', 'x', id.replaceAll('-', ''), `${id}0`, ` ${id}`, `${id}\n`, `{${id}}`])(
    'cannot be %j',
    (value) => {
      expect(refusal(() => checkId(value, 'id'))).toMatchObject({ code: 'ID_INVALID', field: 'id' })
    },
  )

  test('has a readable error', () => {
    expect(refusal(() => checkId('42', 'id')).message).toBe(
      'id: must be a UUID (got "42"). Pass the whole id: 32 hex digits as 8-4-4-4-12.',
    )
  })
})
