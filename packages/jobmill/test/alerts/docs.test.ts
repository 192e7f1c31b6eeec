// The guide to alerts shows the verification that these tests use, and every check.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CHECK_NAMES } from '../../src/job/alert/check-names.ts'
import { CHECKS, LIVE_CHECKS } from '../../src/runtime/diagnose/checks.ts'

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
const page = read('docs/operate/alerts.md')

test('the verification of the guide is an excerpt of the example', () => {
  const [, path = '', code = 'none'] = /^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/m.exec(page) ?? []
  expect(read(path)).toContain(code)
})

test('the guide lists every check', () => {
  const [, part = ''] = page.split('## Choose what is sent')
  const listed = [...part.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  expect(new Set(listed)).toEqual(new Set(CHECK_NAMES))
  const known = new Set<string>(CHECK_NAMES)
  expect([...CHECKS, ...LIVE_CHECKS].filter(({ check }) => !known.has(check))).toEqual([])
})
