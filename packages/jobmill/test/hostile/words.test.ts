/** Texts and numbers from users: refused with a JobmillError or understood, in little time. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../../../test/support/any-character.ts'
import { CHECKS, used } from './checks.ts'
import { brokenBy, faultOf, faultsOf, TEXTS, WHENS } from './corpus.ts'

const anyText = fc.string({ unit: anyCharacter, maxLength: 200 })
const cronText = fc.string({
  unit: fc.constantFrom(...'0123456789*/,-?LW# @'.split(''), 'MON', 'JAN', 'every', '1s'),
  maxLength: 40,
})

const isFine = (when: string, zone: string): boolean =>
  faultOf(() => used(when, zone), Array.isArray) === null

describe('hostile texts', () => {
  test.each(CHECKS)('as %s are refused with our errors, or accepted', (_, check) => {
    expect(faultsOf([...TEXTS, ...WHENS], check)).toEqual([])
  })

  test.each(CHECKS)('any text, as %s', (_, check) => {
    const anything = fc.oneof(anyText, fc.anything(), fc.double(), fc.bigInt())
    expect(brokenBy(fc.property(anything, (value) => faultOf(() => check(value)) === null))).toBeNull()
  })

  test('as schedules never hang', () => {
    expect(faultsOf([...WHENS, ...TEXTS], (when) => used(when))).toEqual([])
  })

  test('random schedules never hang, in any zone', () => {
    const zones = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/St_Johns',
      'Pacific/Apia',
      'Antarctica/Troll',
    )
    expect(brokenBy(fc.property(fc.oneof(cronText, anyText), zones, isFine))).toBeNull()
  })
})
