/** The JSON Schema validator: schemas that zod generates, and hostile ones. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { exampleOf } from '../../src/pages/enqueue/example/example.ts'
import type { Schema } from '../../src/pages/enqueue/validate/checking.ts'
import { fits, stepsOf } from '../../src/pages/enqueue/validate/guarded-pattern.ts'
import { problemsOf } from '../../src/pages/enqueue/validate/validate.ts'

const said = (schema: Schema, value: unknown): string[] =>
  problemsOf(schema, value).map(({ path, says }) => `${path} ${says}`.trim())

const form = (type: string, field: string) => ({
  type: 'object',
  properties: { type: { const: type }, [field]: { type: 'string' } },
  required: ['type', field],
})

describe('every problem has its path', () => {
  const person = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  test.each<[string, Schema, unknown, string[]]>([
    ['nothing', {}, 1, []],
    ['false allows nothing', false, 1, ['is not allowed']],
    ['a type', { type: 'string' }, 1, ['must be a string, not a number']],
    ['types', { type: ['string', 'null'] }, [], ['must be a string or null, not an array']],
    ['an unknown type', { type: 'decimal' }, 1, []],
    ['whole numbers', { type: 'integer' }, 1.5, ['must be a whole number, not a number']],
    ['const', { const: { a: [1] } }, { a: [2] }, ['must be {"a":[1]}']],
    ['const in another order', { const: { a: 1, b: 2 } }, { b: 2, a: 1 }, []],
    ['enum', { enum: ['a', 1] }, 'b', ['must be one of "a", 1']],
    [
      'enum',
      { enum: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13] },
      0,
      ['must be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, …'],
    ],
    ['bounds', { minimum: 2, exclusiveMaximum: 5 }, 5, ['must be less than 5']],
    ['a step', { multipleOf: 0.1 }, 0.3, []],
    ['not a step', { multipleOf: 2 }, 3, ['must be a multiple of 2']],
    ['lengths', { minLength: 1 }, '', ['must not be empty']],
    ['characters, not units', { maxLength: 1 }, '😀', []],
    ['a pattern', { pattern: '^a+$' }, 'b', ['must match ^a+$']],
    ['a format', { format: 'email', pattern: '^x$' }, 'b', ['must be an email address']],
    ['fields', person, { name: 1 }, ['name must be a string, not a number']],
    ['a field that is missing', person, {}, ['name is required']],
    [
      'no more fields',
      { additionalProperties: false, properties: { userId: {} } },
      { userid: 1 },
      ['userid is not a known field; did you mean userId?'],
    ],
    [
      'other fields',
      { additionalProperties: { type: 'number' } },
      { 'a b': '' },
      ['["a b"] must be a number, not a string'],
    ],
    [
      'fields by pattern',
      { patternProperties: { '^x': { type: 'null' } }, additionalProperties: false },
      { xa: 1 },
      ['xa must be null, not a number'],
    ],
    ['items', { items: person }, [{ name: '' }, {}], ['[1].name is required']],
    ['first items', { prefixItems: [{ type: 'null' }], items: false }, [null, 1], ['[1] is not allowed']],
    ['twice', { uniqueItems: true }, [{ a: 1 }, 2, { a: 1 }], ['[2] is duplicated']],
    ['how many', { minItems: 1, maxItems: 1 }, [], ['must have at least 1 item']],
    ['all', { allOf: [{ type: 'string' }, { minLength: 2 }] }, 'a', ['must have at least 2 characters']],
    [
      'any type',
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      1,
      ['must be a string or null, not a number'],
    ],
    [
      'only one',
      { oneOf: [{ minimum: 1 }, { minimum: 2 }] },
      3,
      ['matches 2 of the allowed variants, but must match only one'],
    ],
    ['not', { not: { type: 'null' } }, null, ['matches a schema that is not allowed']],
    [
      'a reference',
      { $defs: { 'a/b': person }, items: { $ref: '#/$defs/a~1b' } },
      [{}],
      ['[0].name is required'],
    ],
    ['a reference out of it', { $ref: 'https://example.com/x' }, 1, []],
    ['a reference to itself', { $ref: '#' }, 1, []],
    [
      'a tree',
      { properties: { next: { $ref: '#' } }, additionalProperties: false },
      { next: { nxt: 1 } },
      ['next.nxt is not a known field'],
    ],
    [
      'a key of every object',
      { properties: { a: {} }, additionalProperties: false },
      JSON.parse('{"__proto__":1,"constructor":2}'),
      ['__proto__ is not a known field', 'constructor is not a known field'],
    ],
  ])('%s', (_, schema, value, problems) => {
    expect(said(schema, value)).toEqual(problems)
  })
  test('of several variants, those of the most likely one', () => {
    expect(said({ oneOf: [form('mail', 'to'), form('sms', 'number')] }, { type: 'sms' })).toEqual([
      'matches none of the 2 allowed variants; the closest one:',
      'number is required',
    ])
  })
})

const mail = z.toJSONSchema(
  z.strictObject({
    to: z.email(),
    kind: z.enum(['plain', 'html']),
    copies: z.int().min(1).max(5).optional(),
    parts: z
      .array(
        z.discriminatedUnion('type', [
          z.object({ type: z.literal('text'), text: z.string().min(1) }),
          z.object({ type: z.literal('file'), url: z.url(), size: z.number().positive() }),
        ]),
      )
      .min(2),
    at: z.iso.datetime().nullable(),
    id: z.uuid(),
  }),
  { io: 'input' },
) as Schema

test('accepts what zod accepts, and refuses what zod refuses', () => {
  const wrong = { to: 'x', kind: 'pdf', parts: [{ type: 'text', text: '' }, 3], at: 1, id: '', cc: 1 }
  expect(said(mail, wrong)).toEqual([
    'to must be an email address',
    'kind must be one of "plain", "html"',
    'parts[0] matches none of the 2 allowed variants; the closest one:',
    'parts[0].text must not be empty',
    'parts[1] must be an object, not a number',
    'at must be a string or null, not a number',
    'id must be a UUID',
    'cc is not a known field',
  ])
})

test('examples match their schema, and differ', () => {
  const made = Array.from({ length: 20 }, (_, n) => exampleOf(mail, n))
  for (const one of made) expect(said(mail, one)).toEqual([])
  expect(new Set(made.map((one) => JSON.stringify(one))).size).toBe(20)
  expect(exampleOf(null, 2)).toEqual({ n: 3, text: 'example 3' })
  const tree: Schema = {
    type: 'object',
    properties: { next: { $ref: '#' }, list: { type: 'array', items: { $ref: '#' } } },
    required: ['next', 'other'],
  }
  expect(JSON.stringify(exampleOf(tree, 0)).length).toBeLessThan(100_000)
})

test('patterns that might never end are not tried, ordinary ones are', () => {
  const bad = ['^(a+)+$', '^(a|a)*$', '(x+x+)+y', '^(a|aa){30}$', 'a*a*a*a*a*a*b', '(']
  expect(bad.filter((pattern) => fits(pattern, 'a'.repeat(40)) !== undefined)).toEqual([])
  const good = ['^[a-z]+-[0-9]{4}$', '^(?:mail|sms)$', '^\\d{2}:\\d{2}(?::\\d{2})?$', '^[+*(]{3}$']
  expect(good.filter((pattern) => stepsOf(pattern, 40) > 5_000_000)).toEqual([])
  expect(fits('^[a-z]+-[0-9]{4}$', 'ab-1234')).toBe(true)
})

test('no schema and no value makes it throw or hang', () => {
  const anything = fc.jsonValue({ maxDepth: 4 })
  const keyword = fc.constantFrom(
    'type',
    'items',
    'properties',
    'anyOf',
    'oneOf',
    'allOf',
    'not',
    '$ref',
    'required',
    'enum',
    'pattern',
    'minimum',
    'additionalProperties',
    'patternProperties',
    'prefixItems',
  )
  const schema = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      anything,
      fc.constant({ $ref: '#' }),
      fc.dictionary(keyword, fc.oneof(tie('node'), fc.array(tie('node'), { maxLength: 3 }))),
    ),
  })).node
  fc.assert(
    fc.property(schema, anything, (input, value) => {
      if (typeof input !== 'object' || input === null || Array.isArray(input)) return
      problemsOf(input as Schema, value)
      exampleOf(input as Schema, 3)
    }),
    { numRuns: 100 },
  )
  const each = { anyOf: Array.from({ length: 20 }, () => ({ $ref: '#' })) }
  expect(problemsOf(each, { a: 1 })).toEqual([])
})
