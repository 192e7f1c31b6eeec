/** docs/reference/uploads.md matches the code: every refusal, option, default and metric. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { REFUSALS } from 'jobmill-uploads'
import { variableOf } from '../src/config/read-config.ts'
import { NAMES } from '../src/config/shape.ts'
import { OUTCOMES } from '../src/inbox/sweep/sweep-counter.ts'

const page = readFileSync(new URL('../../../docs/reference/uploads.md', import.meta.url), 'utf8')

test('the page has every refusal under its status', () => {
  const documented = [...page.matchAll(/^\| (\d{3}) \| (.*) \|$/gm)].flatMap(([, status, codes = '']) =>
    [...codes.matchAll(/`([A-Z_]{4,})`/g)].map(([, code]) => `${code} ${status}`),
  )
  const known = Object.entries(REFUSALS).map(([code, [status]]) => `${code} ${status}`)
  expect(documented.toSorted()).toEqual(known.toSorted())
})

test('the page has every option, its variable, and every outcome', () => {
  const variables = NAMES.filter((name) => name !== 'job').map(variableOf)
  for (const word of [...NAMES, ...variables, ...OUTCOMES]) expect(page).toContain(`\`${word}\``)
})
