/** Payloads: kept without loss on both stores, or refused with a JobmillError before anything is written. */
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { anyCharacter } from '../../../../test/support/any-character.ts'
import { freshSchema } from '../../../../test/support/databases.ts'
import { isJobmillError } from '../../src/job/errors.ts'
import type { EnqueueOptions } from '../../src/job/enqueue/handle.ts'
import { jsonText } from '../../src/job/text/json-text.ts'
import { postgres } from '../../src/postgres.ts'
import { jobmill } from '../../src/runtime/jobmill.ts'
import type { Mill } from '../../src/runtime/mill.ts'
import { sqlite } from '../../src/sqlite.ts'
import { brokenBy, faultOf, faultsOf, TEXTS } from './corpus.ts'

const LIMIT = 1_048_576

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { value }
  return value
}

/** Objects that throw on access. */
function traps(): readonly unknown[] {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const angry = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error('keep out')
      },
    },
  )
  const endless = { toJSON: (): unknown => endless }
  return [
    circle,
    angry,
    endless,
    {
      get bomb(): never {
        throw new Error('boom')
      },
    },
    {
      toJSON: () => {
        throw new RangeError('no')
      },
    },
    nested(100_000),
    Array.from({ length: 1_000_000 }),
    Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`k${n}`, n])),
    JSON.parse('{"__proto__":{"polluted":true}}'),
    new Map([[1, 2]]),
    Symbol('s'),
    10n,
    () => 1,
    Number.NaN,
  ]
}

/** Equal after a round trip as JSON, or refused with a JobmillError. */
function becomesJson(value: unknown): boolean {
  const isSame = (text: string): boolean => JSON.stringify(JSON.parse(text)) === JSON.stringify(value)
  return faultOf(() => jsonText(value, 'payload', LIMIT), isSame) === null
}

async function aMill(which: string): Promise<Mill> {
  const url = inject('postgresUrl')
  const store =
    which === 'sqlite'
      ? sqlite(':memory:')
      : postgres(url, { schema: freshSchema(url, 'hostile'), notifier: false })
  const mill = jobmill({ store, log: 'silent' })
  onTestFinished(async () => void (await mill.stop()))
  await mill.open()
  return mill
}

/** What is wrong with the returned payload; null for nothing, and `refused` for a JobmillError. */
async function roundTrip(mill: Mill, payload: unknown): Promise<string | null> {
  try {
    const { id } = await mill.enqueue('hostile', payload)
    const back = (await mill.get(id))?.payload
    return isDeepStrictEqual(back, payload) ? null : `came back as ${JSON.stringify(back)?.slice(0, 80)}`
  } catch (error) {
    if (!isJobmillError(error)) throw error
    return error.field?.startsWith('job.payload') === true ? 'refused' : `refused for ${String(error.field)}`
  }
}

const short = TEXTS.filter((text) => text.length <= 200_000)

describe('hostile payloads', () => {
  test('are refused with our errors, or become JSON', () => {
    expect(faultsOf([...TEXTS, ...traps()], (value) => jsonText(value, 'payload', LIMIT))).toEqual([])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('any value becomes equivalent JSON, or is refused', () => {
    const anything = fc.anything({ withBigInt: true, withSparseArray: true, withNullPrototype: true })
    expect(brokenBy(fc.property(anything, becomesJson))).toBeNull()
  })

  test.each(['sqlite', 'postgres'])('are read from %s unchanged, or are refused unwritten', async (which) => {
    const mill = await aMill(which)
    const drawn = fc.sample(fc.jsonValue({ maxDepth: 5 }), 100)
    const payloads = [...short, ...drawn, nested(50), JSON.parse('{"__proto__":1,"constructor":{"x":1}}')]
    const faults: (string | null)[] = []
    for (const payload of payloads) faults.push(await roundTrip(mill, payload))
    expect(faults.filter((one) => one !== null && one !== 'refused')).toEqual([])
    const kept = faults.filter((one) => one === null).length
    expect(kept).toBeGreaterThan(100)
    expect((await mill.counts()).reduce((sum, { ready }) => sum + ready, 0)).toBe(kept)
  })

  test.each(['sqlite', 'postgres'])(
    'keys, tags and names on %s: any text is accepted, or refused with our errors',
    async (which) => {
      const mill = await aMill(which)
      const wrong: unknown[] = []
      for (const text of [...short, ...fc.sample(fc.string({ unit: anyCharacter }), 50)]) {
        for (const options of waysToSay(text)) {
          await mill.enqueue('hostile', null, options).catch((error: unknown) => {
            if (!isJobmillError(error)) wrong.push(error)
          })
        }
      }
      expect(wrong).toEqual([])
    },
  )
})

test.each([null, 'hello', 7])('invalid options are refused with our errors: %j', async (options) => {
  const mill = await aMill('sqlite')
  const refused = await mill.enqueue('hostile', null, options as never).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'OPTION_INVALID', field: 'options' })
  expect((await mill.counts()).length).toBe(0)
})

function waysToSay(text: string): EnqueueOptions[] {
  return [
    { dedupe: { key: text } },
    { orderKey: text },
    { tags: [text] },
    { metadata: { [text]: text } },
    { queue: text },
  ]
}
